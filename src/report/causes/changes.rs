//! What changed without being named by the verdict: a cause of its own, unless one is known that it follows from.

use model::published::result::{CauseCall, CauseKind, Change, ChangeKind};

use super::draft::What;
use super::ended;
use super::gather::{Gather, NotMade};
use super::of_change::calls_of;

/// How many further places of one answer have a cause each; more than that are told beneath the first.
const PLACES: usize = 4;

impl Gather<'_> {
    /// A change that no cause is about yet.
    pub(super) fn change(&mut self, index: usize, change: &Change) {
        if self.context.is_new_name(change) {
            return;
        }
        let call = calls_of(change);
        if change.kind == ChangeKind::Call && self.is_by_end(change) {
            return;
        }
        let is_of_call = call.baseline.or(call.current).is_some();
        let refused = CauseCall::new(call.baseline, None);
        let is_covered = self.covered.contains(&call) || self.covered.contains(&refused);
        let is_tolerated = !change.fails
            && matches!(
                change.kind,
                ChangeKind::Addition | ChangeKind::Slower | ChangeKind::Upstream
            );
        let is_told = match change.kind {
            ChangeKind::Drift => self.found.drafts().iter().any(|it| {
                it.kind == CauseKind::Drift
                    && (it.was.is_some() || it.now.is_some())
                    && (&it.was, &it.now) == (&change.was, &change.now)
                    && (change.fails
                        || matches!(&it.what, What::Said(said) if *said == change.what.to_string()))
            }) || (change.fails
                && self
                    .found
                    .drafts()
                    .iter()
                    .any(|it| it.kind == CauseKind::Drift)),
            ChangeKind::Tokens => self
                .found
                .drafts()
                .iter()
                .any(|it| it.kind == CauseKind::Tokens),
            ChangeKind::Call if call.baseline.is_none() => is_covered || self.is_renamed(change),
            _ => is_of_call && is_covered && !is_tolerated && !self.is_another_place(change),
        };
        if is_told {
            return;
        }
        let row = self.row(change.baseline, change.current);
        // What a server answers to another question follows from that.
        let is_answer = matches!(
            change.kind,
            ChangeKind::Answer | ChangeKind::Addition | ChangeKind::Error
        );
        let mut draft = self.context.of_change(change, row);
        draft.fails = change.fails && !self.context.scenario.status.is_fine();
        if let Some(at) = self.followed(change) {
            self.put_beneath(at, change, draft, vec![call]);
            self.told.insert(index, at);
            return;
        }
        if let Some(at) = self.by_script(&draft, call) {
            let asks = |it: &&Change| {
                let kinds = [ChangeKind::Call, ChangeKind::Request, ChangeKind::Effect];
                calls_of(it) == call && kinds.contains(&it.kind)
            };
            let is_only = self.context.scenario.changes().iter().filter(asks).count() == 1;
            // Where this is all that the call asks otherwise, the cause says it.
            let is_said = !is_answer && is_only && self.of_script(call) == Some((at, true));
            let cause = &mut self.found.drafts_mut()[at];
            cause.fails |= draft.fails;
            cause.tool = cause.tool.take().or(draft.tool.clone());
            cause.add_calls([call]);
            if !is_said {
                cause.add_follows([draft.finish().text]);
            }
            return;
        }
        if is_covered && self.is_another_place(change) {
            let more = self.more_places.entry(call).or_default();
            *more += 1;
            let mut found = self.found.drafts_mut().iter_mut();
            let cause = found.find(|it| it.places.iter().any(|it| it.calls.contains(&call)));
            if let Some(cause) = cause.filter(|_| *more > PLACES) {
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        if is_answer && self.context.asked_otherwise.contains(&call) {
            let cause = self.found.drafts_mut().iter_mut().find(|it| {
                matches!(it.kind, CauseKind::Request | CauseKind::Effect)
                    && it.places.iter().any(|it| it.calls.contains(&call))
            });
            if let Some(cause) = cause {
                cause.fails |= draft.fails;
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        let at = self.found.add(draft);
        self.told.insert(index, at);
    }

    /// Notes a call that the run did not come to; whether it is one.
    fn is_by_end(&mut self, change: &Change) -> bool {
        let call = ended::not_made(change);
        if !self.ended.as_ref().is_some_and(|it| it.is_before(call)) {
            return false;
        }
        if !self.covered.contains(&call) {
            let asked = change.was.clone().or_else(|| change.tool_name());
            self.not_made.push(NotMade {
                call,
                said: ended::sentence(&asked.unwrap_or_default()),
                fails: change.fails && !self.context.scenario.status.is_fine(),
            });
        }
        true
    }

    /// Whether a change is of another place of an answer than the cause that is about its call: a place that fails is never left untold.
    fn is_another_place(&self, change: &Change) -> bool {
        let told = self.answered.get(&calls_of(change));
        change.kind == ChangeKind::Answer
            && change.fails
            && told.is_some_and(|it| *it != change.path)
    }

    /// Whether a new call is of a tool that a cause names as what another has become.
    fn is_renamed(&self, change: &Change) -> bool {
        let Some(tool) = &change.tool else {
            return false;
        };
        let drifts = self
            .found
            .drafts()
            .iter()
            .filter(|it| it.kind == CauseKind::Drift);
        let mut said = drifts.filter_map(|it| match &it.what {
            What::Said(said) | What::Whole(said) => Some(said),
            What::Failed(_) | What::Place(_) => None,
        });
        said.any(|said| {
            let mut named = said.split('`').skip(1).step_by(2);
            named.any(|it| !it.is_empty() && tool.ends_with(&format!("__{it}")))
        })
    }
}
