//! Waits until servers have proven that they can be asked: a session that opens, tools that are listed, pages and calls that are
//! answered as expected, and all of that unchanged for a while.

mod expected;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::model::{Catalogue, Object, Outcome, Trouble};
use crate::run::conversation::route;
use crate::run::limits::SetupError;
use crate::run::ports::{Called, Tools, Unlisted};
use crate::scenario_file::servers::{HealthPage, Ready, ReadyCall};
use crate::text::shorten;

pub use self::expected::of_call as answer_holds;

/// The default pauses before asking again, in milliseconds; the last one is repeated.
const PAUSES_MS: [u64; 8] = [2, 5, 10, 20, 40, 80, 120, 200];

/// How often the observer is informed of how long the wait has lasted.
const TICK: Duration = Duration::from_secs(1);

/// After how long a call under way is reported as what is waited for, in place of what the last answer lacked.
const LONG: Duration = Duration::from_millis(500);

/// A rest of time shorter than this counts as over.
const SHORT: Duration = Duration::from_millis(20);

/// How much of an answer is shown, in characters.
const SHOWN: usize = 400;

/// How many names of tools are shown.
const SHOWN_TOOLS: usize = 30;

/// Makes sure that a server is ready in a session which an agent will use by itself.
pub trait SessionCheck: Send + Sync {
    /// Waits until what must hold of this server does. `tools` speaks in the session that will be used.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    fn check(
        &self,
        server: &str,
        tools: Box<dyn Tools>,
    ) -> BoxFuture<'static, Result<(), SetupError>>;
}

/// What is being waited for, for the observer during the wait and for the message when it fails.
pub struct Waiting<'a> {
    asks: &'a dyn Asks,
    begun: Instant,
    deadline: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    what: String,
    /// The tool that is being asked, and since when.
    asking: Option<(String, Instant)>,
    /// The last answer or listing, where that explains more than `what`.
    observed: Vec<String>,
    rounds: usize,
    /// All that is missing are tools that are listed under other names.
    is_renamed: bool,
}

impl<'a> Waiting<'a> {
    /// Begins to wait, at most as long as `ready` says.
    pub fn new(ready: &Ready, asks: &'a dyn Asks) -> Self {
        let begun = Instant::now();
        Self {
            asks,
            begun,
            deadline: begun + ready.timeout,
            state: Mutex::default(),
        }
    }

    /// When the wait is given up.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Sets what is waited for from now on.
    pub fn for_(&self, what: &str) {
        self.for_more(what, Vec::new());
    }

    /// What is waited for.
    pub fn what(&self) -> String {
        let state = self.state.lock();
        match &state.asking {
            Some((tool, since)) if since.elapsed() >= LONG => format!("an answer of `{tool}`"),
            _ => state.what.clone(),
        }
    }

    /// Whether all that was waited for in vain are tools that are listed under other names: that is what a run shows.
    pub fn is_for_renamed(&self) -> bool {
        self.state.lock().is_renamed
    }

    /// Details of a wait that failed: the last answer or listing, and how often was asked.
    pub fn observed(&self) -> Vec<String> {
        let state = self.state.lock();
        let times = match state.rounds {
            0 | 1 => None,
            many => Some(format!("asked {many} times")),
        };
        state.observed.iter().cloned().chain(times).collect()
    }

    fn for_more(&self, what: &str, observed: Vec<String>) {
        // A request that the deadline cuts short fails for that reason alone, so what was missing before is kept.
        if self.left() < SHORT && !self.state.lock().what.is_empty() {
            return;
        }
        let what = self.asks.clean(what);
        self.asks.waiting(&what, self.begun.elapsed());
        let mut state = self.state.lock();
        state.what = what;
        if !observed.is_empty() {
            state.observed = observed;
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Reports at intervals that the wait goes on. Never ends.
    async fn tick(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            let what = self.what();
            self.asks.waiting(&what, self.begun.elapsed());
        }
    }
}

/// Waits until servers are ready, at most as long as `ready` says. `who` names them.
///
/// # Errors
///
/// When they are not ready in time, or never will be; with what was waited for and what was observed last.
pub async fn wait(ready: &Ready, who: &str, asks: &dyn Asks) -> Result<(), SetupError> {
    let waiting = Waiting::new(ready, asks);
    let proven = tokio::time::timeout_at(waiting.deadline(), prove(ready, &waiting));
    proven.await.unwrap_or_else(|_| {
        if waiting.is_for_renamed() {
            return Ok(());
        }
        Err(SetupError {
            message: format!(
                "{who} did not get ready within {:?}: still waiting for {} (`ready.timeout` changes how long)",
                ready.timeout,
                waiting.what()
            ),
            details: waiting.observed(),
            trouble: Some(Trouble::Transport),
        })
    })
}

/// Asks again and again until all that must hold does, and has for long enough. Sets no time limit itself.
///
/// # Errors
///
/// When it never will hold.
pub async fn prove(ready: &Ready, waiting: &Waiting<'_>) -> Result<(), SetupError> {
    tokio::select! {
        proven = ask_until_ready(ready, waiting) => proven,
        () = waiting.tick() => Ok(()),
    }
}

async fn ask_until_ready(ready: &Ready, waiting: &Waiting<'_>) -> Result<(), SetupError> {
    waiting.for_("an answer to MCP `initialize`");
    let mut settling = Settling::default();
    let mut pauses = pauses(ready.interval);
    loop {
        waiting.state.lock().rounds += 1;
        match round(ready, waiting).await? {
            None => settling = Settling::default(),
            Some((catalogue, answers)) => {
                let (is_same, change) = settling.observe(catalogue, answers, waiting.asks);
                if is_same >= ready.settle {
                    return Ok(());
                }
                let what = settling.words();
                let change = change.map_or_else(String::new, |it| format!(" ({it})"));
                waiting.for_(&format!(
                    "{what} to stay the same for {:?}{change}",
                    ready.settle
                ));
            }
        }
        tokio::time::sleep(pauses.next().unwrap_or(TICK)).await;
    }
}

/// Asks for everything once. `None`, after saying what is missing, when something is.
async fn round(
    ready: &Ready,
    waiting: &Waiting<'_>,
) -> Result<Option<(Catalogue, Vec<Outcome>)>, SetupError> {
    for page in &ready.http {
        if let Err(missing) = page_holds(page, waiting).await {
            waiting.for_more(&missing.what, missing.observed);
            return Ok(None);
        }
    }
    let tools = match waiting.asks.open(waiting.left()).await {
        Ok(tools) => tools,
        Err(Unlisted::Lost(problem)) => return Err(problem),
        Err(Unlisted::NotYet(why)) => {
            waiting.for_(&format!("an answer to MCP `initialize` ({why})"));
            return Ok(None);
        }
    };
    let answers = ask(ready, tools.as_ref(), waiting).await;
    let catalogue = tools.catalogue().clone();
    tools.close().await;
    match answers {
        Ok(answers) => Ok(Some((catalogue, answers))),
        Err(Unready::Lost(problem)) => Err(problem),
        Err(Unready::NotYet(missing)) => {
            waiting.for_more(&missing.what, missing.observed);
            Ok(None)
        }
    }
}

/// Something that does not hold yet.
struct Missing {
    what: String,
    observed: Vec<String>,
}

enum Unready {
    NotYet(Missing),
    Lost(SetupError),
}

async fn page_holds(page: &HealthPage, waiting: &Waiting<'_>) -> Result<(), Missing> {
    let asks = waiting.asks;
    let answer = asks.page(page, waiting.left()).await;
    let missing = |what: String| Missing {
        what,
        observed: Vec::new(),
    };
    let answer = answer.map_err(|why| missing(format!("a page ({why})")))?;
    let url = &answer.url;
    let observed = vec![format!("its last answer: {}", shown(&answer.body, asks))];
    if answer.status != page.status {
        let (is, wanted) = (answer.status, page.status);
        let what = format!("{url}: HTTP {is}, and {wanted} is expected");
        return Err(Missing { what, observed });
    }
    expected::of_page(&page.expect, &answer.body).map_err(|why| Missing {
        what: format!("{url}: {why}"),
        observed,
    })
}

/// Looks for the tools and makes the calls, in order, up to the first that is not answered as expected.
async fn ask(
    ready: &Ready,
    tools: &dyn Tools,
    waiting: &Waiting<'_>,
) -> Result<Vec<Outcome>, Unready> {
    let catalogue = tools.catalogue();
    let not_yet = |what: String, observed| Unready::NotYet(Missing { what, observed });
    let lacking = lacking(ready, catalogue);
    if !lacking.is_empty() {
        let renamed = |it: &&str| waiting.asks.is_renamed(it, catalogue);
        waiting.state.lock().is_renamed = lacking.iter().all(renamed);
        let have = ready.tools.len() - lacking.len();
        let near = |it: &&str| {
            let near = waiting.asks.nearest(it, catalogue)?;
            Some(format!("nearest to `{it}`: `{near}`"))
        };
        let near = lacking.iter().filter_map(near);
        return Err(not_yet(
            format!(
                "tools {have}/{}, missing `{}`",
                ready.tools.len(),
                lacking.join("`, `")
            ),
            near.chain([listed(catalogue)]).collect(),
        ));
    }
    waiting.state.lock().is_renamed = false;
    let count: usize = catalogue.servers.iter().map(|it| it.tools.len()).sum();
    let least = ready.min_tools;
    if count < least {
        let what = format!("tools {count}/{least}");
        return Err(not_yet(what, vec![listed(catalogue)]));
    }
    let mut answers = Vec::new();
    for call in &ready.calls {
        let (server, tool) = routed(call, catalogue)
            .map_err(|why| not_yet(format!("`{}`: {why}", call.tool), vec![listed(catalogue)]))?;
        waiting.state.lock().asking = Some((tool.clone(), Instant::now()));
        let called = tools.call(&server, &tool, &call.args).await;
        waiting.state.lock().asking = None;
        let Called { outcome, lost } = called;
        if let Some(mut lost) = lost {
            lost.message = format!("{} when it was asked whether it is ready", lost.message);
            return Err(Unready::Lost(lost));
        }
        if let Err(why) = expected::of_call(&call.expect, &outcome) {
            let mut observed = Vec::new();
            if let Outcome::Answer(answer) = &outcome {
                let message = expected::message(answer);
                observed.push(format!(
                    "its last answer: {}",
                    shown(&message, waiting.asks)
                ));
            }
            let is_listed = catalogue.tool(&server, &tool).is_some();
            observed.extend((!is_listed).then(|| listed(catalogue)));
            return Err(not_yet(format!("`{tool}`: {why}"), observed));
        }
        answers.push(outcome);
    }
    Ok(answers)
}

/// Which server a call goes to, and the bare name of its tool.
fn routed(call: &ReadyCall, catalogue: &Catalogue) -> Result<(String, String), String> {
    match &call.server {
        Some(server) if !call.tool.starts_with("mcp__") => {
            route(catalogue, &format!("mcp__{server}__{}", call.tool))
        }
        _ => route(catalogue, &call.tool),
    }
}

/// The tools that must be listed and are not.
fn lacking<'r>(ready: &'r Ready, catalogue: &Catalogue) -> Vec<&'r str> {
    let wanted = ready.tools.iter().map(String::as_str);
    wanted.filter(|it| !catalogue.offers(it)).collect()
}

/// The tools that are listed, for a message about those that are not.
fn listed(catalogue: &Catalogue) -> String {
    let tools = catalogue.servers.iter().flat_map(|it| &it.tools);
    let names: Vec<&str> = tools.map(model::Tool::name).collect();
    let more = match names.len().checked_sub(SHOWN_TOOLS) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    let shown: Vec<&str> = names.iter().take(SHOWN_TOOLS).copied().collect();
    match shown.as_slice() {
        [] => "no tools are listed".to_owned(),
        shown => format!("listed are `{}`{more}", shown.join("`, `")),
    }
}

/// An answer as a message shows it. Secrets are removed before it is shortened, because a part of a secret would not be recognised.
fn shown(text: &str, asks: &dyn Asks) -> String {
    let clean = asks.clean(text.trim());
    if clean.is_empty() {
        return "nothing".to_owned();
    }
    shorten(&clean, SHOWN).into_owned()
}

/// How long to wait after each round.
pub fn pauses(interval: Option<Duration>) -> impl Iterator<Item = Duration> {
    let last = PAUSES_MS[PAUSES_MS.len() - 1];
    let growing = PAUSES_MS.into_iter().chain(std::iter::repeat(last));
    growing.map(move |it| interval.unwrap_or(Duration::from_millis(it)))
}

/// How servers are asked whether they are ready.
pub trait Asks: Send + Sync {
    /// Opens the sessions, or takes those that the run will use, and lists the tools anew, all within `limit`.
    fn open(&self, limit: Duration) -> BoxFuture<'_, Result<Box<dyn Tools>, Unlisted>>;

    /// Asks for a page.
    ///
    /// # Errors
    ///
    /// Why there is no answer yet, in a fragment that can stand in brackets.
    fn page<'a>(
        &'a self,
        page: &'a HealthPage,
        limit: Duration,
    ) -> BoxFuture<'a, Result<PageAnswer, String>>;

    /// Whether two answers to one request say the same, apart from what varies by nature.
    fn is_same(&self, before: &Outcome, after: &Outcome) -> bool;

    /// Whether a tool that is not listed is, by what was accepted, listed under another name.
    fn is_renamed(&self, _tool: &str, _listed: &Catalogue) -> bool {
        false
    }

    /// The name among those listed that is most like that of a tool which is not.
    fn nearest(&self, _tool: &str, _listed: &Catalogue) -> Option<String> {
        None
    }

    /// The text without secrets.
    fn clean(&self, text: &str) -> String;

    /// Reports what is being waited for, and for how long so far.
    fn waiting(&self, what: &str, elapsed: Duration);
}

/// What a page answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAnswer {
    /// Its whole address.
    pub url: String,
    pub status: u16,
    pub body: String,
}

/// What was observed, and since when it has been the same.
#[derive(Default)]
struct Settling {
    seen: Option<(Seen, Instant)>,
}

struct Seen {
    /// All that is said of each tool, by server and name, so that their order does not matter.
    tools: BTreeMap<(String, String), Vec<Object>>,
    answers: Vec<Outcome>,
}

impl Settling {
    /// Records what was observed now. Returns for how long it has been the same, and what has changed if it is not.
    fn observe(
        &mut self,
        catalogue: Catalogue,
        answers: Vec<Outcome>,
        asks: &dyn Asks,
    ) -> (Duration, Option<String>) {
        let mut tools: BTreeMap<_, Vec<Object>> = BTreeMap::new();
        for server in catalogue.servers {
            for tool in server.tools {
                let name = (server.server.clone(), tool.name().to_owned());
                tools.entry(name).or_default().push(tool.served);
            }
        }
        let now = Seen { tools, answers };
        let (change, since) = match &self.seen {
            Some((before, since)) => match change(before, &now, asks) {
                // Compared with what was observed first, so that a series of small changes is noticed.
                None => return (since.elapsed(), None),
                change => (change, Instant::now()),
            },
            None => (None, Instant::now()),
        };
        self.seen = Some((now, since));
        (Duration::ZERO, change)
    }

    /// What has to stay the same, in words.
    fn words(&self) -> String {
        let Some((seen, _)) = &self.seen else {
            return "everything".to_owned();
        };
        let count = |count: usize, noun: &str| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {noun}{plural}")
        };
        let tools = count(seen.tools.values().map(Vec::len).sum(), "tool");
        match seen.answers.len() {
            0 => tools,
            answers => format!("{tools} and {}", count(answers, "answer")),
        }
    }
}

/// What has changed, in words; `None` where nothing has.
fn change(before: &Seen, now: &Seen, asks: &dyn Asks) -> Option<String> {
    let new = now.tools.keys().find(|it| !before.tools.contains_key(it));
    if let Some((_, tool)) = new {
        return Some(format!("`{tool}` has been added"));
    }
    let gone = before.tools.keys().find(|it| !now.tools.contains_key(it));
    if let Some((_, tool)) = gone {
        return Some(format!("`{tool}` is gone"));
    }
    let mut same = before.tools.iter().zip(now.tools.values());
    if let Some(((name, _), _)) = same.find(|((_, before), now)| before != now) {
        return Some(format!("what is said of `{}` has changed", name.1));
    }
    let mut answers = before.answers.iter().zip(&now.answers).enumerate();
    let (index, _) = answers.find(|(_, (before, now))| !asks.is_same(before, now))?;
    Some(format!("the answer to call {} has changed", index + 1))
}
