//! The rows of one state together, so that the page is in order without any script.

use crate::html::state::State;

use super::row::Row;

/// The scenarios of one state.
pub(super) struct Group<'a> {
    pub(super) state: State,
    pub(super) rows: Vec<Row<'a>>,
    /// Of those that were not run, each reason that several share once.
    pub(super) left_out: Vec<LeftOut<'a>>,
    pub(super) count: usize,
}

/// Several scenarios that were not run for one and the same reason.
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
        if row.scenario.is_left_out() {
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
    for group in &mut groups {
        // Who is alone has a row like all others.
        let alone = group.left_out.extract_if(.., |it| it.rows.len() == 1);
        group.rows.extend(alone.flat_map(|it| it.rows));
    }
    groups.retain(|it| it.count > 0);
    groups
}
