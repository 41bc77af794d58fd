//! The stream of events, for those who look on.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::{StreamExt, stream};

use super::problem::Problem;
use super::server::Server;
use crate::http_server::{EVENT_STREAM, accepts, stream_response};

/// After how long without an event a comment is sent to keep the connection open.
const QUIET: Duration = Duration::from_secs(15);

/// `GET /api/test/events`.
pub(super) async fn events(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    accepts(&headers, &[EVENT_STREAM])?;
    let events = &server.events;
    let last = headers.get("last-event-id");
    let last = last.map(|it| it.to_str().unwrap_or_default());
    let (oldest, end) = events.ends();
    let (begin, first) = match last {
        None => (end, ": listening\n\n".to_owned()),
        Some(id) => match events.behind(id) {
            Some(next) => (next, ": listening\n\n".to_owned()),
            // What came behind it is lost in part, so whoever asks has to look anew.
            None => (oldest, "event: reset\ndata: {}\n\n".to_owned()),
        },
    };
    let news = events.news();
    let done = server.done.clone();
    let watched = Arc::clone(&server);
    let rest = stream::unfold((watched, news, begin), async |(server, mut news, at)| {
        let (piece, behind) = loop {
            news.borrow_and_update();
            let (piece, behind) = server.events.from(at);
            if !piece.is_empty() {
                break (piece, behind);
            }
            match tokio::time::timeout(QUIET, news.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => break (": still there\n\n".to_owned(), behind),
            }
        };
        Some((piece, (server, news, behind)))
    });
    // What runs to its end within the grace is told, too.
    let idle = async move {
        done.cancelled().await;
        server.idle().await;
    };
    let pieces = stream::iter([first]).chain(rest).take_until(Box::pin(idle));
    let pieces = pieces.map(|it| Ok::<_, std::convert::Infallible>(Bytes::from(it)));
    Ok(stream_response(Body::from_stream(pieces)))
}
