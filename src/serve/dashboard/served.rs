//! The scenarios of the folder that is served: what there is to run, what waits for review, what is no valid file.

use std::path::Path;

use super::reply::sentence;
use crate::published::result::{Cause, Scenario as Judged};
use crate::redact::{self, Redactor, Secrets};
use crate::report::html::dashboard::{
    Broken, Pending, PendingCause, Refused, ScenarioLine, Served,
};
use crate::report::html::{link, page_name};
use crate::report::{causes, document};
use crate::scenario_file::{Finding, Scenario};
use crate::serve::case::give_servers;
use crate::serve::commands::waiting;
use crate::serve::folder::Folder;
use crate::serve::programs::{self, Permitted};
use crate::serve::server::Server;
use crate::suite::ci::known_by;
use crate::suite::{Pending as Found, Waiting, replay};

/// How many scenarios are shown.
const SHOWN: usize = 200;

/// How many of those that wait for review are shown: each is judged again for that.
const PENDING: usize = 50;

/// How many findings are shown.
const FINDINGS: usize = 20;

/// Looks into the folder, and at what waits beside the baselines.
pub(super) fn look(server: &Server) -> Served {
    let folder = Folder::new(&server.options.root);
    let (mut scenarios, findings) = folder.all();
    let pending = waiting(server, &scenarios);
    let more_pending = pending.len().saturating_sub(PENDING);
    let pending = by_cause(&pending[..pending.len().min(PENDING)]);
    let all = scenarios.len();
    let shown = scenarios.iter_mut().take(SHOWN);
    let shown = shown.map(|it| {
        give_servers(&mut it.servers, &server.options.servers);
        scenario(server, it, &folder, all)
    });
    let errors = findings.iter().filter(|it| it.is_error());
    Served {
        scenarios: shown.collect(),
        more_scenarios: all.saturating_sub(SHOWN),
        broken: errors
            .take(FINDINGS)
            .map(|it| broken(it, &folder))
            .collect(),
        pending,
        more_pending,
    }
}

fn scenario(server: &Server, scenario: &Scenario, folder: &Folder<'_>, all: usize) -> ScenarioLine {
    let redactor = Redactor::new(&Secrets::of_environment(), &scenario.redaction);
    let clean = |text: &str| redactor.text(text).into_inner();
    let options = &server.options;
    let refused = if scenario.enabled {
        let permitted = Permitted::to_served(options);
        let needed = programs::needed(scenario, &options.servers, folder, permitted);
        needed.map(|it| Refused::NotAllowed(clean(&it)))
    } else {
        Some(Refused::Disabled)
    };
    let baselines = replay::baselines(&options.settings.baselines, scenario, all);
    ScenarioLine {
        id: scenario.id.clone(),
        name: clean(&scenario.name),
        path: clean(&folder.below(&scenario.path)),
        tags: scenario.tags.iter().map(|it| clean(it)).collect(),
        history: history(&scenario.id),
        latest: None,
        refused,
        comparable: baselines.variants(&scenario.id) > 0,
    }
}

/// Where the history of a scenario is.
pub(super) fn history(id: &str) -> String {
    format!("/history/{}", link(id))
}

fn broken(finding: &Finding, folder: &Folder<'_>) -> Broken {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let line = finding.line.map_or_else(String::new, |line| {
        format!(":{line}:{}", finding.column.unwrap_or(1))
    });
    let path = folder.below(Path::new(&finding.path));
    Broken {
        place: clean(&format!("{path}{line}")),
        message: clean(&finding.message),
        hint: finding.hint.as_deref().map(clean),
    }
}

/// What waits for review, each run with the first cause that it has, causes of failure and of many runs first.
fn by_cause(found: &[Found]) -> Vec<PendingCause> {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let mut runs: Vec<Pending> = Vec::new();
    let mut scenarios: Vec<Judged> = Vec::new();
    let mut groups: Vec<PendingCause> = Vec::new();
    for it in found {
        match it {
            Ok(waiting) => {
                let result = document::of(&waiting.judged());
                scenarios.extend(result.scenarios);
                runs.push(of_waiting(waiting));
            }
            Err(broken) => groups.push(PendingCause {
                words: sentence(&clean(&broken.why().to_string())),
                fails: true,
                runs: vec![of_broken(broken.scenario())],
            }),
        }
    }
    let causes = causes::causes(&scenarios, "compare");
    for cause in &causes {
        let is_of = |run: &Pending, cause: &Cause| cause.scenarios.contains(&run.scenario);
        // Those of an earlier cause are gone by now.
        let (mut of_cause, others): (Vec<Pending>, Vec<Pending>) =
            runs.into_iter().partition(|it| is_of(it, cause));
        runs = others;
        for run in &mut of_cause {
            let also = causes
                .iter()
                .filter(|it| is_of(run, it) && it.id != cause.id);
            run.also = also.map(|it| it.text.clone()).collect();
        }
        if !of_cause.is_empty() {
            groups.push(PendingCause {
                words: cause.text.clone(),
                fails: cause.fails,
                runs: of_cause,
            });
        }
    }
    groups.extend(runs.into_iter().map(|run| PendingCause {
        words: "No cause is known.".to_owned(),
        fails: true,
        runs: vec![run],
    }));
    groups
}

/// What the dashboard says of something that waits for review, and cannot be read.
fn of_broken(scenario: &Scenario) -> Pending {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    Pending {
        scenario: scenario.id.clone(),
        name: clean(&scenario.name),
        page: None,
        run: String::new(),
        also: Vec::new(),
        moved: None,
        failing: Vec::new(),
        acceptable: false,
    }
}

/// The same of one that can be read.
pub(super) fn of_waiting(waiting: &Waiting) -> Pending {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let scenario = waiting.scenario();
    let id = &scenario.id;
    Pending {
        scenario: id.clone(),
        name: clean(&scenario.name),
        page: Some(format!("/pending/{}", link(&page_name(id)))),
        run: waiting.run_id().to_owned(),
        also: Vec::new(),
        moved: waiting.moved().map(|it| clean(&it)),
        failing: waiting.failing(),
        acceptable: true,
    }
}

/// Why nobody may decide on what waits here, and how they may.
pub(super) fn undecidable(server: &Server) -> Option<String> {
    if !server.options.allowed.write {
        let root = redact::environment().text(&server.options.root.display().to_string());
        return Some(format!(
            "To accept or reject it here, start the server with `--allow-write`; `mcp-eval review {root}` does the same on a terminal."
        ));
    }
    let variable = known_by()?;
    Some(format!(
        "Nothing is accepted in CI, which this is by `{variable}`."
    ))
}
