//! The mock over standard streams: one JSON message a line.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::lines::{Line, Lines};
use crate::mock::exchange::Delivery;
use crate::mock::receive::{Outgoing, Received};
use crate::mock::service::{Ended, Service};
use crate::mock::wire::{self, INVALID_REQUEST, Id};

/// How long answers under way are waited for once the client has closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Answers messages from `input` on `output` until the input ends.
pub(super) async fn serve(
    service: Arc<Service>,
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    longest_line: usize,
) -> io::Result<Ended> {
    match converse(&service, input, &mut output, longest_line).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Ended::Closed),
        other => other,
    }
}

async fn converse(
    service: &Arc<Service>,
    input: impl AsyncRead + Unpin,
    output: &mut (impl AsyncWrite + Unpin),
    longest_line: usize,
) -> io::Result<Ended> {
    let session = service.open("stdio");
    let mut lines = Lines::new(input, longest_line);
    let (out, mut outgoing) = mpsc::channel(64);
    loop {
        let delivery = tokio::select! {
            line = lines.next() => match line? {
                None => break,
                Some(Line::TooLong) => {
                    let message = format!("the message is longer than {longest_line} bytes");
                    let error = wire::error(INVALID_REQUEST, &message);
                    Delivery::Messages(vec![wire::error_reply(&Id::null(), &error)])
                }
                Some(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
                Some(Line::Whole(line)) => match service.receive(&session, &line) {
                    Received::Nothing => continue,
                    Received::Refused(reply) => Delivery::Messages(vec![reply]),
                    Received::Now(delivery) => delivery,
                    Received::Later(running) => {
                        tokio::spawn(running.drive(out.clone()));
                        continue;
                    }
                },
            },
            Some(outgoing) = outgoing.recv() => delivery(outgoing),
            news = session.outbox.next() => Delivery::Messages(vec![news]),
        };
        if let Some(ended) = write(output, delivery).await? {
            return Ok(ended);
        }
    }
    drop(out);
    session.closing.cancel();
    let last_answers = async {
        while let Some(outgoing) = outgoing.recv().await {
            if let Some(ended) = write(output, delivery(outgoing)).await? {
                return Ok(ended);
            }
        }
        Ok(Ended::Closed)
    };
    let ended = tokio::time::timeout(LAST_ANSWERS, last_answers).await;
    service.close("stdio");
    ended.unwrap_or(Ok(Ended::Closed))
}

fn delivery(outgoing: Outgoing) -> Delivery {
    match outgoing {
        Outgoing::Message(message) => Delivery::Messages(vec![message]),
        Outgoing::Last(delivery) => delivery,
    }
}

/// Writes a delivery; returns how the conversation ends if it ends by it.
async fn write(
    output: &mut (impl AsyncWrite + Unpin),
    delivery: Delivery,
) -> io::Result<Option<Ended>> {
    match delivery {
        Delivery::Messages(messages) => {
            for mut message in messages {
                message.push('\n');
                output.write_all(message.as_bytes()).await?;
            }
        }
        Delivery::Refused { reply, .. } => {
            output.write_all(format!("{reply}\n").as_bytes()).await?;
        }
        Delivery::Broken(text) => output.write_all(format!("{text}\n").as_bytes()).await?,
        Delivery::Empty => output.write_all(b"\n").await?,
        Delivery::Status { error, .. } => output.write_all(format!("{error}\n").as_bytes()).await?,
        Delivery::Never => {}
        Delivery::Slow {
            message,
            bytes,
            every,
        } => {
            for chunk in format!("{message}\n").as_bytes().chunks(bytes.max(1)) {
                output.write_all(chunk).await?;
                output.flush().await?;
                tokio::time::sleep(every).await;
            }
        }
        Delivery::Cut(text) => {
            output.write_all(text.as_bytes()).await?;
            output.flush().await?;
            return Ok(Some(Ended::Closed));
        }
        Delivery::Exit(code) => return Ok(Some(Ended::Exit(code))),
    }
    output.flush().await?;
    Ok(None)
}
