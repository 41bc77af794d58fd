//! The published form of a run that waits for review: a trajectory as a baseline has it, with where it comes from.

use serde::{Deserialize, Serialize};

use super::{TrajectoryDocument, TrajectoryError};
use crate::json;
use crate::model::pending::{Found, Origin, PendingRun};
use crate::model::repeated::Tally;

#[derive(Serialize)]
struct PendingDocument<'a> {
    pending: Pending,
    #[serde(flatten)]
    trajectory: TrajectoryDocument<'a>,
}

/// Where it comes from.
#[derive(Serialize, Deserialize)]
struct Pending {
    /// The id of the run.
    run: String,
    /// The accepted trajectory that it was compared with, the main one being 1.
    variant: usize,
    /// The SHA-256 of that one.
    compared_with: String,
    /// How many of the runs passed that it is one of; absent where it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempts: Option<Tally>,
    /// What evaluators found that cannot look at the run any more; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    found: Vec<Found>,
}

/// The run as JSON text. Whoever reads trajectories reads it as one.
pub fn to_json(pending: &PendingRun) -> String {
    let Origin {
        run,
        variant,
        fingerprint,
        tally,
    } = pending.origin.clone();
    let document = PendingDocument {
        pending: Pending {
            run,
            variant,
            compared_with: fingerprint,
            attempts: tally,
            found: pending.found.to_vec(),
        },
        trajectory: (&*pending.trajectory).into(),
    };
    let mut text = json::pretty(&document);
    text.push('\n');
    text
}

/// Where the run in a text comes from, and what evaluators found that cannot look at it any more: of runs of older versions, nothing.
///
/// # Errors
///
/// A [`TrajectoryError`] where the text does not say so.
pub fn origin(text: &[u8]) -> Result<(Origin, Vec<Found>), TrajectoryError> {
    #[derive(Deserialize)]
    struct Head {
        pending: Option<Pending>,
    }
    let invalid = |why: String| TrajectoryError::Invalid(why);
    let head: Head = serde_json::from_slice(text).map_err(|error| invalid(error.to_string()))?;
    let Some(pending) = head.pending else {
        return Err(invalid("it has no `pending`".to_owned()));
    };
    if pending.variant == 0 {
        return Err(invalid(
            "its `variant` is 0, and variants are counted from 1".to_owned(),
        ));
    }
    let origin = Origin {
        run: pending.run,
        variant: pending.variant,
        fingerprint: pending.compared_with,
        tally: pending.attempts,
    };
    Ok((origin, pending.found))
}
