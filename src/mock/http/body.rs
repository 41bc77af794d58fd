//! Bodies of responses: JSON or an event stream, whole or broken as a fault says.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc;

use super::front::Front;
use crate::http_server::event;
use crate::mock::faults::Delivery;
use crate::mock::running::Outgoing;

/// The messages of an exchange as an event stream, to its end.
pub(super) fn events(front: Front, first: Outgoing, rest: mpsc::Receiver<Outgoing>) -> Body {
    let outgoing = stream::iter([first]).chain(stream::unfold(rest, async |mut rest| {
        rest.recv().await.map(|it| (it, rest))
    }));
    Body::from_stream(outgoing.flat_map(move |it| in_events(it, &front)))
}

type Chunks = stream::BoxStream<'static, io::Result<Bytes>>;

/// A delivery as a part of an event stream. The status was sent before, so a fault cannot change it here.
pub(super) fn in_events(outgoing: Outgoing, front: &Front) -> Chunks {
    let delivery = match outgoing {
        Outgoing::Message(message) => return whole(event(&message)).boxed(),
        Outgoing::Last(delivery) => delivery,
    };
    match delivery {
        Delivery::Messages(messages) => {
            whole(messages.iter().map(|it| event(it)).collect()).boxed()
        }
        Delivery::Broken(text) => whole(event(&text)).boxed(),
        Delivery::Empty => whole(event("")).boxed(),
        Delivery::Status { .. } => stream::empty().boxed(),
        Delivery::Exit(code) => {
            front.exit(code);
            stream::pending().boxed()
        }
        Delivery::Never => stream::pending().boxed(),
        Delivery::Slow {
            message,
            bytes,
            every,
        } => slow(event(&message), bytes, every).boxed(),
        Delivery::Cut(text) => cut(format!("event: message\ndata: {text}")).boxed(),
    }
}

/// One piece of a body.
pub(super) fn whole(text: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::iter([Ok(Bytes::from(text))])
}

/// A few bytes at a time.
pub(super) fn slow(
    text: String,
    bytes: usize,
    every: Duration,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let text = Bytes::from(text);
    stream::unfold(text, move |mut text| async move {
        if text.is_empty() {
            return None;
        }
        tokio::time::sleep(every).await;
        let chunk = text.split_to(bytes.clamp(1, text.len()));
        Some((Ok(chunk), text))
    })
}

/// A piece of a body, after which the connection ends.
pub(in crate::mock) fn cut(text: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let pause = async {
        // Without the pause, the connection ends before the piece is sent.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(io::Error::other("the fault that was asked for"))
    };
    whole(text).chain(stream::once(pause))
}

/// An event stream that stays open and sends messages as they occur.
pub(super) fn endless(messages: impl Stream<Item = String> + Send + 'static) -> Body {
    Body::from_stream(messages.map(|it| Ok::<_, Infallible>(event(&it))))
}
