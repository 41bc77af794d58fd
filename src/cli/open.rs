//! Shows a file in the program that the system has for it.

use std::path::Path;
use std::process::{Command, Stdio};

/// Opens a page in the user's browser, without waiting for it.
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
    let started = Command::new(program)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // Somebody has to take note of its end.
            std::thread::spawn(move || child.wait());
            Ok(())
        }
        Err(error) => Err(format!(
            "`{program}` cannot be started ({error}): open {} yourself",
            page.display()
        )),
    }
}
