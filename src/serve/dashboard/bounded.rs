//! Nothing that a page waits for takes longer than somebody does.

use std::time::Duration;

use crate::redact;
use crate::store::database::DatabaseError;

/// How long a page waits for what it shows.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the database answers.
///
/// # Errors
///
/// Why it does not, in a sentence.
pub(super) async fn answered<T>(
    asked: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(redact::environment().text(&error.to_string()).into_inner()),
        Err(_) => Err(format!(
            "The results database has not answered within {} seconds.",
            PATIENCE.as_secs()
        )),
    }
}

/// What comes of work on files.
///
/// # Errors
///
/// That it took too long, in a sentence; it goes on without anybody waiting.
pub(super) async fn read<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(_)) => Err("Reading files failed: this is a bug.".to_owned()),
        Err(_) => Err(format!(
            "The files could not be read within {} seconds.",
            PATIENCE.as_secs()
        )),
    }
}
