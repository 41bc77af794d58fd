//! The published form of a run that waits for review: a trajectory as a baseline has it, with where it comes from.

use serde::{Deserialize, Serialize};

use super::{TrajectoryDocument, TrajectoryError};
use crate::json;
use crate::{Found, Origin, PendingRun};

#[derive(Serialize)]
struct PendingDocument<'a> {
    pending: Pending,
    #[serde(flatten)]
    trajectory: TrajectoryDocument<'a>,
}

/// Where it comes from.
#[derive(Serialize, Deserialize)]
struct Pending {
    #[serde(flatten)]
    origin: Origin,
    /// What evaluators found that cannot look at the run any more; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    found: Vec<Found>,
}

/// The run as JSON text. Whoever reads trajectories reads it as one.
pub fn to_json(pending: &PendingRun) -> String {
    let document = PendingDocument {
        pending: Pending {
            origin: pending.origin.clone(),
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
    if pending.origin.variant == 0 {
        return Err(invalid(
            "its `variant` is 0, and variants are counted from 1".to_owned(),
        ));
    }
    Ok((pending.origin, pending.found))
}
