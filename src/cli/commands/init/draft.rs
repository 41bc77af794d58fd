//! Servers are asked what they offer, people what servers do not say, and the scenarios drafted that follow from it. Nothing is written here.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio_util::sync::CancellationToken;

use super::calls::{self, Patience, Plan, WhyNot};
use super::files::is_there;
use super::secrets::without_secrets;
use super::servers::{self, Asked};
use crate::cli::args::{AddedCall, InitArgs};
use crate::cli::paths::file_of_scenario;
use crate::cli::suite::base;
use crate::cli::{Console, Exit, Failure, runtime};
use crate::model::{ServerCatalogue, Tool};
use crate::redact::Redactor;
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::{self, FirstScenario, Options, Scenario};
use crate::store::{Baselines, check_links, check_writable};
use crate::suite::{self, BASELINES, Introduction, Settings};
use crate::{score, text};

/// How often a server is begun anew because of a call that is tried.
const MOST_BEGUN_ANEW: usize = 3;

/// How long a program may take until it can be asked: it may have to be downloaded first.
const START: Duration = Duration::from_secs(60);

/// A program that takes longer than this is given more time in its scenario than others.
const SLOW_START: Duration = Duration::from_secs(10);

/// The scenarios that are to be, and how many servers could not be asked.
pub(super) struct Drafts {
    pub(super) drafts: Vec<Draft>,
    pub(super) exit: Exit,
}

/// The text of a scenario that is to be.
pub(super) struct DraftText {
    pub(super) text: String,
    /// How many tools it has the names of, and no more.
    pub(super) only_named: usize,
    /// The variables that stand for secrets in it, with whether they are set.
    pub(super) variables: Vec<(String, bool)>,
}

/// A scenario that is to be.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) target: PathBuf,
    /// With all that it is given.
    pub(super) server: Server,
    pub(super) plan: Plan,
    /// How many tools the server lists.
    pub(super) tools: usize,
}

impl Draft {
    /// The text of the scenario, for a file in this folder.
    pub(super) fn text(&self, folder: &Path) -> DraftText {
        let written = without_secrets(&self.server);
        let scenario = FirstScenario {
            name: self.name.clone(),
            server: written.server,
            calls: self.plan.written(),
        };
        let (text, only_named) = scenario_file::first_scenario(&scenario, folder);
        DraftText {
            text,
            only_named,
            variables: written.variables,
        }
    }

    /// The scenario of a file with this text, its server with all that it is given.
    pub(super) fn load(&self, path: &Path) -> Result<Scenario, Failure> {
        let (found, mut findings) = scenario_file::find(&[path.to_owned()]);
        let mut loaded = scenario_file::load(&found, &Options::default());
        findings.append(&mut loaded.findings);
        let Some(mut scenario) = loaded.scenarios.pop() else {
            let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
            return Err(Failure::usage(findings.join("\n\n")));
        };
        scenario.servers.retain(|it| it.name != self.server.name);
        scenario.servers.insert(0, self.server.clone());
        Ok(scenario)
    }
}

/// Asks the servers what they offer, and the user where that does not say enough.
///
/// # Errors
///
/// When none of them can be asked, when something is in the way, and when a signal comes.
pub(super) fn drafts(
    asked: Vec<Asked>,
    args: &InitArgs,
    console: Console,
) -> Result<Drafts, Failure> {
    let runtime = runtime::beside(2)?;
    let drafted = runtime.block_on(async {
        let interrupt: CancellationToken = runtime::interruption();
        let drafted = all(asked, args, console);
        let drafted = interrupt.run_until_cancelled(drafted).await;
        drafted.unwrap_or_else(|| {
            Err(Failure {
                exit: Exit::Interrupted,
                ..Failure::incomplete("interrupted: nothing was written")
            })
        })
    });
    // Neither a server that will not let go of its pipes nor a question without an answer may hold us up.
    runtime.shutdown_background();
    drafted
}

async fn all(asked: Vec<Asked>, args: &InitArgs, console: Console) -> Result<Drafts, Failure> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut failures = Vec::new();
    let mut listed: Vec<ServerCatalogue> = Vec::new();
    let mut person = (can_ask(console) && args.calls.is_empty() && !args.allow_effects)
        .then(|| Person::new(console));
    let servers = asked.len();
    for it in asked {
        let taken: Vec<PathBuf> = drafts.iter().map(|it| it.target.clone()).collect();
        let name = it.server.name.clone();
        let patience = Patience::of_one_in(servers);
        match draft(it, (args, &taken, patience), &mut person, &mut listed).await {
            Ok(draft) => drafts.push(draft),
            // Another server may be asked all the same; what the user has typed wrong is wrong for all.
            Err(failure) if failure.exit == Exit::Usage => return Err(failure),
            Err(failure) => failures.push((name, failure)),
        }
    }
    unknown_calls(&args.calls, &listed, !failures.is_empty())?;
    if drafts.is_empty()
        && let Some((_, failure)) = failures.pop()
        && failures.is_empty()
    {
        return Err(failure.hint("nothing was written"));
    }
    let exit = if failures.is_empty() {
        Exit::Passed
    } else {
        Exit::Incomplete
    };
    for (name, failure) in failures {
        console.failure(&failure.hint(format!("no scenario was written for `{name}`")));
    }
    Ok(Drafts { drafts, exit })
}

/// Calls that no server has the tool for.
fn unknown_calls(
    added: &[AddedCall],
    listed: &[ServerCatalogue],
    may_be_elsewhere: bool,
) -> Result<(), Failure> {
    for call in added {
        let is_known = |server: &ServerCatalogue| {
            let mut tools = server.tools.iter();
            tools.any(|it| calls::names(call, server, it))
        };
        if may_be_elsewhere || listed.iter().any(is_known) {
            continue;
        }
        let failure = Failure::usage(format!("--call {}: no server lists such a tool", call.tool));
        let names = listed.iter().flat_map(|it| &it.tools).map(Tool::name);
        return Err(match score::nearest_name(&call.tool, names) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure,
        });
    }
    Ok(())
}

async fn draft(
    asked: Asked,
    (args, taken, mut patience): (&InitArgs, &[PathBuf], Patience),
    person: &mut Option<Person>,
    listed: &mut Vec<ServerCatalogue>,
) -> Result<Draft, Failure> {
    let Asked {
        mut server,
        is_named,
    } = asked;
    let is_program = matches!(server.transport, Transport::Stdio(_));
    let patient = Server {
        connect_timeout: server.connect_timeout.or(is_program.then_some(START)),
        ..server.clone()
    };
    let started = Instant::now();
    let mut session = open(&patient).await?;
    if is_program && started.elapsed() > SLOW_START {
        server.connect_timeout = Some(START * 2);
    }
    // The session knows the server by the name it was begun with.
    let called = server.name.clone();
    let offered = session.catalogue().servers.first();
    let mut offered = offered.cloned().unwrap_or_default();
    if !is_named && let Some(name) = servers::name_of_server(offered.info.as_ref()) {
        server.name.clone_from(&name);
        offered.server = name;
    }
    listed.push(offered.clone());
    let (name, target) = place(&server, args, taken)?;
    if offered.tools.is_empty() {
        return Err(Failure::incomplete(format!(
            "`{}` lists no tools, so there is nothing to call or to compare",
            server.name
        )));
    }
    let mut plan = Plan::guessed(&offered, session.redactor(), args.allow_effects);
    plan.add(&args.calls, &offered, session.redactor())?;
    let mut begun_anew = 0;
    let mut may_follow = true;
    while (plan.try_out(&session, &called, &mut patience, may_follow)).await {
        if !may_follow {
            plan.leave_untried();
            break;
        }
        session.close().await;
        session = open(&patient).await?;
        begun_anew += 1;
        may_follow = begun_anew < MOST_BEGUN_ANEW;
    }
    if plan.made() == 0
        && let Some(person) = person
    {
        let wanted = person.calls(&offered, &plan, session.redactor()).await;
        plan.add(&wanted, &offered, session.redactor())?;
    }
    session.close().await;
    Ok(Draft {
        name,
        target,
        plan,
        tools: offered.tools.len(),
        server,
    })
}

/// Opens a session with a server, by way of a scenario that has nothing else.
async fn open(server: &Server) -> Result<Introduction, Failure> {
    let failed = |error: std::io::Error| {
        Failure::incomplete(format!("temporary files cannot be written: {error}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let draft = Draft {
        name: server.name.clone(),
        target: PathBuf::new(),
        server: server.clone(),
        plan: Plan::default(),
        tools: 0,
    };
    let path = folder.path().join("server.yaml");
    let text = draft.text(folder.path()).text;
    std::fs::write(&path, text).map_err(failed)?;
    let scenario = draft.load(&path)?;
    let settings = Settings { ..base()? };
    let introduced = suite::introduce(&scenario, &settings).await;
    introduced.map_err(Failure::from)
}

/// What the scenario of a server is called and where it goes; nothing may be there.
fn place(
    server: &Server,
    args: &InitArgs,
    taken: &[PathBuf],
) -> Result<(String, PathBuf), Failure> {
    let plain = servers::plain(&server.name);
    let own = match plain.as_str() {
        "" => "server",
        plain => plain,
    };
    let name = args.name.clone().unwrap_or_else(|| own.to_owned());
    let mut number = 1;
    let mut unique = name.clone();
    while taken.contains(&file_of_scenario(&unique)) {
        number += 1;
        unique = format!("{name}-{number}");
    }
    let target = file_of_scenario(&unique);
    let baseline = Baselines::new(BASELINES).path(&unique);
    for path in [&target, &baseline] {
        if path.symlink_metadata().is_ok() {
            return Err(is_there(path));
        }
        check_links(path, path)?;
        check_writable(path)?;
    }
    Ok((unique, target))
}

/// The longest description that is shown, in characters.
const DESCRIPTION: usize = 100;

/// Whether there is somebody to ask.
pub(super) fn can_ask(console: Console) -> bool {
    std::io::stdin().is_terminal() && console.can_draw()
}

/// Somebody who answers.
pub(super) struct Person {
    answers: Lines<BufReader<Stdin>>,
    console: Console,
}

/// What is to become of a tool.
enum Answer {
    Call(AddedCall),
    Skip,
    Stop,
}

impl Person {
    pub(super) fn new(console: Console) -> Self {
        Self {
            answers: BufReader::new(tokio::io::stdin()).lines(),
            console,
        }
    }

    /// Asks of each tool that the plan leaves out whether it is to be called, and with what. Nobody answers any more where the input ends.
    pub(super) async fn calls(
        &mut self,
        server: &ServerCatalogue,
        plan: &Plan,
        redactor: &Redactor,
    ) -> Vec<AddedCall> {
        self.console.note(&format!(
            "No tool of `{}` is called so far ({}). Which are to be? What they do, they do again in every run.\n\
             y: yes · n or Enter: no · {{…}}: with these arguments, as JSON · q: no more",
            server.server,
            plan.reasons()
        ));
        let mut calls = Vec::new();
        for tool in &server.tools {
            let description = tool.description().and_then(|it| it.trim().lines().next());
            let description = redactor.text(description.unwrap_or_default());
            let about = match description.as_str() {
                "" => String::new(),
                words => format!(" – {}", text::shorten(&text::line(words), DESCRIPTION)),
            };
            let planned = plan.calls.iter().find(|it| it.call.tool == tool.name());
            let why_not = planned.and_then(|it| it.why_not.as_ref());
            // That it is not marked is the rule here, and what nobody can guess is in the question.
            let why_not = match why_not {
                None | Some(WhyNot::NotReadOnly | WhyNot::Unguessed(_)) => String::new(),
                Some(why) => format!(" ({})", text::line(&why.to_string())),
            };
            self.console
                .note(&format!("  {}{about}{why_not}", text::line(tool.name())));
            let guess = score::guess_arguments(tool);
            match self.answer(tool.name(), &guess).await {
                Answer::Call(call) => calls.push(call),
                Answer::Skip => {}
                Answer::Stop => break,
            }
        }
        calls
    }

    async fn answer(&mut self, tool: &str, guess: &score::Guess) -> Answer {
        let arguments = Value::Object(guess.arguments.clone());
        loop {
            let offer = if guess.unknown.is_empty() {
                format!("  call it with {arguments}? [y/N/{{…}}/q] ")
            } else {
                format!("  call it? It takes {arguments} [N/{{…}}/q] ")
            };
            self.console.prompt(&offer);
            let Ok(Some(line)) = self.answers.next_line().await else {
                return Answer::Stop;
            };
            let call = |arguments| {
                Answer::Call(AddedCall {
                    tool: tool.to_owned(),
                    arguments: Some(arguments),
                })
            };
            match line.trim() {
                "" | "n" | "N" | "no" => return Answer::Skip,
                "q" | "Q" | "quit" => return Answer::Stop,
                "y" | "Y" | "yes" if guess.unknown.is_empty() => {
                    return call(guess.arguments.clone());
                }
                "y" | "Y" | "yes" => self
                    .console
                    .note("  it needs values for arguments: write them as a JSON object"),
                json => match serde_json::from_str(json) {
                    Ok(Value::Object(arguments)) => return call(arguments),
                    Ok(_) => self.console.note("  that is not a JSON object"),
                    Err(error) => self.console.note(&format!("  that is not JSON: {error}")),
                },
            }
        }
    }
}
