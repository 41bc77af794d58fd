//! Catalogues that baselines share: `baselines/_catalogues/NAME.json`, with `NAME.txt` beside it for people. A baseline names the
//! file; one that was recorded with another catalogue than the others names `NAME-2`, until the others were, too.
//!
//! A file that a baseline names is never changed: another catalogue becomes another file, and takes the place of the first once nobody names
//! that any more. So whoever is killed on the way leaves each baseline with its own catalogue.

use std::fmt::Write as _;
use std::path::{self, Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use super::files::{Beside, Held, StoreError, cannot_read, cannot_write, check_links, folder_of};
use crate::input;
use crate::model::{ServerCatalogue, Tool};
use crate::published::trajectory::{
    CATALOGUES, LONGEST_NAME, TrajectoryError, catalogue_to_json, parse_catalogue,
};
use crate::text::{block as visible_block, line as visible_line};

/// The folder of all baselines that share catalogues.
#[derive(Debug)]
pub(super) struct Catalogues {
    pub(super) root: PathBuf,
}

impl Catalogues {
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The nearest ones at or above a folder, by the way it is written; above the working folder, too.
    pub(super) fn above(folder: &Path) -> Option<Self> {
        let has_some = |it: &&Path| it.join(CATALOGUES).is_dir();
        if let Some(root) = folder.ancestors().find(has_some) {
            let is_here = root.as_os_str().is_empty();
            return Some(Self::new(if is_here { Path::new(".") } else { root }));
        }
        let folder = path::absolute(Path::new(".").join(folder)).ok()?;
        folder.ancestors().find(has_some).map(Self::new)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.root.join(CATALOGUES)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(format!("{name}.json"))
    }

    /// Lets nobody else name, add or move any of them; `None` when another process does so for too long.
    pub(super) fn hold(&self) -> Result<Option<Held>, StoreError> {
        let held = Held::make(&self.folder(), &self.root)?;
        held.iter().for_each(Held::sweep);
        Ok(held)
    }

    pub(super) fn read(&self, name: &str) -> Result<ServerCatalogue, TrajectoryError> {
        let path = self.path(name);
        let problem = |problem: String| TrajectoryError::Catalogue {
            path: path.clone(),
            problem,
        };
        let text = input::check_links(&path, &self.root).and_then(|()| input::read(&path));
        let text = text.map_err(|error| problem(error.to_string()))?;
        parse_catalogue(&text).map_err(|error| problem(error.to_string()))
    }

    /// The name of a catalogue, which is written unless one of the server's is equal to it. Somebody holds the folder.
    pub(super) fn name(
        &self,
        _held: &Held,
        catalogue: &ServerCatalogue,
    ) -> Result<String, StoreError> {
        let own = name_of(&catalogue.server);
        let taken = self.numbers(&own)?;
        let names = taken.iter().map(|it| numbered(&own, *it));
        let mut equal = names.filter(|it| self.read(it).is_ok_and(|it| it == *catalogue));
        if let Some(name) = equal.next() {
            return Ok(name);
        }
        // One that is gone and still named is not replaced by another.
        let in_use = self.named().unwrap_or_default();
        let free = (1..).filter(|it| !taken.contains(it));
        let mut free = free.map(|it| numbered(&own, it));
        let name = free.find(|it| !in_use.contains_key(it)).unwrap_or(own);
        self.write(&name, catalogue)?;
        Ok(name)
    }

    /// The numbers of the files that are called after a server, in order.
    fn numbers(&self, own: &str) -> Result<Vec<usize>, StoreError> {
        let mut numbers: Vec<usize> = (self.names()?.iter())
            .filter_map(|it| number(own, it))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The names of all that are there, also where only the text is.
    pub(super) fn names(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.folder();
        let entries = fs::read_dir(&folder).map_err(|source| cannot_read(&folder, source))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry.map_err(|source| cannot_read(&folder, source))?.path();
            let is_ours = ["json", "txt"].map(AsRef::as_ref);
            if path.extension().is_some_and(|it| is_ours.contains(&it)) {
                names.extend(
                    path.file_stem()
                        .and_then(|it| it.to_str())
                        .map(str::to_owned),
                );
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Writes a catalogue, the text for people first: whoever is killed in between writes both again.
    pub(super) fn write(&self, name: &str, catalogue: &ServerCatalogue) -> Result<(), StoreError> {
        let path = self.path(name);
        let beside = |path: &Path, text: &str| {
            check_links(path, &self.root)?;
            Beside::new(path, text.as_bytes())
        };
        let text = beside(&path.with_extension("txt"), &in_words(catalogue))?;
        let json = beside(&path, &catalogue_to_json(catalogue))?;
        json.sync()?;
        text.put()?;
        json.put()
    }

    /// Removes both files of one.
    pub(super) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        for path in [path.with_extension("txt"), path] {
            check_links(&path, &self.root)?;
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(cannot_write(&path, source));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What a baseline in this file names so.
///
/// # Errors
///
/// [`TrajectoryError::Catalogue`] with the file that it should be in.
pub(super) fn named_by(path: &Path, name: &str) -> Result<ServerCatalogue, TrajectoryError> {
    let folder = folder_of(path);
    let found = Catalogues::above(folder).or_else(|| {
        let whole = folder.canonicalize().ok()?;
        Catalogues::above(&whole)
    });
    let is_named = |it: &&Path| **it != *"" && **it != *"/";
    let nowhere = || {
        let above = folder.ancestors().filter(is_named);
        let top = if folder.is_absolute() {
            above.take(2).last()
        } else {
            above.last()
        };
        Catalogues::new(top.unwrap_or(folder))
    };
    found.unwrap_or_else(nowhere).read(name)
}

/// How files are called that tell what a server offered: as the server is, as far as any file can be called so. Some systems take letters of
/// both cases for one.
pub(super) fn name_of(server: &str) -> String {
    let plain = |it: char| match it {
        '-' | '_' | '.' => it,
        it if it.is_alphanumeric() => it,
        _ => '-',
    };
    let lower = server.chars().flat_map(char::to_lowercase);
    let name: String = lower.map(plain).take(LONGEST_NAME / 2).collect();
    match name.trim_start_matches('.') {
        "" => "server".to_owned(),
        name => name.to_owned(),
    }
}

/// `NAME`, `NAME-2` and on.
pub(super) fn numbered(own: &str, number: usize) -> String {
    match number {
        0 | 1 => own.to_owned(),
        number => format!("{own}-{number}"),
    }
}

/// The number of a name among those of a server; `None` where it is none of them.
pub(super) fn number(own: &str, name: &str) -> Option<usize> {
    match name.strip_prefix(own)? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse().ok().filter(|it| *it > 1),
    }
}

/// A catalogue for people: what a server says of itself, and each tool with its parameters, its hints and its description.
fn in_words(catalogue: &ServerCatalogue) -> String {
    let mut text = format!("# {}\n", visible_line(&catalogue.server));
    let info = catalogue.info.as_ref();
    let said = |key: &str| info.and_then(|it| it[key].as_str());
    let protocol = catalogue.protocol_version.as_ref();
    let protocol = protocol.map(|it| format!("MCP {it}"));
    let facts = [said("name"), said("version"), protocol.as_deref()];
    let facts: Vec<&str> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        let _ = writeln!(text, "{}", visible_line(&facts.join(", ")));
    }
    if let Some(instructions) = &catalogue.instructions {
        let _ = writeln!(text, "\n{}", visible_block(instructions.trim_end()));
    }
    for tool in &catalogue.tools {
        tool_in_words(&mut text, tool);
    }
    text
}

fn tool_in_words(text: &mut String, tool: &Tool) {
    let _ = writeln!(text, "\n## {}", visible_line(tool.name()));
    let hints = tool.served.get("annotations").and_then(Value::as_object);
    for (name, value) in hints.into_iter().flatten() {
        let _ = writeln!(text, "{}", visible_line(&format!("{name}: {value}")));
    }
    let schema = tool.input_schema().unwrap_or(&Value::Null);
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        let kind = kind(parameter);
        let need = if is_required(name) {
            "required"
        } else {
            "optional"
        };
        let mut line = format!("- {name} ({kind}{need})");
        if let Some(description) = parameter["description"].as_str() {
            let _ = write!(line, ": {description}");
        }
        let _ = writeln!(text, "{}", visible_line(&line));
    }
    if let Some(description) = tool.description() {
        let _ = writeln!(text, "\n{}", visible_block(description.trim_end()));
    }
}

/// What a parameter may be, as far as its schema says so plainly.
fn kind(schema: &Value) -> String {
    let listed = |it: &Value, between: &str| -> Option<String> {
        let words = it.as_array()?.iter().map(|it| match it.as_str() {
            Some(text) => text.to_owned(),
            None => it.to_string(),
        });
        Some(words.collect::<Vec<_>>().join(between))
    };
    let kind = &schema["type"];
    let kind = kind
        .as_str()
        .map(str::to_owned)
        .or_else(|| listed(kind, " or "));
    let one_of = listed(&schema["enum"], ", ").map(|it| format!("one of {it}"));
    let all = [kind, one_of].into_iter().flatten();
    all.fold(String::new(), |text, it| text + &it + ", ")
}
