//! The forms of a result that the user asks for: checked before anything runs, written when the result is there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::cli::args::{Format, ReportChoice, ReportingArgs};
use crate::cli::paths::{plain, seen_from_checkout};
use crate::cli::round::Round;
use crate::cli::{Console, Failure, without_scenarios};
use crate::input::real;
use crate::published::result::{self, ResultDocument};
use crate::published::trajectory::CATALOGUES;
use crate::report::terminal::{self, Style, Verbosity};
use crate::report::{ctrf, e2e, github, html, junit, markdown};
use crate::store::{self, Baselines, RESULT, STATE, StoreError};
use crate::suite::REPORTS;

/// The page that leads to the others.
pub(super) const INDEX: &str = "index.html";

/// The columns of a table that is written to a file.
const FILE_WIDTH: usize = 120;

/// Where a result goes, and in which forms.
#[derive(Debug)]
pub(super) struct Reports {
    /// The form on stdout.
    pub(super) printed: Format,
    /// Whether pages are written; without them the result is only kept.
    pub(super) pages: bool,
    /// The folder the pages go to, where the user names one.
    pub(super) output: Option<PathBuf>,
    asked: Vec<ReportChoice>,
}

/// What is known of a result, wherever it is written.
pub(super) trait Source {
    /// The document as seen from a folder, because it names files relative to itself.
    fn document(&mut self, folder: &Path) -> Cow<'_, ResultDocument>;

    /// Writes the pages to a folder, and the document beside them.
    ///
    /// # Errors
    ///
    /// When one of them cannot be written.
    fn write_pages(&mut self, folder: &Path) -> Result<(), Failure>;

    /// Whether what belongs into this folder is there already.
    fn is_in(&self, folder: &Path) -> bool;
}

impl Reports {
    /// Nothing but the result that is kept beside its runs.
    pub(super) fn none() -> Self {
        Self {
            printed: Format::Json,
            ..Self::usual(false)
        }
    }

    /// What the arguments ask for.
    ///
    /// # Errors
    ///
    /// When two forms go to one file, or one of the files cannot be written.
    pub(super) fn new(
        args: &ReportingArgs,
        no_report: bool,
        output: Option<&Path>,
    ) -> Result<Self, Failure> {
        let reports = Self::unchecked(args, no_report, output);
        if args.format == Format::Html {
            return Err(
                Failure::usage("pages do not go to stdout").hint("`--report html=DIR` writes them")
            );
        }
        if let Some(output) = output {
            refuse_file(output)?;
        }
        let pages_nowhere = |it: &&ReportChoice| it.format == Format::Html && it.file.is_none();
        if no_report && reports.asked.iter().any(|it| pages_nowhere(&it)) {
            return Err(
                Failure::usage("`--no-report` and `--report html` contradict each other")
                    .hint("`--report html=DIR` writes pages to a folder of your own alone"),
            );
        }
        reports.refuse_collisions()?;
        reports.refuse_what_is_no_report()?;
        for folder in output.into_iter().filter(|_| reports.pages) {
            if let Some(why) = unfit_for_pages(folder) {
                let failure = format!("--output {}: {why}", folder.display());
                return Err(Failure::usage(failure).hint("name another folder"));
            }
            store::check_writable(&folder.join(INDEX))?;
        }
        for (choice, file) in reports.named() {
            if file.as_os_str().as_encoded_bytes().ends_with(b"/") {
                let failure =
                    format!("`{choice}` is the name of a folder, and this form is a file");
                return Err(Failure::usage(failure).hint("name a file in it"));
            }
            store::check_writable(&file).map_err(|error| {
                let failure = Failure::from(error);
                failure.hint(format!("asked for by `{choice}`"))
            })?;
        }
        Ok(reports)
    }

    /// The same, whether it can be written or not.
    pub(super) fn unchecked(args: &ReportingArgs, no_report: bool, output: Option<&Path>) -> Self {
        Self {
            printed: args.format,
            pages: !no_report,
            output: output.map(Path::to_owned),
            asked: args.reports.clone(),
        }
    }

    /// What a command does by default: a table on stdout and, unless disabled, pages.
    pub(super) fn usual(pages: bool) -> Self {
        Self {
            printed: Format::Terminal,
            pages,
            output: None,
            asked: Vec::new(),
        }
    }

    /// The forms with a file of their own, each with that file; of pages, the index.
    fn named(&self) -> impl Iterator<Item = (&ReportChoice, PathBuf)> {
        self.asked.iter().filter_map(|it| {
            let file = it.file.as_ref()?;
            let is_pages = it.format == Format::Html;
            Some((
                it,
                if is_pages {
                    file.join(INDEX)
                } else {
                    file.clone()
                },
            ))
        })
    }

    /// Refuses files that are something else: scenarios, baselines, and what is kept of runs.
    fn refuse_what_is_no_report(&self) -> Result<(), Failure> {
        for choice in &self.asked {
            let Some(file) = &choice.file else {
                continue;
            };
            if let Some(why) = unfit(choice, file) {
                let failure = format!("`{choice}`: {} {why}", file.display());
                return Err(Failure::usage(failure).hint("name another file"));
            }
        }
        Ok(())
    }

    fn refuse_collisions(&self) -> Result<(), Failure> {
        for (at, choice) in self.asked.iter().enumerate() {
            if self.asked[..at].contains(choice) {
                return Err(Failure::usage(format!("`{choice}` is given twice")));
            }
        }
        let mut taken: HashMap<PathBuf, String> = HashMap::new();
        let mut take = |path: PathBuf, by: &str| match taken.insert(known(&path), by.to_owned()) {
            Some(other) => Err(Failure::usage(format!(
                "`{other}` and `{by}` would write the same file, {}",
                path.display()
            ))),
            None => Ok(()),
        };
        // Of a folder that has no name yet, only what is asked for by the user can collide.
        let beside = self.output.clone();
        let beside = beside.unwrap_or_else(|| Path::new(STATE).join("this run"));
        if let Some(output) = &self.output {
            let by = format!("--output {}", output.display());
            for name in [INDEX, RESULT] {
                take(output.join(name), &by)?;
            }
        }
        for choice in &self.asked {
            let by = choice.to_string();
            match (&choice.file, choice.format) {
                (Some(folder), Format::Html) => {
                    refuse_file(folder)?;
                    take(folder.join(INDEX), &by)?;
                    take(folder.join(RESULT), &by)?;
                }
                (Some(file), _) => take(file.clone(), &by)?,
                // The pages and the document are there anyway.
                (None, Format::Html | Format::Json | Format::Github) => {}
                (None, format) => take(beside.join(format.file_name()), &by)?,
            }
        }
        Ok(())
    }

    /// Whether any form goes to the folder that is usual for a result, because the user names no file for it.
    pub(super) fn need_a_folder(&self) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|it| it.file.is_none() && it.format != Format::Github)
    }

    /// Writes the forms that were asked for. Those without a file of their own go to `folder`, or nowhere where there is none.
    ///
    /// # Errors
    ///
    /// The first failure; the others are written all the same.
    pub(super) fn write(
        &self,
        folder: Option<&Path>,
        source: &mut dyn Source,
        console: Console,
    ) -> Result<(), Failure> {
        let mut first_failure = None;
        for choice in &self.asked {
            if choice.format == Format::Github && choice.file.is_none() {
                // The runner reads them from the log.
                let document = source.document(Path::new(""));
                Console::workflow_commands(&choice.format.render(&document, FILE));
                continue;
            }
            let Some(beside) = choice.file.as_deref().or(folder) else {
                continue;
            };
            let is_named = choice.file.is_some();
            let written = match choice.format {
                Format::Html | Format::Json if !is_named && source.is_in(beside) => continue,
                Format::Html => source.write_pages(beside).map(|()| beside.join(INDEX)),
                format => {
                    let file = if is_named {
                        beside.to_owned()
                    } else {
                        beside.join(format.file_name())
                    };
                    let text = format.render(&source.document(folder_of(&file)), FILE);
                    let written = write(&file, text.as_bytes());
                    written.map(|()| file).map_err(Failure::from)
                }
            };
            match written {
                Ok(file) => {
                    let name = choice.format.name();
                    console.note(&format!("Report ({name}): {}", file.display()));
                }
                Err(failure) => {
                    first_failure.get_or_insert(failure);
                }
            }
        }
        first_failure.map_or(Ok(()), Err)
    }

    /// Says in every file that was asked for by name why there is no result, so that nobody takes an older one there for it; and in
    /// annotations, where these were asked for. Pages are replaced where we have made some. What must not be written is left as it is.
    ///
    /// # Errors
    ///
    /// The first failure to write one.
    pub(super) fn write_refusal(&self, refusal: &ResultDocument) -> Result<(), StoreError> {
        let mut asked = self.asked.iter();
        if asked.any(|it| it.format == Format::Github && it.file.is_none()) {
            Console::workflow_commands(&Format::Github.render(refusal, FILE));
        }
        self.write_instead(refusal, |_| true)
    }

    /// Says in the files that an earlier command has written that they are not about this one, which begins: should it be killed, nobody
    /// takes its predecessor's result for its own. Of `--watch`, the files stay until its round has ended.
    ///
    /// # Errors
    ///
    /// The first failure to write one.
    pub(super) fn begin(&self, round: &Round, command: &str) -> Result<(), StoreError> {
        if round.is_watched() {
            return Ok(());
        }
        self.replace(&without_scenarios::begun(command))
    }

    /// Writes a document without scenarios in the place of older results, where there are any.
    ///
    /// # Errors
    ///
    /// The first failure to write one.
    pub(super) fn replace(&self, document: &ResultDocument) -> Result<(), StoreError> {
        self.write_instead(document, Path::is_file)
    }

    /// Writes a document without scenarios into the files and folders that were named.
    fn write_instead(
        &self,
        document: &ResultDocument,
        is_meant: impl Fn(&Path) -> bool,
    ) -> Result<(), StoreError> {
        let mut written = Ok(());
        let fit = self.named().filter(|(choice, _)| {
            let file = choice.file.as_deref();
            file.is_some_and(|it| unfit(choice, it).is_none())
        });
        for (choice, file) in fit.filter(|(_, file)| is_meant(file)) {
            written = written.and(match choice.format {
                Format::Html => write_index(folder_of(&file), document),
                format => {
                    store::write_following_links(&file, format.render(document, FILE).as_bytes())
                }
            });
        }
        if let Some(output) = self.output.as_deref().filter(|_| self.pages) {
            written = written.and(write_index(output, document));
        }
        written
    }
}

/// Writes a file of a report: where it goes was named, or is the usual folder, which comes with a checkout and may lead anywhere.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn write(file: &Path, content: &[u8]) -> Result<(), StoreError> {
    if file.starts_with(REPORTS) {
        store::write(file, content)
    } else {
        store::write_following_links(file, content)
    }
}

/// Writes the index of a folder in which we have made one, and the document beside it.
fn write_index(folder: &Path, document: &ResultDocument) -> Result<(), StoreError> {
    let (index, stored) = (folder.join(INDEX), folder.join(RESULT));
    if !(index.is_file() && stored.is_file()) || unfit_for_pages(folder).is_some() {
        return Ok(());
    }
    store::write_following_links(&stored, result::json(document).as_bytes())?;
    store::write_following_links(&index, html::index(document).as_bytes())
}

/// Why a form must not go to a file, or a folder, of this name.
fn unfit(choice: &ReportChoice, file: &Path) -> Option<&'static str> {
    if choice.format == Format::Html {
        unfit_for_pages(file)
    } else {
        is_ours(file).then_some(NO_REPORT)
    }
}

/// Why one page that holds all others must not be written to a file of this name.
pub(super) fn unfit_for_one_page(file: &Path) -> Option<&'static str> {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    let is_page = extension == "html" || extension == "htm";
    if is_ours(file) {
        Some(NO_REPORT)
    } else if file.exists() && !is_page {
        Some("is there, and no page by its name, which would end in `.html`")
    } else {
        None
    }
}

const NO_REPORT: &str = "is no place for a report: mcp-eval or git keeps its own files there";

/// Why pages must not go to a folder.
fn unfit_for_pages(folder: &Path) -> Option<&'static str> {
    if holds_what_is_ours(folder) {
        Some("holds scenarios or baselines")
    } else if folder.join(INDEX).exists() && !folder.join(RESULT).exists() {
        Some("has an index.html that mcp-eval has not made")
    } else {
        None
    }
}

/// How a table is written to a file.
const FILE: Style = Style {
    color: false,
    width: FILE_WIDTH,
    verbosity: Verbosity::Normal,
};

impl Format {
    /// The name of a file in this form that lies beside the pages.
    fn file_name(self) -> &'static str {
        match self {
            Self::Terminal => "result.txt",
            Self::Json => RESULT,
            Self::Html => INDEX,
            Self::Junit => "junit.xml",
            Self::Markdown => "summary.md",
            Self::Github => "annotations.txt",
            Self::Ctrf => "ctrf.json",
            Self::E2e => "e2e.txt",
        }
    }

    /// The result in this form. Of pages, which are more than one text, it is the document.
    pub(super) fn render(self, result: &ResultDocument, style: Style) -> String {
        match self {
            Self::Terminal => terminal::terminal(result, style),
            Self::Json | Self::Html => result::json(result),
            // GitLab wants what Jenkins refuses.
            Self::Junit if is_gitlab() => junit::junit_for_gitlab(&seen_from_checkout(result)),
            Self::Junit => junit::junit(&seen_from_checkout(result)),
            Self::Markdown => markdown::markdown(result),
            Self::Github => github::github(&seen_from_checkout(result)),
            Self::Ctrf => ctrf::ctrf(&seen_from_checkout(result)),
            Self::E2e => e2e::result(result),
        }
    }
}

/// Whether this is a job of GitLab CI.
fn is_gitlab() -> bool {
    std::env::var_os("GITLAB_CI").is_some_and(|it| !it.is_empty())
}

/// How deep below a folder scenarios and baselines are looked for, and among how many files.
const LOOK: (usize, usize) = (3, 1000);

/// Whether a file is, or would be, one that this program, or git, reads and writes by itself.
fn is_ours(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let ours = [STATE, ".git", CATALOGUES];
    let is_kept = |it: Component<'_>| ours.iter().any(|ours| it.as_os_str() == *ours);
    let is_scenario = name.ends_with(".yaml") || name.ends_with(".yml");
    file.components().any(is_kept) || Baselines::is_theirs(file) || (is_scenario && file.exists())
}

/// Whether pages in this folder would lie among scenarios or baselines.
fn holds_what_is_ours(folder: &Path) -> bool {
    let files = WalkDir::new(folder).max_depth(LOOK.0).into_iter();
    let mut files = files.flatten().take(LOOK.1);
    // A copy of both sides lies beside each report.
    files.any(|it| {
        let is_copy = it
            .path()
            .components()
            .any(|it| it.as_os_str() == "trajectories");
        it.file_type().is_file() && !is_copy && is_ours(it.path())
    })
}

/// Refuses to take the name of a file, in which one form belongs, for the folder of the pages.
fn refuse_file(folder: &Path) -> Result<(), Failure> {
    let extension = folder.extension().and_then(|it| it.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let format = match extension.as_str() {
        "json" => Format::Json,
        "html" | "htm" => Format::Html,
        "xml" => Format::Junit,
        "md" => Format::Markdown,
        "txt" => Format::Terminal,
        _ => return Ok(()),
    };
    if folder.is_dir() {
        return Ok(());
    }
    let shown = folder.display();
    let failure = Failure::usage(format!(
        "the report goes to a folder, and `{shown}` is the name of a file"
    ));
    Err(match format {
        Format::Html => failure.hint(format!(
            "name a folder, such as `{}`: it gets an {INDEX} and a page for each scenario",
            folder.with_extension("").display()
        )),
        format => failure.hint(format!(
            "`--report {}={shown}` writes the result to that file",
            format.name()
        )),
    })
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// The path by which a file that may not be there yet is known, whatever way leads to it.
fn known(path: &Path) -> PathBuf {
    real(&plain(
        &std::env::current_dir().unwrap_or_default().join(path),
    ))
}
