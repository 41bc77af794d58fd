//! The files read so far, and what was found in them.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finding::{Finding, Severity, quoted};
use crate::input;
use crate::model::Redaction;
use crate::redact::{Redactor, Secrets};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
/// The most findings kept per file: whoever has more has another problem than the next one.
const MAX_FINDINGS: usize = 100;

/// One file as read.
#[derive(Debug, Clone)]
struct Source {
    path: PathBuf,
    /// Without a byte order mark.
    text: Arc<str>,
    /// Byte offset of each line.
    lines: Vec<usize>,
    findings: usize,
}

/// What was found so far, with the files it was found in.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they say different things about what is read"
)]
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Findings {
    sources: Vec<Source>,
    list: Vec<Finding>,
    seen: HashSet<(Mark, String)>,
    /// What variables put into texts.
    filled: Filled,
    /// Where numbers stand that are not quite what is written there.
    rounded: HashSet<Mark>,
    /// Errors met, those said before included: a file is valid when reading it leaves this number alone.
    errors: usize,
    /// Reading a part of a document, in which required keys may be missing.
    pub(in crate::scenario_file) partial: bool,
    /// What is read came over the network: it may name no file of this machine.
    pub(in crate::scenario_file) without_files: bool,
    /// The folder that all files must lie in which what is read names; `None` for any.
    pub(in crate::scenario_file) within: Option<PathBuf>,
    /// The folder that no link to a file leads out of; `None` where links may lead anywhere.
    pub(in crate::scenario_file) links_within: Option<PathBuf>,
    /// The texts in which `${…}` stands for itself.
    literal: HashSet<usize>,
    /// Whether a file was named that does not lie there.
    pub(in crate::scenario_file) names_others: bool,
    /// The files themselves are what is asked about, and not what runs make of them.
    pub(in crate::scenario_file) thorough: bool,
    /// Who asks is said elsewhere, or nobody does: a scenario need not tell what a script plays.
    pub(in crate::scenario_file) agent_given: bool,
    /// Values that the files declare to be secret.
    secrets: Secrets,
    /// Files that were read or looked for since they were last asked for.
    looked_at: Vec<PathBuf>,
}

impl Findings {
    /// Nothing yet, of what may name files below this folder alone; `None` for any.
    pub(in crate::scenario_file) fn within(folder: Option<PathBuf>) -> Self {
        Self {
            within: folder,
            ..Self::default()
        }
    }

    /// The bytes of a file, or why there are none.
    pub(in crate::scenario_file) fn read_bytes(
        &self,
        path: &Path,
        longest: u64,
    ) -> Result<Vec<u8>, String> {
        let failed = |error: io::Error| format!("cannot be read: {error}");
        if let Some(folder) = &self.links_within {
            input::check_links(path, folder).map_err(failed)?;
        }
        let kind = std::fs::metadata(path).map_err(failed)?;
        if kind.is_dir() {
            return Err("is a folder, not a file".to_owned());
        }
        if !kind.is_file() {
            // Opening a named pipe could wait for ever.
            return Err("is not a regular file".to_owned());
        }
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(longest + 1).read_to_end(&mut bytes))
            .map_err(failed)?;
        if bytes.len() as u64 > longest {
            return Err(format!("is larger than {} MiB", longest / 1024 / 1024));
        }
        Ok(bytes)
    }

    /// Notes that what is read depends on a file, whether it is there or not.
    pub(in crate::scenario_file) fn depends_on(&mut self, path: &Path) {
        self.looked_at.push(path.to_owned());
    }

    /// The files noted since this was last asked.
    pub(in crate::scenario_file) fn take_looked_at(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.looked_at)
    }

    /// Lets `${…}` stand for itself in a text.
    pub(in crate::scenario_file) fn take_literally(&mut self, source: usize) {
        self.literal.insert(source);
    }

    /// Whether `${…}` stands for itself here.
    pub(in crate::scenario_file) fn is_literal(&self, at: Mark) -> bool {
        self.literal.contains(&at.source)
    }

    /// Whether a file may be looked at that is named somewhere; if not, that is noted, and an error. Of what lies elsewhere, nothing is said.
    pub(in crate::scenario_file) fn may_name(&mut self, at: Mark, path: &Path) -> bool {
        let Some(within) = &self.within else {
            return true;
        };
        if input::is_within(path, within) {
            return true;
        }
        self.names_others = true;
        self.error(at, "names a file outside the served folder", None::<&str>);
        false
    }

    /// Reads a file; `None` after saying why it cannot be read.
    pub(in crate::scenario_file) fn read(&mut self, path: &Path) -> Option<usize> {
        self.read_up_to(path, MAX_FILE)
    }

    /// The same of a file that may be larger than those people write, in bytes.
    pub(in crate::scenario_file) fn read_up_to(
        &mut self,
        path: &Path,
        longest: u64,
    ) -> Option<usize> {
        self.depends_on(path);
        let bytes = match self.read_bytes(path, longest) {
            Ok(bytes) => bytes,
            Err(problem) => {
                self.push(Finding::about(path.display(), Severity::Error, problem));
                return None;
            }
        };
        self.take_text(path, &bytes)
    }

    /// What a file holds, or would; `None` after saying why it is no text.
    pub(in crate::scenario_file) fn take_text(
        &mut self,
        path: &Path,
        bytes: &[u8],
    ) -> Option<usize> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let broken = std::str::from_utf8(bytes).err().map(|it| it.valid_up_to());
        let source = self.add_text(path, &text);
        let nul = bytes.iter().position(|it| *it == 0);
        let (at, message) = match (broken, nul) {
            (Some(broken), nul) if nul.is_none_or(|it| broken < it) => {
                (broken, "is not UTF-8 text")
            }
            (_, Some(nul)) => (nul, "is not a text file: it holds a NUL byte"),
            _ => return Some(source),
        };
        // All before the first broken byte is unchanged in the replaced text, so the offset holds there, too.
        let mark = self.mark_of_offset(source, at);
        self.error(mark, message, None::<&str>);
        None
    }

    /// Adds a text that is no file, or that of one already read.
    pub(in crate::scenario_file) fn add_text(
        &mut self,
        path: impl AsRef<Path>,
        text: &str,
    ) -> usize {
        self.sources.push(Source {
            path: path.as_ref().to_owned(),
            lines: line_starts(text),
            text: text.into(),
            findings: 0,
        });
        self.sources.len() - 1
    }

    pub(in crate::scenario_file) fn text(&self, source: usize) -> Arc<str> {
        Arc::clone(&self.sources[source].text)
    }

    pub(in crate::scenario_file) fn path(&self, source: usize) -> &Path {
        &self.sources[source].path
    }

    /// A mark as people read it: file, line and column.
    pub(in crate::scenario_file) fn place(&self, mark: Mark) -> String {
        let path = self.path(mark.source).display();
        format!("{path}:{}:{}", mark.line, mark.column)
    }

    /// The absolute folder of the file a mark points into; relative paths written there start from it.
    pub(in crate::scenario_file) fn folder(&self, mark: Mark) -> PathBuf {
        let path = self.path(mark.source);
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.parent().unwrap_or(&path).to_owned()
    }

    pub(in crate::scenario_file) fn error(
        &mut self,
        at: Mark,
        message: impl AsRef<str>,
        hint: Option<impl AsRef<str>>,
    ) {
        self.add(at, Severity::Error, message.as_ref(), hint);
    }

    /// Says what is wrong with something that nothing can be made of.
    pub(in crate::scenario_file) fn refuse<T>(
        &mut self,
        at: Mark,
        message: impl AsRef<str>,
        hint: Option<impl AsRef<str>>,
    ) -> Option<T> {
        self.error(at, message, hint);
        None
    }

    /// Something about the name of a tool of a mock: an error to those who check files, a warning to those who run them.
    pub(in crate::scenario_file) fn tool(
        &mut self,
        at: Mark,
        message: impl AsRef<str>,
        hint: Option<impl AsRef<str>>,
    ) {
        let severity = if self.thorough {
            Severity::Error
        } else {
            Severity::Warning
        };
        self.add(at, severity, message.as_ref(), hint);
    }

    pub(in crate::scenario_file) fn warning(
        &mut self,
        at: Mark,
        message: impl AsRef<str>,
        hint: Option<impl AsRef<str>>,
    ) {
        self.add(at, Severity::Warning, message.as_ref(), hint);
    }

    /// Whether no more findings are kept of the file a mark points into, so that looking for hints is in vain.
    pub(in crate::scenario_file) fn is_full(&self, at: Mark) -> bool {
        self.sources[at.source].findings > MAX_FINDINGS
    }

    /// Adds a finding that has no place in a file read.
    pub(in crate::scenario_file) fn push(&mut self, finding: Finding) {
        self.errors += usize::from(finding.is_error());
        self.list.push(finding);
    }

    /// Notes where values of variables stand in a text.
    pub(in crate::scenario_file) fn note_filled(&mut self, at: Mark, values: Vec<Range<usize>>) {
        self.filled.note_values(at, values);
    }

    /// Notes that the value of this name was put into a text.
    pub(in crate::scenario_file) fn note_name(&mut self, at: Mark, name: &str) {
        self.filled.note_name(at, name);
    }

    /// Forgets what was put into texts, before the values of a row are put in, or of a document without rows.
    pub(in crate::scenario_file) fn begin_filling(&mut self, row: Option<FilledRow>) {
        self.filled.begin(row);
    }

    /// Where values of variables stand in a text.
    pub(in crate::scenario_file) fn filled(&self, at: Mark) -> &[Range<usize>] {
        self.filled.values(at)
    }

    /// Notes that a number is not quite what is written there.
    pub(in crate::scenario_file) fn note_rounded(&mut self, at: Mark) {
        self.rounded.insert(at);
    }

    /// Whether a number is not quite what is written there.
    pub(in crate::scenario_file) fn is_rounded(&self, at: Mark) -> bool {
        self.rounded.contains(&at)
    }

    pub(in crate::scenario_file) fn errors(&self) -> usize {
        self.errors
    }

    /// Notes that a value of a file is secret: no finding repeats it.
    pub(in crate::scenario_file) fn is_secret(&mut self, name: &str, value: &str) {
        self.secrets.declare(name, "", value);
    }

    pub(in crate::scenario_file) fn into_list(mut self) -> Vec<Finding> {
        self.take()
    }

    /// Everything found so far, of which nothing stays.
    pub(in crate::scenario_file) fn take(&mut self) -> Vec<Finding> {
        let mut secrets = Secrets::of_environment();
        secrets.extend(&self.secrets);
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let list = std::mem::take(&mut self.list).into_iter();
        let mut list = list.map(|it| it.without_secrets(&redactor)).collect();
        super::finding::sort(&mut list);
        list
    }

    /// The place where a word stands in the line of a mark, from the mark on; the mark itself when it is not there.
    pub(in crate::scenario_file) fn find_word(&self, at: Mark, word: &str) -> Mark {
        let line = self.line(at);
        let from = line
            .char_indices()
            .nth(at.column - 1)
            .map_or(line.len(), |(offset, _)| offset);
        match line[from..].find(word) {
            Some(offset) => Mark {
                column: at.column + line[from..from + offset].chars().count(),
                ..at
            },
            None => at,
        }
    }

    fn add(&mut self, at: Mark, severity: Severity, message: &str, hint: Option<impl AsRef<str>>) {
        let is_error = severity == Severity::Error;
        self.errors += usize::from(is_error);
        // Each row would say the same of what is only doubtful.
        let origin = self.filled.origin(at).filter(|_| is_error);
        let message = origin.map_or_else(
            || message.to_owned(),
            |origin| format!("{message}; {origin}"),
        );
        if self.is_full(at) || !self.seen.insert((at, message.clone())) {
            return;
        }
        let path = self.path(at.source).display().to_string();
        let finding = if self.sources[at.source].findings == MAX_FINDINGS {
            let message = format!("more than {MAX_FINDINGS} findings; the others are left out");
            Finding::about(path, severity, message)
        } else {
            let before = Mark {
                line: at.line.saturating_sub(1),
                ..at
            };
            let (before, line) = (self.line(before).to_owned(), self.line(at).to_owned());
            self.secrets.element(&before, &line);
            Finding::about(path, severity, message).with_hint(hint).at(
                at.line,
                at.column,
                self.line(at),
            )
        };
        self.sources[at.source].findings += 1;
        self.list.push(finding);
    }

    /// The line a mark points into, without its end.
    fn line(&self, at: Mark) -> &str {
        let source = &self.sources[at.source];
        let start = at.line.checked_sub(1).and_then(|it| source.lines.get(it));
        let end = source.lines.get(at.line);
        let end = end.copied().unwrap_or(source.text.len());
        match start {
            Some(&start) => source.text[start..end].trim_end_matches(['\r', '\n']),
            None => "",
        }
    }

    /// The place of a byte of a file's text.
    pub(in crate::scenario_file) fn mark_of_offset(&self, source: usize, offset: usize) -> Mark {
        let Source { lines, text, .. } = &self.sources[source];
        let line = lines.partition_point(|start| *start <= offset).max(1);
        let column = text[lines[line - 1]..offset].chars().count() + 1;
        Mark {
            source,
            line,
            column,
        }
    }
}

/// The byte offset of each line; lines end as YAML has it, with LF, CR LF or CR.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0)
        .chain(ends.map(|(at, _)| at + 1))
        .collect()
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::scenario_file) struct Mark {
    /// Index into the files read so far.
    pub(in crate::scenario_file) source: usize,
    /// Counted from 1.
    pub(in crate::scenario_file) line: usize,
    /// In characters, counted from 1.
    pub(in crate::scenario_file) column: usize,
}

/// What begins the names that a row of a data set gives.
pub(in crate::scenario_file) const ROW: &str = "row.";

/// The values of variables in one document.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Filled {
    /// Where values with braces stand in texts, in bytes.
    values: HashMap<Mark, Vec<Range<usize>>>,
    /// The names of what was put into a text.
    names: HashMap<Mark, Vec<String>>,
    row: Option<FilledRow>,
}

/// The row of a data set whose values are put in.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct FilledRow {
    /// Which one, as people say it.
    pub(in crate::scenario_file) words: String,
    /// Nothing was wrong with the document for the rows before it.
    pub(in crate::scenario_file) is_to_blame: bool,
}

impl Filled {
    /// Forgets all, before the values of the next row are put in, or of a document without rows.
    pub(super) fn begin(&mut self, row: Option<FilledRow>) {
        self.values.clear();
        self.names.clear();
        self.row = row;
    }

    pub(super) fn note_values(&mut self, at: Mark, values: Vec<Range<usize>>) {
        self.values.insert(at, values);
    }

    pub(super) fn values(&self, at: Mark) -> &[Range<usize>] {
        self.values.get(&at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn note_name(&mut self, at: Mark, name: &str) {
        let names = self.names.entry(at).or_default();
        if names.iter().all(|it| it != name) {
            names.push(name.to_owned());
        }
    }

    /// Whose doing it may be that something is wrong at a place; `None` where nothing was put in.
    pub(super) fn origin(&self, at: Mark) -> Option<String> {
        let Some(names) = self.names.get(&at) else {
            let row = self.row.as_ref().filter(|it| it.is_to_blame)?;
            return Some(format!("so it is for {}", row.words));
        };
        let shown: Vec<_> = names.iter().map(|it| quoted(it)).collect();
        let filled_in = format!("filled in from {}", shown.join(" and "));
        let of_row = names.iter().any(|it| it.starts_with(ROW));
        Some(match self.row.as_ref().filter(|_| of_row) {
            Some(row) => format!("{filled_in} of {}", row.words),
            None => filled_in,
        })
    }
}
