//! The connections of a server: how many there are, how long they may be silent, and what becomes of those that cannot be taken.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::map_response;
use axum::response::Response;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How many connections may be open at once; further ones wait until one of them ends. Most systems let a process open 1024 files, of which
/// some are needed for other things.
pub(super) const MOST: u16 = 900;

/// How long the headers of a request may take, and the pause before it. An answer under way may take longer. A minute is longer than an agent
/// usually thinks.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// How long nothing is accepted after that has failed.
const PAUSE: Duration = Duration::from_millis(200);

/// Accepts connections until `stop` is cancelled. Of the places that it returns, each is free again once the last answer over its connection is
/// sent.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    stop: &CancellationToken,
    (most, silence): (u16, Duration),
) -> Arc<Semaphore> {
    // What a browser gets is what it is called, whatever it looks like.
    let router = router.layer(map_response(async |mut it: Response| {
        let nosniff = HeaderValue::from_static("nosniff");
        it.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        it
    }));
    let places = Arc::new(Semaphore::new(most.into()));
    // Cancelled by `stop`, and when this is dropped.
    let ending = stop.child_token();
    let _ends = ending.clone().drop_guard();
    let mut is_reported = false;
    loop {
        let accepting = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            it = accepting => it,
            () = stop.cancelled() => return places,
        };
        match accepted {
            Ok((stream, _)) => {
                // Answers are small and each is awaited: gathering them into larger packets costs 40 ms a call.
                let _ = stream.set_nodelay(true);
                let conversing = converse(stream, router.clone(), ending.clone(), silence);
                tokio::spawn(async move {
                    let _place = place;
                    conversing.await;
                });
            }
            Err(error) => {
                if !std::mem::replace(&mut is_reported, true) {
                    let what = "HTTP connections cannot be accepted, and wait";
                    // Nothing can be done where that fails.
                    let _ = writeln!(io::stderr(), "warning: {what}: {error}");
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers what comes over a connection; after `ending`, only what is under way.
async fn converse(stream: TcpStream, router: Router, ending: CancellationToken, silence: Duration) {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    let mut http1 = builder.http1();
    http1.timer(TokioTimer::new()).header_read_timeout(silence);
    let service = TowerToHyperService::new(router);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Fails when the client breaks off, which is all that is to be known of it.
    let _ = tokio::select! {
        served = &mut serving => served,
        () = ending.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use axum::body::Body;
    use axum::extract::State;
    use axum::routing::get;
    use futures_util::{StreamExt, stream};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::Semaphore;
    use tokio_util::sync::CancellationToken;

    use super::accept;

    /// Longer than a connection may be silent.
    const LONG: Duration = Duration::from_millis(800);

    /// Answers in two pieces, where no more than two are answered at once.
    async fn slowly(State(places): State<Arc<Semaphore>>) -> Body {
        let Ok(place) = places.try_acquire_owned() else {
            return Body::from("too many");
        };
        let late = stream::once(async {
            tokio::time::sleep(LONG).await;
            drop(place);
            Ok::<_, std::convert::Infallible>("late")
        });
        Body::from_stream(stream::iter([Ok("soon ")]).chain(late))
    }

    /// Connects, sends this and reads to the end.
    async fn all(address: std::net::SocketAddr, sent: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut read = String::new();
        stream.read_to_string(&mut read).await.unwrap();
        read
    }

    #[tokio::test]
    async fn connections_are_few_and_not_silent_for_long() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let router = Router::new().route("/", get(slowly));
        let router = router.with_state(Arc::new(Semaphore::new(2)));
        let bounds = (2, Duration::from_millis(500));
        let until = stop.clone();
        let serving = tokio::spawn(async move { accept(listener, router, &until, bounds).await });
        assert_eq!(all(address, "").await, "");
        assert_eq!(all(address, "GET / HTTP/1.1\r\nHost: x").await, "");
        // A stream may be silent, and the connection ends behind it.
        let whole = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let answers = futures_util::future::join_all((0..6).map(|_| all(address, whole))).await;
        for answer in answers {
            assert!(
                answer.contains("x-content-type-options: nosniff"),
                "{answer}"
            );
            assert!(
                answer.contains("soon ") && answer.contains("late"),
                "{answer}"
            );
        }
        assert!(
            all(address, "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
                .await
                .contains("nosniff")
        );
        // What is under way when the server ends is answered to its end.
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(whole.as_bytes()).await.unwrap();
            stream.read_u8().await.unwrap();
            open.push(stream);
        }
        stop.cancel();
        let places = serving.await.unwrap();
        for mut stream in open {
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.unwrap();
            assert!(rest.contains("late"), "{rest}");
        }
        let _all = places.acquire_many(2).await.unwrap();
    }
}
