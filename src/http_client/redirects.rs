//! Where a server sends its clients instead: on its own origin they follow, to any other place they do not.
//!
//! Many a server answers `/mcp` with 307 and `/mcp/`, or the other way round. The same method with the same body on the same origin asks
//! the same server; anything else would hand requests, and headers with keys, to somebody the scenario does not name.

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{StatusCode, Url};

/// How often a request follows.
const MOST: usize = 5;

/// A redirection that is not followed.
#[derive(Debug, thiserror::Error)]
#[error("HTTP {status} leads to {target}, and is not followed: {why}")]
struct NotFollowed {
    status: StatusCode,
    target: String,
    why: &'static str,
}

/// Follows 307 and 308 on the same origin, and refuses the rest.
pub(super) fn policy() -> Policy {
    Policy::custom(decide)
}

fn decide(attempt: Attempt<'_>) -> Action {
    let (status, target, before) = (attempt.status(), attempt.url(), attempt.previous());
    let keeps_request = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let is_same = before
        .first()
        .is_none_or(|it| it.origin() == target.origin());
    let why = if !is_same {
        "that is another server"
    } else if !keeps_request {
        "only 307 and 308 keep what is asked"
    } else if before.len() > MOST {
        "it is one of too many"
    } else {
        return attempt.follow();
    };
    let target = shown(target);
    attempt.error(NotFollowed {
        status,
        target,
        why,
    })
}

/// An address without what may be secret in it: its parameters, and whom it asks as.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fail for addresses that hold no such thing.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
