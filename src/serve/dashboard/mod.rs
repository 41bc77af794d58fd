//! The dashboard, for people with a browser: pages and forms, no API. Whatever it does, it does by the same code as the API.
//!
//! | file | what is there |
//! |---|---|
//! | `visitor` | who is let in, sessions, and what forms must bring |
//! | `reply` | pages with their headers |
//! | `home`, `served` | what runs, broke and waits; the same while it happens |
//! | `runs`, `pending` | pages of results that are stored, and of what waits for review |

mod home;
mod pending;
mod reply;
mod runs;
mod served;
mod visitor;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use super::server::Server;

/// The longest form that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// What the addresses of pages begin with.
const PAGES: &[&str] = &[
    "", "session", "sign-in", "sign-out", "live", "run", "review", "results", "runs", "pending",
    "history",
];

/// Whether an address is that of a page, which knows by itself whom it lets in.
pub(super) fn is_page(path: &str) -> bool {
    let begins = path.split('/').nth(1);
    begins.is_some_and(|it| PAGES.contains(&it))
}

pub(super) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/", get(home::get))
        .route("/session", post(visitor::sign_in).get(visitor::first_page))
        .route("/sign-in/{code}", get(visitor::by_code))
        .route("/sign-out", post(visitor::end).get(visitor::first_page))
        .route("/live", get(home::live))
        .route("/run", post(home::post_run).get(visitor::first_page))
        .route("/review", post(pending::post).get(visitor::first_page))
        .route("/results/{id}", get(runs::result))
        .route("/runs/{run}/{*page}", get(runs::get))
        .route("/pending/{*page}", get(pending::get))
        .route("/history", get(runs::all))
        .route("/history/{*name}", get(runs::of))
        .layer(DefaultBodyLimit::max(LONGEST))
}
