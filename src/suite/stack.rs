//! The stack of what was set up for a run, which is torn down in reverse, whatever came of the run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::mcp::OnProgress;

/// How long a step may take to end where it has no limits of its own. What it has started is killed after that.
const LIMIT: Duration = Duration::from_secs(30);

/// What somebody has written, with the name of whoever wrote it.
pub(crate) type Log = (String, String);

/// A step of the set-up that stands until it is torn down. Dropping it kills whatever it has started.
pub(crate) trait Running: Send + Sync {
    /// What it has set up, as "ending …" names it.
    fn name(&self) -> &'static str;

    /// How long it may take to end; `None` where each part of it has a limit and a name of its own, or nothing ends with the run.
    fn limit(&self) -> Option<Duration> {
        Some(LIMIT)
    }

    /// Whether it is torn down even when the program is asked to stop, and not just killed.
    fn ends_in_order(&self) -> bool {
        false
    }

    /// What it has written since the run began, where it writes anything.
    fn logs(&self, _begun: Timestamp) -> BoxFuture<'_, Vec<Log>> {
        async { Vec::new() }.boxed()
    }

    /// Ends it, where it is to end with the run. Returns what a reader should know of that.
    fn tear_down<'a>(&'a self, _tell: OnProgress<'a>) -> BoxFuture<'a, Vec<String>> {
        async { Vec::new() }.boxed()
    }
}

/// What was set up for one run so far, the latest last.
#[derive(Default)]
pub(crate) struct Stack(Vec<Arc<dyn Running>>);

/// What is known once everything was torn down.
#[derive(Debug, Default)]
pub(crate) struct TornDown {
    /// What went wrong, and what a reader should know besides.
    pub(crate) notes: Vec<String>,
    /// What was written during the run, and at its end.
    pub(crate) logs: Vec<Log>,
}

impl Stack {
    /// Adds what was set up, to be torn down before everything that was there, and hands it out to those who use it.
    pub(crate) fn push<T: Running + 'static>(&mut self, step: T) -> Arc<T> {
        let step = Arc::new(step);
        self.share(&step);
        step
    }

    /// The same for what others hold, too.
    pub(crate) fn share<T: Running + 'static>(&mut self, step: &Arc<T>) {
        self.0.push(Arc::clone(step) as Arc<dyn Running>);
    }

    /// What was written since the run began.
    pub(crate) async fn logs(&self, begun: Timestamp) -> Vec<Log> {
        let mut logs = Vec::new();
        for step in &self.0 {
            logs.extend(step.logs(begun).await);
        }
        logs
    }

    /// Ends each step, the latest first. In haste, steps are killed, but for those that are to end in order.
    pub(crate) async fn tear_down(
        mut self,
        begun: Timestamp,
        in_haste: bool,
        tell: OnProgress<'_>,
    ) -> TornDown {
        let mut torn = TornDown::default();
        while let Some(step) = self.0.pop() {
            if !in_haste || step.ends_in_order() {
                torn.notes.extend(end(&*step, tell).await);
            }
            let written = step.logs(begun).await;
            torn.logs.splice(0..0, written);
        }
        torn
    }
}

/// Ends a step within its time.
async fn end(step: &dyn Running, tell: OnProgress<'_>) -> Vec<String> {
    let ending = step.tear_down(tell);
    let Some(limit) = step.limit() else {
        return ending.await;
    };
    tell(&format!("ending {}", step.name()));
    let ended = tokio::time::timeout(limit, ending).await;
    ended.unwrap_or_else(|_| {
        let name = step.name();
        vec![format!(
            "{name} did not end within {limit:?}: what was started there was killed"
        )]
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use jiff::Timestamp;
    use parking_lot::Mutex;

    use super::{Log, OnProgress, Running, Stack};

    /// A step that keeps what happens to it.
    struct Step {
        name: &'static str,
        happened: Arc<Mutex<Vec<String>>>,
        hangs: bool,
        ends_in_order: bool,
    }

    impl Running for Step {
        fn name(&self) -> &'static str {
            self.name
        }

        fn limit(&self) -> Option<Duration> {
            self.hangs.then_some(Duration::from_millis(10))
        }

        fn ends_in_order(&self) -> bool {
            self.ends_in_order
        }

        fn logs(&self, _: Timestamp) -> BoxFuture<'_, Vec<Log>> {
            async { vec![(self.name.to_owned(), "a line".to_owned())] }.boxed()
        }

        fn tear_down<'a>(&'a self, _: OnProgress<'a>) -> BoxFuture<'a, Vec<String>> {
            async {
                if self.hangs {
                    std::future::pending::<()>().await;
                }
                self.happened.lock().push(format!("ended {}", self.name));
                vec![format!("of {}", self.name)]
            }
            .boxed()
        }
    }

    impl Drop for Step {
        fn drop(&mut self) {
            self.happened.lock().push(format!("dropped {}", self.name));
        }
    }

    /// What happens to three steps, what is said of it, and whose logs there are.
    async fn torn_down(in_haste: bool) -> [Vec<String>; 3] {
        let happened = Arc::<Mutex<Vec<String>>>::default();
        let mut stack = Stack::default();
        for (name, hangs) in [("commands", false), ("upstreams", true), ("servers", false)] {
            stack.push(Step {
                name,
                happened: Arc::clone(&happened),
                hangs,
                ends_in_order: name == "commands",
            });
        }
        let torn = stack.tear_down(Timestamp::now(), in_haste, &|_| {}).await;
        let logs = torn.logs.into_iter().map(|(name, _)| name).collect();
        let happened = happened.lock().clone();
        [happened, torn.notes, logs]
    }

    #[tokio::test]
    async fn steps_end_in_reverse_and_what_hangs_is_dropped() {
        let [happened, notes, logs] = torn_down(false).await;
        let expected = [
            "ended servers",
            "dropped servers",
            "dropped upstreams",
            "ended commands",
            "dropped commands",
        ];
        assert_eq!(happened, expected);
        let late = "upstreams did not end within 10ms: what was started there was killed";
        assert_eq!(notes, ["of servers", late, "of commands"]);
        assert_eq!(logs, ["commands", "upstreams", "servers"]);
    }

    #[tokio::test]
    async fn in_haste_only_those_end_in_order_that_must() {
        let [happened, notes, logs] = torn_down(true).await;
        let expected = [
            "dropped servers",
            "dropped upstreams",
            "ended commands",
            "dropped commands",
        ];
        assert_eq!(happened, expected);
        assert_eq!(notes, ["of commands"]);
        assert_eq!(logs, ["commands", "upstreams", "servers"]);
    }
}
