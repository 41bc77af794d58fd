//! The output of containers.

use std::collections::VecDeque;

use bollard::query_parameters::LogsOptions;
use futures_util::StreamExt;
use jiff::Timestamp;

use crate::docker::engine::{Engine, EngineError};

/// The most that is kept of a log, in bytes; the oldest output is dropped.
const MOST: usize = 4 * 1024 * 1024;

impl Engine {
    /// What a container has written to its standard streams, since a moment or since its start.
    pub(super) async fn log(
        &self,
        id: &str,
        since: Option<Timestamp>,
    ) -> Result<String, EngineError> {
        let options = LogsOptions {
            stdout: true,
            stderr: true,
            // The engine counts in whole seconds.
            since: since.map_or(0, |it| i32::try_from(it.as_second()).unwrap_or(0)),
            tail: "all".to_owned(),
            ..LogsOptions::default()
        };
        let reading = async {
            let mut kept = VecDeque::new();
            let mut lost = 0;
            let mut log = std::pin::pin!(self.api.logs(id, Some(options)));
            while let Some(piece) = log.next().await {
                let piece = piece?.into_bytes();
                lost += piece.len();
                kept.push_back(piece);
                // Whole pieces are dropped, so that little is copied.
                while lost > MOST && kept.len() > 1 {
                    lost -= kept.pop_front().map_or(0, |it| it.len());
                }
            }
            Ok(kept)
        };
        let kept = self.ask(reading).await?;
        let bytes: Vec<u8> = kept.into_iter().flatten().collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
