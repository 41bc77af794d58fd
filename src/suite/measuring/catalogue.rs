//! The live catalogue, looked at before anything is measured.

use std::time::{Duration, Instant};

use super::asker::Asker;
use crate::discovery::golden::Corpus;
use crate::discovery::search::{LiveTool, Unanswered, drift};
use crate::published::measured::retrieval::Drift;

/// How often a catalogue that is waited for is looked at, and how often it must have been the same.
const PAUSE: Duration = Duration::from_millis(500);
const STEADY: usize = 3;

/// The catalogue, and how it differs from the corpus; `None` where the search has no list of it. One that is waited for is taken as it is
/// when the time is up.
///
/// # Errors
///
/// Why it is not known: the server cannot be asked, or it does not stay the same.
pub(super) async fn looked_at(
    asker: &mut Asker<'_, '_, '_>,
    corpus: &Corpus,
    wait: Option<Duration>,
) -> Result<Option<(Vec<LiveTool>, Drift)>, Unanswered> {
    let Some(wait) = wait else {
        let live = asker.catalogue().await?;
        return Ok(live.map(|it| {
            let drift = drift(corpus, &it);
            (it, drift)
        }));
    };
    let began = Instant::now();
    let mut before: Option<Vec<LiveTool>> = None;
    let mut same = 0;
    let mut reported = String::new();
    loop {
        let state = match asker.catalogue().await {
            // Nothing can be waited for that nobody can look at.
            Ok(None) => Err("there is no list of it".to_owned().into()),
            Err(why) => Err(why),
            Ok(Some(live)) => {
                let drift = drift(corpus, &live);
                same = if before.as_ref() == Some(&live) {
                    same + 1
                } else {
                    1
                };
                before = Some(live.clone());
                if drift.missing.is_empty() && same >= STEADY {
                    return Ok(Some((live, drift)));
                }
                Ok(drift)
            }
        };
        let doing = match &state {
            Err(why) => format!("waiting for the catalogue: {why}"),
            Ok(drift) if drift.missing.is_empty() => {
                "waiting whether the catalogue stays".to_owned()
            }
            Ok(drift) => {
                let all = corpus.tools.len();
                let there = all - drift.missing.len();
                format!("waiting for the catalogue: {there} of {all} tools are there")
            }
        };
        if began.elapsed() + PAUSE > wait {
            return match (state, before) {
                (Ok(drift), Some(live)) if !drift.missing.is_empty() => Ok(Some((live, drift))),
                (Ok(_), _) => Err(format!(
                    "it kept changing, and was not the same for {STEADY} looks within {} s",
                    wait.as_secs_f64()
                )
                .into()),
                (Err(why), _) => Err(why),
            };
        }
        if doing != reported {
            asker.tell(&doing);
            reported = doing;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
