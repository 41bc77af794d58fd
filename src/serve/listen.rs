//! The stream of events, for those who look on.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};

use super::{Problem, Server};
use crate::http_server::{EVENT_STREAM, accepts, stream_response};

/// After how long without an event a comment is sent to keep the connection open.
const QUIET: Duration = Duration::from_secs(15);

/// `GET /api/test/events`.
pub(super) async fn events(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    accepts(&headers, &[EVENT_STREAM])?;
    let since = last_event_id(&headers).map_or(Since::Now, Since::Event);
    let pieces = event_stream(&server, since);
    let pieces = pieces.map(|it| Ok::<_, std::convert::Infallible>(Bytes::from(it)));
    Ok(stream_response(Body::from_stream(pieces)))
}

/// The id of the event that a client has received last.
pub(super) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    let last = headers.get("last-event-id")?;
    Some(last.to_str().unwrap_or_default())
}

/// From when on events are sent.
#[derive(Clone, Copy)]
pub(super) enum Since<'a> {
    Now,
    /// All that are kept.
    Ever,
    /// Behind the one of this id.
    Event(&'a str),
}

/// The events, until the server has ended.
pub(super) fn event_stream(
    server: &Arc<Server>,
    since: Since<'_>,
) -> impl Stream<Item = String> + use<> {
    let events = &server.events;
    let (oldest, end) = events.ends();
    let (begin, first) = match since {
        Since::Now => (end, ": listening\n\n".to_owned()),
        Since::Ever => (oldest, ": listening\n\n".to_owned()),
        Since::Event(id) => match events.behind(id) {
            Some(next) => (next, ": listening\n\n".to_owned()),
            // What came behind it is lost in part, so whoever asks has to look anew.
            None => (oldest, "event: reset\ndata: {}\n\n".to_owned()),
        },
    };
    let news = events.news();
    let watched = Arc::clone(server);
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
    // What runs to its end within the grace is reported, too.
    let idle = idle(server);
    stream::iter([first]).chain(rest).take_until(Box::pin(idle))
}

/// Is over when the server ends and nothing runs any more.
pub(super) fn idle(server: &Arc<Server>) -> impl Future<Output = ()> + use<> {
    let server = Arc::clone(server);
    async move {
        server.done.cancelled().await;
        server.idle().await;
    }
}
