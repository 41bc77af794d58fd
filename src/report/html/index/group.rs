//! The rows of one state together, so that the page is in order without any script.

use crate::report::html::state::State;

use super::row::Row;

/// The scenarios of one state.
pub(super) struct Group<'a> {
    pub(super) state: State,
    pub(super) rows: Vec<Row<'a>>,
    /// Of those that were not run, each reason once.
    pub(super) left_out: Vec<LeftOut<'a>>,
    pub(super) count: usize,
}

/// Scenarios that were not run for one and the same reason.
pub(super) struct LeftOut<'a> {
    pub(super) reason: String,
    pub(super) rows: Vec<Row<'a>>,
}

/// The groups that have any scenario, in order.
pub(super) fn groups(rows: Vec<Row<'_>>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = State::ALL
        .map(|state| Group {
            state,
            rows: Vec::new(),
            left_out: Vec::new(),
            count: 0,
        })
        .into();
    for row in rows {
        let Some(group) = groups.iter_mut().find(|it| it.state == row.state) else {
            continue;
        };
        group.count += 1;
        // What was interrupted may have a page to look at.
        let is_left_out = row.scenario.status.is_left_out() && row.scenario.current.is_none();
        if is_left_out {
            let reason = row.sentence.clone().unwrap_or_default();
            match group.left_out.iter_mut().find(|it| it.reason == reason) {
                Some(known) => known.rows.push(row),
                None => group.left_out.push(LeftOut {
                    reason,
                    rows: vec![row],
                }),
            }
        } else {
            group.rows.push(row);
        }
    }
    groups.retain(|it| it.count > 0);
    groups
}
