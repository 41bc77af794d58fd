//! `mcp-eval scan`: find secrets in files that are already on disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use walkdir::WalkDir;

use crate::cli::args::{ResultFormat, ScanArgs, SelectArgs};
use crate::cli::{Console, Exit, Failure, select};
use crate::redact::scan::{Scanner, Spotted};
use crate::redact::{Redactor, Secrets};
use crate::store::STATE;
use crate::suite::{BASELINES, REPORTS};
use crate::text::{self, plural};
use crate::{git, json};

/// Where this program writes and reads.
const USUAL: [&str; 4] = [BASELINES, REPORTS, STATE, "scenarios"];

/// The longest piece of a file that is looked at in one go, in bytes.
const LONGEST_PIECE: usize = 16 * 1024 * 1024;

/// How much of a piece is looked at again with the next one: a secret may stand across the cut.
const OVERLAP: usize = 16 * 1024;

/// How many bytes of a file show whether it is binary.
const HEAD: usize = 8192;

/// How many findings a document lists.
const MOST_LISTED: usize = 10_000;

struct Scan {
    scanner: Scanner,
    /// For paths, which may hold a secret, too.
    redactor: Redactor,
    console: Console,
    format: ResultFormat,
    bar: ProgressBar,
    document: ScanDocument,
}

pub(in crate::cli) fn run(args: &ScanArgs, console: Console) -> Result<Exit, Failure> {
    let paths = if args.staged {
        args.paths.clone()
    } else {
        paths(args)?
    };
    let mut scan = Scan {
        scanner: scanner(args, console),
        redactor: Redactor::default(),
        console,
        format: args.printed.format,
        bar: console.bar(None),
        document: ScanDocument {
            format_version: 1,
            ..ScanDocument::default()
        },
    };
    if args.staged {
        scan.staged(&paths)?;
    } else {
        scan.walk(&paths);
    }
    scan.bar.finish_and_clear();
    Ok(scan.end())
}

/// What to look at: every path must be there.
fn paths(args: &ScanArgs) -> Result<Vec<PathBuf>, Failure> {
    if args.paths.is_empty() {
        let usual: Vec<PathBuf> = USUAL.iter().map(PathBuf::from).collect();
        let usual: Vec<PathBuf> = usual.into_iter().filter(|it| it.exists()).collect();
        if usual.is_empty() {
            let message = format!(
                "there is nothing to scan: none of {} is here",
                USUAL.join(", ")
            );
            return Err(
                Failure::usage(message).hint("name files or folders: `mcp-eval scan PATHS`")
            );
        }
        return Ok(usual);
    }
    for path in &args.paths {
        let shown = path.display();
        match fs::metadata(path) {
            Ok(it) if it.is_file() || it.is_dir() => {}
            Ok(_) => {
                return Err(Failure::usage(format!(
                    "{shown} is neither a file nor a folder"
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(_) => return Err(Failure::usage(format!("{shown} does not exist"))),
        }
    }
    Ok(args.paths.clone())
}

/// What to look for: what is known anyway, the patterns given, and what the scenarios here declare.
fn scanner(args: &ScanArgs, console: Console) -> Scanner {
    let mut patterns = args.redact.clone();
    let mut secrets = Secrets::default();
    let mut keep = Vec::new();
    if Path::new(USUAL[3]).is_dir() {
        let (scenarios, findings) = select::of_paths(&SelectArgs::default());
        if findings.iter().any(crate::scenario_file::Finding::is_error) {
            console.note("warning: some scenarios have errors, so their `redact` and secret variables are not searched for; see `mcp-eval validate`");
        }
        for it in scenarios {
            secrets.of_scenario(&it.redaction);
            for pattern in it.redaction.patterns {
                if !patterns.contains(&pattern) {
                    patterns.push(pattern);
                }
            }
            keep.extend(it.redaction.keep);
        }
    }
    Scanner::new(&secrets, patterns, keep)
}

impl Scan {
    fn walk(&mut self, paths: &[PathBuf]) {
        // The same file may be reached by several ways, links among them.
        let mut seen = HashSet::new();
        for path in paths {
            for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
                match entry {
                    Ok(entry) if entry.file_type().is_file() => {
                        let is_new = entry
                            .metadata()
                            .map_or(true, |it| seen.insert((it.dev(), it.ino())));
                        if is_new {
                            self.file(entry.path());
                        }
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let is_link = error.path().is_some_and(Path::is_symlink);
                        let leads_nowhere = is_link
                            && error.io_error().map(io::Error::kind)
                                == Some(io::ErrorKind::NotFound);
                        // What a loop leads to is looked at where it stands.
                        if error.loop_ancestor().is_none() && !leads_nowhere {
                            self.problem(error.path().unwrap_or(path), &reason(&error));
                        }
                    }
                }
            }
        }
    }

    /// Looks at what is staged, below these paths where there are some.
    fn staged(&mut self, paths: &[PathBuf]) -> Result<(), Failure> {
        let whole = |it: &PathBuf| it.canonicalize().or_else(|_| absolute(it));
        let paths: Result<Vec<PathBuf>, _> = paths.iter().map(whole).collect();
        let paths = paths.map_err(|error| Failure::usage(error.to_string()))?;
        let here = std::env::current_dir().unwrap_or_default();
        let looked = git::staged(&here, |path, content| {
            if paths.is_empty() || paths.iter().any(|it| path.starts_with(it)) {
                let shown = path.strip_prefix(&here).unwrap_or(path);
                let is_text = !content[..content.len().min(HEAD)].contains(&0);
                let read = is_text.then(|| self.pieces(shown, content)).transpose();
                self.looked_at(shown, read.map(|it| it.is_some()));
            }
        });
        looked.map_err(|why| Failure::usage(format!("--staged: {why}")))
    }

    fn file(&mut self, path: &Path) {
        let read = self.read(path);
        self.looked_at(path, read);
    }

    /// Keeps what became of a file: whether it was text.
    fn looked_at(&mut self, path: &Path, read: io::Result<bool>) {
        let shown = text::line(&path.to_string_lossy()).into_owned();
        self.bar.set_message(shown);
        self.bar.inc(1);
        match read {
            Ok(true) => self.document.files += 1,
            Ok(false) => {
                let shown = self.shown(path);
                self.say(&format!("skipped: {shown} is binary"));
                self.document.skipped.push(shown);
            }
            Err(error) => self.problem(path, &error.to_string()),
        }
    }

    /// Looks at a file; `false` when it is binary.
    fn read(&mut self, path: &Path) -> io::Result<bool> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
        if head.contains(&0) {
            return Ok(false);
        }
        file.rewind()?;
        self.pieces(path, file)?;
        Ok(true)
    }

    /// Looks at a text, at a very long one in pieces.
    fn pieces(&mut self, path: &Path, mut reader: impl Read) -> io::Result<()> {
        let mut at = (1, 1);
        let mut piece = Vec::new();
        loop {
            let limit = (LONGEST_PIECE - piece.len()) as u64;
            (&mut reader).take(limit).read_to_end(&mut piece)?;
            let is_cut = piece.len() >= LONGEST_PIECE;
            let text = String::from_utf8_lossy(&piece);
            let mut end = text.len() - if is_cut { OVERLAP } else { 0 };
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let mut spotted = self.scanner.text(&text);
            spotted.retain(|it| it.at.start < end || !is_cut);
            at = self.add_all(path, &text[..end], at, spotted);
            if !is_cut {
                return Ok(());
            }
            // What is no UTF-8 is longer as text.
            let rest = text[end..].as_bytes().to_vec();
            piece = rest;
        }
    }

    /// Tells what was found in a text that begins at a line and a column; returns those behind it.
    fn add_all(
        &mut self,
        path: &Path,
        text: &str,
        begins: (usize, usize),
        spotted: Vec<Spotted>,
    ) -> (usize, usize) {
        let (mut line, mut column) = begins;
        let mut passed = 0;
        let mut pass = |to: usize| {
            let between = &text[passed..to.max(passed)];
            match between.rfind('\n') {
                Some(last) => {
                    line += between.matches('\n').count();
                    column = between[last + 1..].chars().count() + 1;
                }
                None => column += between.chars().count(),
            }
            passed = to.max(passed);
            (line, column)
        };
        for it in spotted {
            let at = pass(it.at.start.min(text.len()));
            self.add(path, at, it);
        }
        pass(text.len())
    }

    fn add(&mut self, path: &Path, (line, column): (usize, usize), spotted: Spotted) {
        let Spotted { kind, length, .. } = spotted;
        let path = self.shown(path);
        self.document.found += 1;
        if self.format == ResultFormat::Terminal {
            let length = plural(length, "character");
            let text = format!("{path}:{line}:{column}: {kind}, {length}\n");
            self.bar.suspend(|| self.console.result(&text));
        } else if self.document.findings.len() < MOST_LISTED {
            let finding = Finding {
                path,
                line,
                column,
                kind,
                length,
            };
            self.document.findings.push(finding);
        }
    }

    fn problem(&mut self, path: &Path, why: &str) {
        let text = format!("{} cannot be read: {why}", self.shown(path));
        if self.format == ResultFormat::Terminal {
            let failure = Failure::incomplete(text.clone());
            self.bar.suspend(|| self.console.failure(&failure));
        }
        self.document.problems.push(text);
    }

    fn say(&self, text: &str) {
        if self.format == ResultFormat::Terminal {
            self.bar.suspend(|| self.console.note(text));
        }
    }

    fn shown(&self, path: &Path) -> String {
        let path = path.to_string_lossy();
        text::line(&self.redactor.text(&path)).into_owned()
    }

    fn end(mut self) -> Exit {
        let failed = if self.document.found > 0 {
            Exit::Failed
        } else {
            Exit::Passed
        };
        let unread = if self.document.problems.is_empty() {
            Exit::Passed
        } else {
            Exit::Incomplete
        };
        let exit = failed.and(unread);
        self.document.clean = exit == Exit::Passed;
        match self.format {
            ResultFormat::Json => {
                Console::document(&json::pretty(&self.document));
            }
            ResultFormat::Terminal => self.console.result(&format!(
                "{} in {}",
                plural(self.document.found, "secret"),
                plural(self.document.files, "file")
            )),
        }
        exit
    }
}

fn reason(error: &walkdir::Error) -> String {
    error
        .io_error()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// What a scan for secrets found.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(title = "mcp-eval scan")]
pub(super) struct ScanDocument {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    pub(super) format_version: u32,
    /// Neither secrets nor problems.
    pub(super) clean: bool,
    /// How many files were read.
    pub(super) files: usize,
    /// How many secrets were found, listed or not.
    pub(super) found: usize,
    /// The first 10 000 of them.
    pub(super) findings: Vec<Finding>,
    /// Binary files, which were not read.
    pub(super) skipped: Vec<String>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
}

/// A secret, and where it stands.
#[derive(Serialize, JsonSchema)]
pub(super) struct Finding {
    /// The file, as it was named or found.
    pub(super) path: String,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// The word its placeholder would have, such as `github-token`.
    pub(super) kind: String,
    /// How long it is, in characters.
    pub(super) length: usize,
}

/// The JSON Schema (draft 2020-12) of the document, made from the types.
pub(super) fn json_schema() -> Value {
    schemars::schema_for!(ScanDocument).to_value()
}
