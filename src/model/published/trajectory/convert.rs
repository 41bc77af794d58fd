//! Between the inner types and the published ones.

use std::borrow::Cow;

use crate::catalogue::Catalogue;
use crate::trajectory::Trajectory;

use super::{FORMAT_VERSION, ScenarioRef, TrajectoryDocument};

impl<'a> From<&'a Trajectory> for TrajectoryDocument<'a> {
    fn from(it: &'a Trajectory) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            scenario: ScenarioRef {
                id: it.scenario.clone(),
                name: it.name.clone(),
                hash: it.scenario_hash.clone(),
            },
            stamp: Cow::Borrowed(&it.stamp),
            ending: Cow::Borrowed(&it.ending),
            duration_ms: it.duration_ms,
            steps: Cow::Borrowed(&it.steps),
            requests: Cow::Borrowed(&it.requests),
            volatile: Vec::new(),
            learned: it.learned.clone(),
            bindings: Cow::Borrowed(&it.bindings),
            repeated: it.repeated,
            catalogue: Cow::Borrowed(&it.catalogue),
            agent_tools: it.catalogue.own.clone(),
            upstream: it.upstream.as_deref().map(Cow::Borrowed),
        }
    }
}

impl From<TrajectoryDocument<'_>> for Trajectory {
    fn from(it: TrajectoryDocument<'_>) -> Self {
        Self {
            scenario: it.scenario.id,
            name: it.scenario.name,
            scenario_hash: it.scenario.hash,
            stamp: it.stamp.into_owned(),
            ending: it.ending.into_owned(),
            duration_ms: it.duration_ms,
            steps: it.steps.into_owned(),
            requests: it.requests.into_owned(),
            learned: (it.volatile.into_iter().map(Into::into))
                .chain(it.learned)
                .collect(),
            bindings: it.bindings.into_owned(),
            repeated: it.repeated,
            catalogue: Catalogue {
                own: it.agent_tools,
                ..it.catalogue.into_owned()
            },
            upstream: it.upstream.map(|it| Box::new(it.into_owned())),
            as_said: None,
        }
    }
}
