//! The dashboard, for people with a browser: pages and forms, no API. Whatever it does, it does by the same code as the API.
//!
//! | file | what is there |
//! |---|---|
//! | `visitor` | who is let in, and what forms must bring |
//! | `reply` | pages with their headers |
//! | `sign_in` | sessions begin and end |
//! | `home`, `served`, `latest`, `live` | what runs, broke and waits; the same while it happens |
//! | `run`, `review` | what forms do |
//! | `results`, `runs`, `pending`, `history` | pages of the report |

mod bounded;
mod history;
mod home;
mod latest;
mod live;
mod pending;
mod reply;
mod results;
mod review;
mod run;
mod runs;
mod served;
mod sign_in;
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
        .route("/session", post(sign_in::post).get(sign_in::first_page))
        .route("/sign-in/{code}", get(sign_in::by_code))
        .route("/sign-out", post(sign_in::end).get(sign_in::first_page))
        .route("/live", get(live::get))
        .route("/run", post(run::post).get(sign_in::first_page))
        .route("/review", post(review::post).get(sign_in::first_page))
        .route("/results/{id}", get(results::get))
        .route("/runs/{run}/{*page}", get(runs::get))
        .route("/pending/{*page}", get(pending::get))
        .route("/history", get(history::all))
        .route("/history/{*name}", get(history::of))
        .layer(DefaultBodyLimit::max(LONGEST))
}
