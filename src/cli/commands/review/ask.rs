//! The review on a terminal: each cause once for all runs that have it, one key each.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::shown::{self, NAMED, Question, Shown};
use crate::cli::keywise::{Key, Keyboard};
use crate::cli::reports::INDEX;
use crate::cli::{Console, Exit, Failure, pages};
use crate::model::Change;
use crate::published::result::{Cause, ResultDocument};
use crate::report::command::quoted;
use crate::report::explain::explain;
use crate::report::{html, terminal, wrap};
use crate::suite::{Despite, REPORTS, ReadAgain, Refusal, Waiting};
use crate::text::{self, few};

/// What the keys do. All of them work in upper case, too, for scenarios as a whole.
const LEGEND: &str = "a accept · v accept as a variant · i ignore this place · r reject · s skip · d details · o open page · q quit\n\
    Each key is for all scenarios that the change is in. A run is accepted or rejected as a whole: once all its changes are accepted it is \
    the baseline, `r` and `v` decide on it at once, and A, I, R and S decide on all changes of these scenarios.\n";

/// What becomes of runs.
#[derive(Clone, Copy)]
enum Decision {
    Accept,
    Variant,
    Reject,
    Skip,
    /// Each of its changes is ignored from now on, so the baseline stays.
    Ignored,
}

/// What somebody typed on a question.
enum Said {
    /// The change is fine.
    Yes,
    /// Later.
    Later,
    /// Places are ignored from now on, so that less is left to ask.
    Ignored,
    /// All of these runs is decided.
    Whole(Decision),
    Quit,
    Interrupted,
}

/// A run that is not decided yet.
struct Open<'a> {
    waiting: &'a mut Waiting,
    shown: Shown,
    questions: Vec<Question>,
    has_ignored: bool,
}

impl<'a> Open<'a> {
    fn new(waiting: &'a mut Waiting) -> Self {
        let shown = Shown::of(waiting);
        Self {
            questions: shown.questions(),
            shown,
            waiting,
            has_ignored: false,
        }
    }

    fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|it| it.cause.id == id)
    }

    /// Looks again, after something was ignored.
    fn look_again(&mut self) {
        self.shown = Shown::of(self.waiting);
        self.questions = self.shown.questions();
        self.has_ignored = true;
    }
}

/// Asks about each cause; what is decided is written at once.
pub(super) fn ask(
    waiting: &mut [Waiting],
    again: ReadAgain<'_>,
    (despite, from): (Despite, Option<&Path>),
    console: Console,
) -> Result<Exit, Failure> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Failure::usage("there is no terminal to ask on").hint(
            "`--list` shows what is pending; `--accept NAME`, `--accept-cause ID`, `--reject NAME`, `--accept-all` and `--reject-all` \
             decide; `--check` exits with 1 while something is pending",
        ));
    }
    let mut review = Review {
        keyboard: &Keyboard::new()?,
        again,
        despite,
        from,
        console,
        open: waiting.iter_mut().map(Open::new).collect(),
        said: HashMap::new(),
        asked: 0,
        skipped: Vec::new(),
        left: 0,
    };
    if !review.all()? {
        return Ok(Exit::Interrupted);
    }
    if !review.skipped.is_empty() {
        let ids = few(&review.skipped, NAMED);
        console.note(&format!(
            "not accepted, because not all of their changes were: {ids}"
        ));
    }
    let left = review.left;
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

/// The questions about all runs.
struct Review<'a> {
    keyboard: &'a Keyboard,
    again: ReadAgain<'a>,
    despite: Despite,
    /// The folder of a run or of a report, where the runs are from there.
    from: Option<&'a Path>,
    console: Console,
    open: Vec<Open<'a>>,
    /// What was said of causes, by their ids: that they are fine, or later.
    said: HashMap<String, bool>,
    /// How many questions were answered.
    asked: usize,
    /// The runs of which some changes are fine, and are not accepted for others.
    skipped: Vec<String>,
    /// How many runs stay pending.
    left: usize,
}

impl Review<'_> {
    /// Asks until nothing is open; false where somebody interrupts.
    fn all(&mut self) -> Result<bool, Failure> {
        for it in &self.open {
            if let Some(why) = it.waiting.moved() {
                let id = text::line(&it.waiting.scenario().id);
                self.console.note(&format!("! {id}: {why}"));
            }
        }
        let runs: Vec<&Shown> = self.open.iter().map(|it| &it.shown).collect();
        for aside in shown::asides(&runs) {
            self.console.result(&aside);
        }
        self.legend();
        loop {
            let open = self.open.iter_mut();
            shown::share(open.map(|it| (&it.shown, &mut it.questions)));
            self.settle();
            if self.open.is_empty() {
                return Ok(true);
            }
            let runs: Vec<&Shown> = self.open.iter().map(|it| &it.shown).collect();
            let all = shown::together(&runs);
            let causes: Vec<&Cause> = (all.causes.iter())
                .filter(|it| !self.said.contains_key(&it.id))
                .collect();
            let without = self.open.iter().filter(|it| it.questions.is_empty());
            let lead = format!(
                "change {} of {}: ",
                self.asked + 1,
                self.asked + causes.len() + without.count()
            );
            let said = match causes.first() {
                Some(cause) => self.about(&all, cause, &lead)?,
                None => self.about_run(&lead)?,
            };
            match said {
                Said::Quit => {
                    let all: Vec<usize> = (0..self.open.len()).collect();
                    self.decide(&all, Decision::Skip);
                    return Ok(true);
                }
                Said::Interrupted => return Ok(false),
                Said::Ignored => {}
                _ => self.asked += 1,
            }
        }
    }

    /// Asks about a cause, for all runs that have it.
    fn about(&mut self, all: &ResultDocument, cause: &Cause, lead: &str) -> Result<Said, Failure> {
        let question = terminal::question(all, lead, cause, self.console.style());
        self.console.result(&format!("\n{question}"));
        let concerned = |it: &Open<'_>| it.question(&cause.id).is_some();
        let of: Vec<usize> = (0..self.open.len())
            .filter(|at| concerned(&self.open[*at]))
            .collect();
        let said = self.one(&of, Some(&cause.id))?;
        match said {
            Said::Yes => {
                self.said.insert(cause.id.clone(), true);
            }
            Said::Later => {
                self.said.insert(cause.id.clone(), false);
            }
            Said::Whole(decision) => self.decide(&of, decision),
            Said::Ignored | Said::Quit | Said::Interrupted => {}
        }
        Ok(said)
    }

    /// Asks about the first run in which nothing changed, and that fails for no cause that is known.
    fn about_run(&mut self, lead: &str) -> Result<Said, Failure> {
        let first = self.open.iter().position(|it| it.questions.is_empty());
        let at = first.unwrap_or_default();
        let report = self.open[at].shown.report(self.console.style());
        let id = text::line(&self.open[at].waiting.scenario().id).into_owned();
        self.console.result(&format!("\n  {lead}{id}\n{report}"));
        let said = self.one(&[at], None)?;
        match said {
            Said::Yes => self.decide(&[at], Decision::Accept),
            Said::Later => self.decide(&[at], Decision::Skip),
            Said::Whole(decision) => self.decide(&[at], decision),
            Said::Ignored | Said::Quit | Said::Interrupted => {}
        }
        Ok(said)
    }

    /// Does what all answers so far come to: a run is accepted when all its causes are fine, and left when all are asked about.
    fn settle(&mut self) {
        let decision = |it: &Open<'_>| {
            let said = it.questions.iter();
            let said = said.map(|it| self.said.get(&it.cause.id).copied());
            match said.collect::<Option<Vec<bool>>>().as_deref() {
                Some([]) if it.has_ignored => Some(Decision::Ignored),
                None | Some([]) => None,
                Some(said) if said.iter().all(|it| *it) => Some(Decision::Accept),
                Some(_) => Some(Decision::Skip),
            }
        };
        let decisions = self.open.iter().map(decision).collect();
        self.apply(decisions);
    }

    /// Decides on these runs.
    fn decide(&mut self, of: &[usize], decision: Decision) {
        let all = 0..self.open.len();
        self.apply(all.map(|at| of.contains(&at).then_some(decision)).collect());
    }

    /// Does what is decided of each open run, and says so.
    fn apply(&mut self, decisions: Vec<Option<Decision>>) {
        let open = std::mem::take(&mut self.open);
        for (it, decision) in open.into_iter().zip(decisions) {
            match decision {
                Some(decision) => self.write(&it, decision),
                None => self.open.push(it),
            }
        }
    }

    fn write(&mut self, it: &Open<'_>, decision: Decision) {
        let (run, again) = (&*it.waiting, self.again);
        let accepted = |kept: Result<_, Refusal>| {
            kept.map(|kept: PathBuf| shown::accepted(run, &kept, self.console))
        };
        let id = text::line(&run.scenario().id);
        let written = match decision {
            Decision::Accept => accepted(run.accept(self.despite, again)),
            Decision::Variant => accepted(run.accept_beside(self.despite, again)),
            Decision::Reject => (run.reject(again)).map(|()| shown::rejected(run.scenario())),
            Decision::Ignored => (run.reject(again))
                .map(|()| format!("done with {id}: these changes are ignored from now on\n")),
            Decision::Skip => {
                self.leave(it);
                return;
            }
        };
        match written {
            Ok(said) => self.console.result(&said),
            Err(refusal) => {
                self.console.failure(&refusal.into());
                self.left += 1;
            }
        }
    }

    /// Leaves a run pending, and remembers it where some of its changes were accepted.
    fn leave(&mut self, it: &Open<'_>) {
        self.left += 1;
        let mut questions = it.questions.iter();
        if questions.any(|it| self.said.get(&it.cause.id) == Some(&true)) {
            let id = &it.waiting.scenario().id;
            self.skipped.push(text::line(id).into_owned());
        }
    }

    fn legend(&self) {
        let width = self.console.style().width;
        self.console.result(&wrap::block(LEGEND, width));
    }

    /// Asks until something is decided on the cause of these runs, or on the one of them, which has none.
    fn one(&mut self, of: &[usize], cause: Option<&str>) -> Result<Said, Failure> {
        loop {
            let key = self.keyboard.ask(|| self.console.prompt("  > "));
            let key = key.map_err(|error| {
                Failure::incomplete(format!("cannot read from the terminal: {error}"))
            })?;
            let Key::Letter(letter) = key else {
                self.console.result("\n");
                return Ok(Said::Interrupted);
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
                'q' | 'Q' => return Ok(Said::Quit),
                'i' | 'I' => {
                    if self.ignore(of, cause.filter(|_| letter == 'i')) {
                        return Ok(Said::Ignored);
                    }
                }
                'd' | 'D' => self.details(&self.open[of[0]], cause),
                'o' | 'O' => self.open_page(self.open[of[0]].waiting),
                _ => self.legend(),
            }
        }
    }

    /// Ignores the places of a cause in these runs, or of all their causes; false where none can be, with why.
    fn ignore(&mut self, of: &[usize], cause: Option<&str>) -> bool {
        let mut any = false;
        // One reason is enough, however many places and runs it holds for.
        let mut refused: Vec<Refusal> = Vec::new();
        for at in of {
            let it = &mut self.open[*at];
            // What only follows from a cause is asked by itself, where it is still there.
            let asked = it.questions.iter().flat_map(|it| match cause {
                Some(id) if it.cause.id == id => &it.named[..],
                Some(_) => &[],
                None => &it.changes[..],
            });
            let asked: Vec<Change> = asked.cloned().collect();
            let mut is_ignored = false;
            for change in &asked {
                // Others may be gone with it.
                if is_ignored && !shown::is_left(change, &Shown::of(it.waiting).changes()) {
                    continue;
                }
                match it.waiting.ignore(change, self.again) {
                    Ok(ignored) => {
                        self.console.result(&shown::ignored(change, &ignored));
                        is_ignored = true;
                    }
                    Err(refusal) => refused.push(refusal),
                }
            }
            if is_ignored {
                it.look_again();
                any = true;
            }
        }
        if let Some(refusal) = refused.into_iter().next() {
            self.console.failure(&refusal.into());
        } else if !any {
            self.console.note("there is no place to ignore");
        }
        any
    }

    /// Shows what differs in the first call of a cause, and every number behind that.
    fn details(&self, it: &Open<'_>, cause: Option<&str>) {
        let changes = cause.and_then(|id| it.question(id)).map(|it| &it.changes);
        if let Some(changes) = changes {
            self.console.result(&shown::diff(changes));
        }
        let change = changes.and_then(|it| it.first());
        let call = change.and_then(|it| it.current.or(it.baseline));
        if let Some(scenario) = it.shown.scenario() {
            self.console.result(&explain(scenario, call));
        }
    }

    /// Opens the page of the run: in the folder that it is from, else in its own report. That of another run would show something else.
    fn open_page(&self, it: &Waiting) {
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
        match pages::open(&page) {
            Ok(()) => {
                let said = format!("opened {}", page.display());
                self.console
                    .result(&(text::line(&said).into_owned() + "\n"));
            }
            Err(error) => self.console.failure(&Failure::incomplete(error)),
        }
    }
}
