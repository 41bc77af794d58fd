//! The program's own folder where git tracks some of it: that comes from whoever made the checkout, decides nothing, and is not read.

use std::path::{Path, PathBuf};

use crate::cli::{Console, Failure};
use crate::git;
use crate::store::{self, STATE};

/// Has everything that is the program's own kept elsewhere where git tracks some of it, and says so.
///
/// # Errors
///
/// When git tracks the folder as a whole, as a link or a submodule: there is no place in it that is not the checkout's.
pub(super) fn leave_tracked_alone(console: Console) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    if Path::new(STATE).symlink_metadata().is_err() {
        return Ok(());
    }
    // Some file systems do not tell capitals from small letters.
    let small = |it: &Path| PathBuf::from(it.to_string_lossy().to_ascii_lowercase());
    let tracked = git::tracked(&here);
    let names = tracked.iter().filter_map(|it| it.strip_prefix(&here).ok());
    let names = names.map(small).filter(|it| it.starts_with(STATE));
    let tracked: Vec<PathBuf> = names.collect();
    if tracked.is_empty() {
        return Ok(());
    }
    let way_out = format!("`git rm -r --cached {STATE}` ends that");
    if tracked.iter().any(|it| it == Path::new(STATE)) {
        let failure = format!("git tracks {STATE}, so what it leads to comes with the checkout");
        return Err(Failure::incomplete(failure).hint(way_out));
    }
    let mut places = (1..).map(|it: u32| Path::new(STATE).join(format!("untracked-{it}")));
    if let Some(place) = places.find(|it| !tracked.iter().any(|file| file.starts_with(it))) {
        console.warning(&format!(
            "warning: git tracks {STATE}/, so nothing in it is read: the author of the checkout could decide by stored answers and results. \
             In its place, {}/ is used. {way_out}",
            place.display()
        ));
        store::set_aside(place);
    }
    Ok(())
}
