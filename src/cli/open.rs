//! Shows a file in the program that the system has for it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the program is listened to: one that cannot show a page ends at once, and one that shows it may stay for as long as that lasts.
const AT_ONCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Opens a page in the user's browser, without waiting for its end.
///
/// # Errors
///
/// Why it could not be opened, with where it lies.
pub(super) fn open(page: &Path) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let page = page.canonicalize().unwrap_or_else(|_| page.to_owned());
    let failed = |why: &str| format!("`{program}` {why}: open {} yourself", page.display());
    let started = Command::new(program)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| failed(&format!("cannot be started ({error})")))?;
    let begun = Instant::now();
    while begun.elapsed() < AT_ONCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(&format!("has failed ({status})"))),
            Ok(None) => thread::sleep(LOOK),
            Err(_) => break,
        }
    }
    // Somebody has to take note of its end.
    thread::spawn(move || child.wait());
    Ok(())
}
