//! The review on a terminal: one cause after the other, one key each.

use std::io::{self, IsTerminal};
use std::path::Path;

use crate::cli::args::OutputArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::open;
use crate::cli::reports::INDEX;
use crate::model::change::Change;
use crate::report::command::quoted;
use crate::report::explain::explain;
use crate::report::html;
use crate::suite::{Despite, REPORTS, ReadAgain, Waiting};
use crate::text;

use super::keyboard::{Key, Keyboard};
use super::shown::{self, Question, Shown};

/// What the keys do. All of them work in upper case, too, for the scenario as a whole.
const LEGEND: &str = "a accept · v accept as a variant · i ignore this place · r reject · s skip · d details · o open page · q quit";
const CAPITALS: &str = "A run is accepted or rejected as a whole; A, I, R and S decide on all changes of the scenario at once.";

/// What becomes of a scenario's run.
enum Decision {
    Accept,
    Variant,
    Reject,
    Skip,
    /// Each of its changes is ignored from now on, so the baseline stays.
    Ignored,
    Quit,
    Interrupted,
}

/// What somebody said of one cause.
enum Said {
    /// It is fine.
    Yes,
    /// Later.
    Later,
    /// Its place is ignored from now on.
    Ignored,
    /// All of the scenario is decided.
    Whole(Decision),
}

/// Asks about each run; what is decided is written at once.
pub(super) fn ask(
    waiting: &mut [Waiting],
    again: ReadAgain<'_>,
    (despite, from): (Despite, Option<&Path>),
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Failure::usage("there is no terminal to ask on").hint(
            "`--list` shows what is pending; `--accept NAME`, `--reject NAME`, `--accept-all` and `--reject-all` decide; `--check` exits \
             with 1 while something is pending",
        ));
    }
    let keyboard = Keyboard::new()?;
    let count = waiting.len();
    let mut left = 0;
    for (at, it) in waiting.iter_mut().enumerate() {
        let asking = Asking {
            keyboard: &keyboard,
            again,
            from,
            place: format!("{} of {count}", at + 1),
            output,
            console,
        };
        let decided = match asking.about(it)? {
            Decision::Accept => {
                let kept = it.accept(despite, again);
                kept.map(|kept| shown::accepted(it, &kept, console))
            }
            Decision::Variant => {
                let kept = it.accept_beside(despite, again);
                kept.map(|kept| shown::accepted(it, &kept, console))
            }
            Decision::Reject => it.reject(again).map(|()| shown::rejected(it.scenario())),
            Decision::Ignored => it.reject(again).map(|()| {
                let id = text::line(&it.scenario().id);
                format!("settled {id}: what changed is ignored from now on\n")
            }),
            Decision::Skip => {
                left += 1;
                continue;
            }
            Decision::Quit => {
                left += count - at;
                break;
            }
            Decision::Interrupted => return Ok(Exit::Interrupted),
        };
        match decided {
            Ok(said) => console.result(&said),
            Err(refusal) => {
                console.failure(&refusal.into());
                left += 1;
            }
        }
    }
    if left > 0 {
        console.note(&match from {
            None => format!("{left} still pending: `mcp-eval review`"),
            Some(folder) => {
                let folder = quoted(&text::line(&folder.to_string_lossy()));
                format!("{left} not decided: `mcp-eval review --from {folder}`")
            }
        });
        return Ok(Exit::Failed);
    }
    Ok(Exit::Passed)
}

/// The questions about one run.
struct Asking<'a> {
    keyboard: &'a Keyboard,
    again: ReadAgain<'a>,
    /// The folder of a run or of a report, where the runs are from there.
    from: Option<&'a Path>,
    /// `1 of 3`.
    place: String,
    output: OutputArgs,
    console: Console,
}

impl Asking<'_> {
    /// Goes through what changed in a run, by cause. Changes whose place is ignored are gone at once, and others may be with them.
    fn about(&self, it: &mut Waiting) -> Result<Decision, Failure> {
        let mut shown = Shown::of(it);
        self.console.result(&format!(
            "\n{}  {}\n{}",
            self.place,
            text::line(&it.scenario().id),
            shown.report(Console::style(self.output))
        ));
        if let Some(why) = it.moved() {
            self.console.note(&format!("! {why}"));
        }
        for aside in shown.asides() {
            self.console.result(&format!("! {}\n", text::line(aside)));
        }
        self.console.result(&format!("{LEGEND}\n{CAPITALS}\n"));
        let (mut fine, mut later): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut ignored = false;
        loop {
            let questions = shown.questions();
            let mut open = questions.iter().enumerate();
            let next =
                open.find(|(_, it)| !fine.contains(&it.cause.id) && !later.contains(&it.cause.id));
            let Some((at, question)) = next else {
                return Ok(match (questions.is_empty(), later.is_empty()) {
                    (true, _) if ignored => Decision::Ignored,
                    (true, _) if fine.is_empty() => match self.one(it, &shown, None)? {
                        Said::Yes => Decision::Accept,
                        Said::Later | Said::Ignored => Decision::Skip,
                        Said::Whole(decision) => decision,
                    },
                    (_, false) => {
                        self.forgotten(it, fine.len(), questions.len());
                        Decision::Skip
                    }
                    (_, true) => Decision::Accept,
                });
            };
            let lead = format!("change {} of {}: ", at + 1, questions.len());
            let asked = shown.asked(&lead, question, Console::style(self.output));
            self.console.result(&asked);
            match self.one(it, &shown, Some(question))? {
                Said::Yes => fine.push(question.cause.id.clone()),
                Said::Later => later.push(question.cause.id.clone()),
                Said::Ignored => {
                    ignored = true;
                    shown = Shown::of(it);
                }
                Said::Whole(decision) => {
                    if matches!(
                        decision,
                        Decision::Skip | Decision::Quit | Decision::Interrupted
                    ) {
                        self.forgotten(it, fine.len(), questions.len());
                    }
                    return Ok(decision);
                }
            }
        }
    }

    /// Says that what was said of some changes accepts none of them, where others are left open.
    fn forgotten(&self, it: &Waiting, fine: usize, all: usize) {
        if fine > 0 {
            let id = text::line(&it.scenario().id);
            self.console.note(&format!(
                "nothing of {id} is accepted: `a` was typed for {fine} of its {all} changes, and a run is accepted as a whole"
            ));
        }
    }

    /// Asks until something is decided on one cause, or on a run in which nothing changed and that fails for something else.
    fn one(
        &self,
        it: &mut Waiting,
        shown: &Shown,
        question: Option<&Question>,
    ) -> Result<Said, Failure> {
        loop {
            let key = self.keyboard.ask(|| self.console.prompt("  > "));
            let key = key.map_err(|error| {
                Failure::incomplete(format!("cannot read from the terminal: {error}"))
            })?;
            let Key::Letter(letter) = key else {
                self.console.result("\n");
                return Ok(Said::Whole(Decision::Interrupted));
            };
            self.console.result(&format!("{letter}\n"));
            match letter {
                'a' => return Ok(Said::Yes),
                'A' => return Ok(Said::Whole(Decision::Accept)),
                'v' | 'V' => return Ok(Said::Whole(Decision::Variant)),
                // One run is one whole: without one of its changes, it is not that run any more.
                'r' | 'R' => return Ok(Said::Whole(Decision::Reject)),
                's' => return Ok(Said::Later),
                'S' => return Ok(Said::Whole(Decision::Skip)),
                'q' | 'Q' => return Ok(Said::Whole(Decision::Quit)),
                'i' => {
                    let Some(question) = question else {
                        self.console.note("there is no place to ignore");
                        continue;
                    };
                    // What only follows from it is asked by itself, where it is still there.
                    let named: Vec<&Change> = question.named.iter().collect();
                    if self.ignore(it, &named) {
                        return Ok(Said::Ignored);
                    }
                }
                'I' => {
                    if self.ignore_all(it, shown) {
                        return Ok(Said::Ignored);
                    }
                }
                'd' | 'D' => {
                    let change = question.and_then(|it| it.changes.first());
                    let call = change.and_then(|it| it.current.or(it.baseline));
                    if let Some(scenario) = shown.scenario() {
                        self.console.result(&explain(scenario, call));
                    }
                }
                'o' | 'O' => self.open(it),
                _ => self.console.result(&format!("{LEGEND}\n{CAPITALS}\n")),
            }
        }
    }

    /// Ignores the places of changes, and says so; false where none can be, with why.
    fn ignore(&self, it: &mut Waiting, changes: &[&Change]) -> bool {
        let (mut any, mut refused) = (false, None);
        for change in changes {
            // Others may be gone with it.
            if any && !shown::is_left(change, &Shown::of(it).changes()) {
                continue;
            }
            match it.ignore(change, self.again) {
                Ok(ignored) => {
                    self.console.result(&shown::ignored(change, &ignored));
                    any = true;
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        // One reason is enough, however many places it holds for.
        if let Some(refusal) = refused {
            self.console.failure(&refusal.into());
        }
        any
    }

    /// The same for all causes; whether any place was ignored.
    fn ignore_all(&self, it: &mut Waiting, shown: &Shown) -> bool {
        let questions = shown.questions();
        if questions.is_empty() {
            self.console.note("there is no place to ignore");
        }
        let mut any = false;
        for mut question in questions {
            if any {
                let left = Shown::of(it).changes();
                question.changes.retain(|it| shown::is_left(it, &left));
            }
            let changes: Vec<&Change> = question.changes.iter().collect();
            any |= self.ignore(it, &changes);
        }
        any
    }

    /// Opens the page of the run: in the folder that it is from, else in its own report. That of another run would show something else.
    fn open(&self, it: &Waiting) {
        let name = html::page_name(&it.scenario().id);
        let report = Path::new(REPORTS).join(it.run_id());
        let folders = self.from.map(Path::to_owned).into_iter().chain([report]);
        let mut pages = folders.flat_map(|it| [it.join(&name), it.join(INDEX)]);
        let Some(page) = pages.find(|it| it.is_file()) else {
            let run = quoted(&text::line(it.run_id()));
            self.console.note(&format!(
                "there is no page of this run: `mcp-eval report {run} --format html` makes one, while the run is kept"
            ));
            return;
        };
        match open::open(&page) {
            Ok(()) => {
                let said = format!("opened {}", page.display());
                self.console
                    .result(&(text::line(&said).into_owned() + "\n"));
            }
            Err(error) => self.console.failure(&Failure::incomplete(error)),
        }
    }
}
