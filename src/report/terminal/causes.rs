//! Causes of failures and changes, each once, with the scenarios it concerns.

use super::page::{BLUE, DIM, MAGENTA, Page, RED, Verbosity, YELLOW};

use crate::causes;
use model::points;
use model::published::result::{Cause, CauseKind, ResultDocument, Scenario};
use model::text::plural;

/// How many causes of failure are shown, and how many changes.
const FAILURES: usize = 20;
const CHANGES: usize = 10;
/// How many scenarios of one cause are named, how many calls of its only one, and how much of what follows from it is shown.
const SCENARIOS: usize = 12;
const CALLS: usize = 8;
const FOLLOWS: usize = 5;

impl Page<'_> {
    /// First what failed, then what changed, the cause of most scenarios first. With `-v`, changes stand with their scenarios already.
    pub(super) fn causes(&mut self, result: &ResultDocument) {
        // Another experiment that decides nothing is shown with its scenario.
        let shown =
            (result.causes.iter()).filter(|it| it.fails || it.kind != Some(CauseKind::Experiment));
        let (failures, changes): (Vec<&Cause>, Vec<&Cause>) = shown.partition(|it| it.fails);
        self.first(result, &failures, self.most(FAILURES));
        if self.style.verbosity == Verbosity::Normal {
            self.first(result, &changes, CHANGES);
        }
    }

    fn first(&mut self, result: &ResultDocument, causes: &[&Cause], most: usize) {
        for cause in causes.iter().take(most) {
            self.cause(result, 0, "", cause);
        }
        let left = causes.len().saturating_sub(most);
        if let Some(last) = causes.last().filter(|_| left > 0) {
            let (sign, style) = sign(last);
            let more = format!("and {left} more: mcp-eval explain {}", self.run_id);
            self.indented(0, sign, style, &more);
        }
    }

    /// A cause, with where it is and what follows from it, behind what leads to it.
    pub(super) fn cause(
        &mut self,
        result: &ResultDocument,
        indent: usize,
        lead: &str,
        cause: &Cause,
    ) {
        let (sign, style) = sign(cause);
        // A question about several scenarios says so at once.
        let many = (!lead.is_empty() && cause.scenarios.len() > 1)
            .then(|| format!(" · {}", plural(cause.scenarios.len(), "scenario")));
        let text = format!("{}{}", cause.text, many.unwrap_or_default());
        self.indented(indent, &format!("{lead}{sign}"), style, &text);
        let beneath = indent + 4;
        let place = self.place(result, cause);
        self.long(beneath, "", DIM, &place);
        let shown = self.most(FOLLOWS);
        for it in cause.follows.iter().take(shown) {
            self.indented(beneath, "└ ", style, it);
        }
        let left = cause.follows.len().saturating_sub(shown);
        if left > 0 {
            self.indented(
                beneath,
                "└ ",
                style,
                &format!("and {left} more follow from it"),
            );
        }
        if let Some(hint) = &cause.hint {
            self.indented(beneath, "→ ", BLUE, hint);
        }
        self.details(beneath, result.last_lines(cause, usize::MAX));
    }

    /// Whose doing it is, and where: `the server · scenarios/shop.yaml · calls 1, 3`, `the server · 3 scenarios, 12 calls: a (0.73), …`.
    fn place(&self, result: &ResultDocument, cause: &Cause) -> String {
        let whose = cause.whose.map(|it| format!("{} · ", it.words()));
        let whose = whose.unwrap_or_default();
        if let [only] = &cause.scenarios[..] {
            let path = result.scenario(only).map_or(only, |it| &it.path);
            let row = cause.line.map_or_else(String::new, |it| format!(":{it}"));
            let calls = causes::calls(cause, self.command, CALLS);
            let calls = calls.map_or_else(String::new, |it| format!(" · {it}"));
            return format!("{whose}{path}{row}{calls}");
        }
        let shown = self.most(SCENARIOS);
        let names = cause.scenarios.iter().take(shown).map(|id| {
            let failed = result.scenario(id).filter(|it| !it.status.is_fine());
            match failed.and_then(Scenario::score) {
                Some(score) => format!("{id} ({})", points::score(score)),
                None => id.clone(),
            }
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match cause.scenarios.len().saturating_sub(shown) {
            0 => String::new(),
            more => format!(" and {more} more (`-v` names all)"),
        };
        format!("{whose}{}: {names}{more}", cause.extent())
    }
}

fn sign(cause: &Cause) -> (&'static str, anstyle::Style) {
    match (cause.fails, cause.kind) {
        (_, Some(CauseKind::Problem)) | (true, Some(CauseKind::Experiment)) => ("! ", YELLOW),
        (true, Some(CauseKind::Repeated)) => ("? ", YELLOW),
        (true, _) => ("✗ ", RED),
        (false, _) => ("~ ", MAGENTA),
    }
}
