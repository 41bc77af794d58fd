//! Waiting that ends at a deadline.

use tokio::time::Instant;

/// Waits until the deadline, where there is one; `None` when it passed.
pub(super) async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}
