//! Files that git keeps elsewhere (Git LFS): what is committed of them is a pointer, a small text with the hash of the content.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use git2::{IndexEntry, IndexTime, Repository};

/// How every pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The longest pointer, in bytes, as its specification has it.
const LONGEST: u32 = 1024;

/// Puts the content of files in the place of their pointers in a version that is laid out, where the repository it is of has the content.
/// Returns the files that are still pointers.
pub(super) fn fill_in(
    of: &Repository,
    laid_out: &Repository,
    root: &Path,
) -> Result<Vec<PathBuf>, git2::Error> {
    let mut index = laid_out.index()?;
    let entries: Vec<IndexEntry> = index.iter().collect();
    let path = |it: &IndexEntry| PathBuf::from(String::from_utf8_lossy(&it.path).into_owned());
    let declares = |it: &&IndexEntry| {
        it.path.ends_with(b".gitattributes")
            && fs::read_to_string(root.join(path(it))).is_ok_and(|it| it.contains("filter=lfs"))
    };
    if !entries.iter().any(|it| declares(&it)) {
        return Ok(Vec::new());
    }
    let mut left = Vec::new();
    for mut entry in entries.into_iter().filter(|it| it.file_size <= LONGEST) {
        let (name, file) = (path(&entry), root.join(path(&entry)));
        let Some(hash) = fs::read(&file).ok().and_then(|it| hash(&it)) else {
            continue;
        };
        let kept = of
            .commondir()
            .join("lfs/objects")
            .join(&hash[..2])
            .join(&hash[2..4])
            .join(&hash);
        match put(&kept, &file) {
            Ok(metadata) => {
                // Git itself takes a file that is as it left it for unchanged.
                stamp(&mut entry, &metadata);
                index.add(&entry)?;
            }
            Err(_) => left.push(name),
        }
    }
    index.write()?;
    Ok(left)
}

/// The hash of the content that a pointer stands for; `None` where it is none.
fn hash(content: &[u8]) -> Option<String> {
    let rest = content.strip_prefix(POINTER)?;
    let rest = std::str::from_utf8(rest).ok()?;
    let hash = rest.lines().find_map(|it| it.strip_prefix("oid sha256:"))?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

/// Copies a content over a pointer, which keeps its rights.
fn put(content: &Path, pointer: &Path) -> io::Result<fs::Metadata> {
    let mut content = fs::File::open(content)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(pointer)?;
    io::copy(&mut content, &mut file)?;
    // A file that is as new as the index is looked into again.
    let before = file.metadata()?.modified()? - Duration::from_secs(2);
    file.set_modified(before)?;
    file.metadata()
}

fn stamp(entry: &mut IndexEntry, metadata: &fs::Metadata) {
    let time = |seconds: i64, nanoseconds: i64| {
        IndexTime::new(
            i32::try_from(seconds).unwrap_or_default(),
            u32::try_from(nanoseconds).unwrap_or_default(),
        )
    };
    entry.mtime = time(metadata.mtime(), metadata.mtime_nsec());
    entry.ctime = time(metadata.ctime(), metadata.ctime_nsec());
    // As in the file's format, the size is counted modulo 2^32.
    entry.file_size = u32::try_from(metadata.len() % (1 << 32)).unwrap_or_default();
}
