//! `mcp-eval scan`: find secrets in files that are already on disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget};
use walkdir::WalkDir;

use crate::cli::args::{OutputArgs, ResultFormat, ScanArgs, SelectArgs};
use crate::cli::commands::scan_document::{FindingV1, ScanV1};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::{self, plural};
use crate::redact::Redactor;
use crate::redact::scan::{Scanner, Spotted};
use crate::text;

/// Where this program writes and reads.
const USUAL: [&str; 4] = ["baselines", "reports", ".mcp-eval", "scenarios"];

/// The largest file that is read whole, as JSON; larger ones are read like any other text.
const LARGEST_JSON: u64 = 64 * 1024 * 1024;

/// The longest piece of a line that is looked at in one go, in bytes.
const LONGEST_PIECE: usize = 1024 * 1024;

/// How much of a piece is looked at again with the next one: a secret may stand across the cut.
const OVERLAP: usize = 16 * 1024;

/// How many findings a document lists.
const MOST_LISTED: usize = 10_000;

/// Endings of files of settings, where `key: value` stands without quotes.
const SETTINGS: [&str; 10] = [
    "yaml",
    "yml",
    "env",
    "toml",
    "ini",
    "cfg",
    "conf",
    "properties",
    "sh",
    "netrc",
];

struct Scan {
    scanner: Scanner,
    /// For paths, which may hold a secret, too.
    redactor: Redactor,
    console: Console,
    format: ResultFormat,
    bar: ProgressBar,
    told: ScanV1,
}

pub(in crate::cli) fn run(
    args: &ScanArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let paths = paths(args)?;
    let mut scan = Scan {
        scanner: scanner(args, console),
        redactor: Redactor::default(),
        console,
        format: args.printed.format,
        bar: bar(output, console),
        told: ScanV1 {
            format_version: 1,
            clean: false,
            files: 0,
            found: 0,
            findings: Vec::new(),
            skipped: Vec::new(),
            problems: Vec::new(),
        },
    };
    scan.walk(&paths);
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
    let mut secrets = Vec::new();
    if Path::new(USUAL[3]).is_dir() {
        let (scenarios, findings) = select::load(&SelectArgs::default());
        if findings.iter().any(crate::scenario_file::Finding::is_error) {
            console.note("warning: some scenarios have errors, so that their `redact` and secret variables are not looked for; `mcp-eval validate` tells more");
        }
        for it in scenarios {
            for pattern in it.redaction.patterns {
                if !patterns.contains(&pattern) {
                    patterns.push(pattern);
                }
            }
            secrets.extend(it.redaction.secrets);
        }
        secrets.sort();
        secrets.dedup();
    }
    Scanner::new(secrets, patterns)
}

fn bar(output: OutputArgs, console: Console) -> ProgressBar {
    if console.can_draw() && !output.no_progress {
        let target = ProgressDrawTarget::stderr();
        ProgressBar::with_draw_target(None, target)
    } else {
        ProgressBar::hidden()
    }
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

    fn file(&mut self, path: &Path) {
        let shown = text::line(&path.to_string_lossy()).into_owned();
        self.bar.set_message(shown);
        self.bar.inc(1);
        match self.read(path) {
            Ok(true) => self.told.files += 1,
            Ok(false) => {
                let shown = self.shown(path);
                self.say(&format!("skipped: {shown} is binary"));
                self.told.skipped.push(shown);
            }
            Err(error) => self.problem(path, &error.to_string()),
        }
    }

    /// Looks at a file; `false` when it is binary.
    fn read(&mut self, path: &Path) -> io::Result<bool> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(8192).read_to_end(&mut head)?;
        if head.contains(&0) {
            return Ok(false);
        }
        let starts = head.iter().find(|it| !it.is_ascii_whitespace());
        file.rewind()?;
        if matches!(starts, Some(b'{' | b'[' | b'"')) && file.metadata()?.len() <= LARGEST_JSON {
            let mut bytes = Vec::new();
            (&mut file).take(LARGEST_JSON).read_to_end(&mut bytes)?;
            let json = String::from_utf8(bytes).ok();
            if let Some((spotted, json)) = json.and_then(|it| Some((self.scanner.json(&it)?, it))) {
                self.tell_all(path, &json, spotted);
                return Ok(true);
            }
            file.rewind()?;
        }
        self.lines(path, BufReader::new(file))?;
        Ok(true)
    }

    /// Looks at a text line by line, and at very long lines in pieces.
    fn lines(&mut self, path: &Path, mut reader: impl BufRead) -> io::Result<()> {
        let assigned = is_settings(path);
        let (mut line, mut column) = (1, 1);
        let mut key_begun = false;
        let mut piece = Vec::new();
        loop {
            let limit = (LONGEST_PIECE - piece.len()) as u64;
            let read = (&mut reader).take(limit).read_until(b'\n', &mut piece)?;
            if piece.is_empty() {
                return Ok(());
            }
            let is_cut = read > 0 && piece.len() >= LONGEST_PIECE && piece.last() != Some(&b'\n');
            let from = if is_cut {
                piece.len() - OVERLAP
            } else {
                piece.len()
            };
            let text = String::from_utf8_lossy(&piece);
            for it in self.scanner.text(&text, assigned) {
                if it.at.start < from || !is_cut {
                    let column = column + text[..it.at.start].chars().count();
                    self.tell(path, (line, column), it);
                }
            }
            if key_begun && is_key_body(&text) {
                let masked = "…".to_owned();
                let (kind, at) = ("private-key", 0..0);
                self.tell(path, (line, 1), Spotted { kind, at, masked });
            }
            let trimmed = text.trim();
            key_begun = trimmed.starts_with("-----BEGIN ") && trimmed.ends_with("PRIVATE KEY-----");
            if is_cut {
                column += String::from_utf8_lossy(&piece[..from]).chars().count();
                piece.drain(..from);
            } else {
                (line, column) = (line + 1, 1);
                piece.clear();
            }
        }
    }

    fn tell_all(&mut self, path: &Path, text: &str, spotted: Vec<Spotted>) {
        let (mut line, mut begins, mut passed) = (1, 0, 0);
        for it in spotted {
            for (at, _) in text[passed..it.at.start].match_indices('\n') {
                (line, begins) = (line + 1, passed + at + 1);
            }
            passed = it.at.start;
            let column = text[begins..passed].chars().count() + 1;
            self.tell(path, (line, column), it);
        }
    }

    fn tell(&mut self, path: &Path, (line, column): (usize, usize), spotted: Spotted) {
        let Spotted { kind, masked, .. } = spotted;
        let masked = text::line(&masked).into_owned();
        let path = self.shown(path);
        self.told.found += 1;
        if self.format == ResultFormat::Terminal {
            let text = format!("{path}:{line}:{column}: {kind}: {masked}\n");
            self.bar.suspend(|| self.console.result(&text));
        } else if self.told.findings.len() < MOST_LISTED {
            let finding = FindingV1 {
                path,
                line,
                column,
                kind,
                masked,
            };
            self.told.findings.push(finding);
        }
    }

    fn problem(&mut self, path: &Path, why: &str) {
        let text = format!("{} cannot be read: {why}", self.shown(path));
        if self.format == ResultFormat::Terminal {
            let failure = Failure::incomplete(text.clone());
            self.bar.suspend(|| self.console.failure(&failure));
        }
        self.told.problems.push(text);
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
        let failed = if self.told.found > 0 {
            Exit::Failed
        } else {
            Exit::Passed
        };
        let unread = if self.told.problems.is_empty() {
            Exit::Passed
        } else {
            Exit::Incomplete
        };
        let exit = failed.and(unread);
        self.told.clean = exit == Exit::Passed;
        match self.format {
            ResultFormat::Json => {
                Console::document(&serde_json::to_string_pretty(&self.told).unwrap_or_default());
            }
            ResultFormat::Terminal => self.console.result(&format!(
                "{} in {}",
                plural(self.told.found, "secret"),
                plural(self.told.files, "file")
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

/// Whether a file holds settings, by its name.
fn is_settings(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    name.starts_with(".env") || name == ".netrc" || SETTINGS.contains(&ending.as_ref())
}

/// Whether a line may follow the first one of a private key.
fn is_key_body(line: &str) -> bool {
    let line = line.trim();
    let is_base64 = |it: u8| it.is_ascii_alphanumeric() || b"+/=".contains(&it);
    line.starts_with("Proc-Type:") || (line.len() >= 16 && line.bytes().all(is_base64))
}
