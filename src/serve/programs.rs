//! Effects of a scenario on this machine beyond asking servers: whoever may do that from elsewhere may do everything here, so it
//! is allowed by `--allow-programs` alone.

use std::path::Path;

use super::folder::{Folder, shown};
use super::options::Options;
use crate::input;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind, FileRoot};
use crate::scenario_file::servers::{Server, Transport};
use crate::sql::Database;

/// What a scenario may do besides asking servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permitted {
    /// All of it.
    programs: bool,
    /// Name environment variables that hold its keys, and ask database servers.
    environment: bool,
}

impl Permitted {
    /// To one that lies in the folder that is served: it has its keys from where it has them on the command line.
    pub(super) fn to_served(options: &Options) -> Self {
        Self {
            programs: options.allowed.programs,
            environment: true,
        }
    }

    /// To one that a request brings or writes.
    pub(super) fn to_brought(options: &Options) -> Self {
        Self {
            environment: options.allowed.programs,
            ..Self::to_served(options)
        }
    }
}

/// Refuses a scenario that starts a program or a container, or looks at a file outside of the folder that is served. Of its servers, those
/// were given by whoever started the server.
///
/// # Errors
///
/// What it would start, or look at.
pub(super) fn refuse(
    scenario: &Scenario,
    given: &[Server],
    folder: &Folder<'_>,
    permitted: Permitted,
) -> Result<(), String> {
    match needed(scenario, given, folder, permitted) {
        None => Ok(()),
        Some(what) => Err(format!(
            "{}: {what}, which a request may do only if the server was started with --allow-programs",
            named(scenario, folder)
        )),
    }
}

/// Why a scenario needs to be allowed programs, in the beginning of a sentence; `None` where it needs nothing that is not allowed.
pub(super) fn needed(
    scenario: &Scenario,
    given: &[Server],
    folder: &Folder<'_>,
    permitted: Permitted,
) -> Option<String> {
    if permitted.programs {
        return None;
    }
    first(scenario, given, folder.root(), permitted)
}

/// Refuses to let the agent of a request hear the secret variables of a scenario that is served, which the environment may have given.
///
/// # Errors
///
/// The variable that it would hear.
pub(super) fn refuse_to_tell(
    scenario: &Scenario,
    folder: &Folder<'_>,
    allowed: bool,
) -> Result<(), String> {
    let messages = scenario.messages();
    match first_secret_in(scenario, messages.iter().map(String::as_str)).filter(|_| !allowed) {
        None => Ok(()),
        Some(name) => Err(format!(
            "{}: its agent is given the secret variable `{name}`, which the agent of a request may receive only if the server was started with --allow-programs",
            named(scenario, folder)
        )),
    }
}

/// The first secret variable of a scenario that stands in one of these texts.
pub(super) fn first_secret_in<'a>(
    scenario: &'a Scenario,
    mut texts: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let secrets = &scenario.redaction.secrets;
    let stands = |text: &str| secrets.iter().find(|it| text.contains(&it.value));
    texts.find_map(stands).map(|it| it.name.as_str())
}

/// A scenario by its id and its file; one that lies in none by its name.
fn named(scenario: &Scenario, folder: &Folder<'_>) -> String {
    match scenario.text_at {
        None => format!(
            "`{}` ({})",
            shown(&scenario.id),
            folder.below(&scenario.path)
        ),
        Some(_) => format!("`{}`", shown(&scenario.name)),
    }
}

/// The first thing that it does which has to be allowed, as the beginning of a sentence.
fn first(
    scenario: &Scenario,
    given: &[Server],
    root: &Path,
    permitted: Permitted,
) -> Option<String> {
    let is_given = |it: &&Server| given.iter().any(|given| given.name == it.name);
    let own = scenario.servers.iter().filter(|it| !is_given(it));
    let servers = own.chain(&scenario.upstreams);
    let mut servers = servers.filter_map(|it| {
        let does = server(&it.transport, permitted)?;
        Some(format!("the server `{}` {does}", it.name))
    });
    if let Some(found) = servers.next() {
        return Some(found);
    }
    if !scenario.containers.is_empty() {
        return Some("the scenario starts containers".to_owned());
    }
    if !(scenario.before.is_empty() && scenario.after.is_empty()) {
        return Some("the scenario runs commands before or after it".to_owned());
    }
    if scenario.source.prepare.is_some() {
        return Some("the scenario runs commands that prepare its source".to_owned());
    }
    let repo = scenario.source.repo.as_ref();
    if repo.is_some_and(|it| !input::is_within(it, root)) {
        return Some("`source.repo` is outside the served folder".to_owned());
    }
    if let Agent::Command { .. } = scenario.agent {
        return Some("the agent is a program".to_owned());
    }
    let asked = scenario.agent.model().into_iter();
    let mut asked = asked.chain(scenario.judge.iter().map(|it| &it.asked));
    if !permitted.environment && asked.any(|it| it.api_key_env.is_some()) {
        return Some("`api_key_env` names an environment variable".to_owned());
    }
    let evaluators = Evaluator::with_inner(&scenario.evaluators);
    evaluators
        .into_iter()
        .find_map(|it| evaluator(it, root, permitted))
}

fn server(transport: &Transport, permitted: Permitted) -> Option<&'static str> {
    match transport {
        Transport::Stdio(_) => Some("is a program"),
        Transport::Http { start: Some(_), .. } => Some("is started"),
        Transport::Http {
            headers_command, ..
        } if !headers_command.is_empty() => Some("has its headers from a program"),
        Transport::Http {
            bearer_token_env: Some(_),
            ..
        } if !permitted.environment => Some("has its token from an environment variable"),
        Transport::Http { .. } | Transport::Mock | Transport::Recorded { .. } => None,
    }
}

fn evaluator(evaluator: &Evaluator, root: &Path, permitted: Permitted) -> Option<String> {
    let outside = |what: &str| {
        Some(format!(
            "an evaluator looks at {what} outside the served folder"
        ))
    };
    match &evaluator.kind {
        EvaluatorKind::Command(_) => return Some("an evaluator is a program".to_owned()),
        EvaluatorKind::SqlValidate(it) => {
            let asked = &it.asked;
            // What stands for something may stand for anything.
            match Database::parse(&asked.database) {
                Ok(Database::Sqlite(path))
                    if is_plain_file(&asked.folder, &path.to_string_lossy(), root) => {}
                Ok(Database::Sqlite(_)) => return outside("a database"),
                Ok(database) if database.is_of_files() => {
                    return Some(
                        "an evaluator asks a database by a socket or a file of this machine"
                            .to_owned(),
                    );
                }
                // Its answers may be files of its machine, or rows of anybody.
                Ok(_) if !permitted.environment => {
                    return Some("an evaluator asks a database server".to_owned());
                }
                _ => {}
            }
        }
        _ => {}
    }
    let file = evaluator.kind.file()?;
    match &file.begins {
        FileRoot::Folder(folder) if is_plain_file(folder, &file.written, root) => None,
        FileRoot::Folder(_) => outside("a file"),
        // Whose folder that is, the server says.
        FileRoot::Server(_) => outside("a server's file"),
        FileRoot::Container(_) => Some("an evaluator looks into a container".to_owned()),
    }
}

/// Whether a path leads into the folder that is served, whatever the environment holds.
fn is_plain_file(folder: &Path, written: &str, root: &Path) -> bool {
    let plain = written.replace("$${", "");
    !plain.contains("${") && input::is_within(&folder.join(written), root)
}
