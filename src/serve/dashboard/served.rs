//! The scenarios of the folder that is served: what there is to run, what waits for review, what is no valid file.

use std::path::Path;

use super::reply::sentence;
use crate::model::scenario::Scenario;
use crate::redact::{self, Redactor, Secrets};
use crate::report::document;
use crate::report::html::dashboard::{Broken, Pending, ScenarioLine};
use crate::report::html::{link, page_name};
use crate::scenario_file::Finding;
use crate::serve::commands::waiting;
use crate::serve::folder::Folder;
use crate::serve::prepared::give_servers;
use crate::serve::programs::{self, Permitted};
use crate::serve::server::Server;
use crate::suite::ci::known_by;
use crate::suite::replay;
use crate::suite::{Pending as Found, Waiting};

/// How many scenarios are shown.
const SHOWN: usize = 200;

/// How many of those that wait for review are shown: each is judged again for that.
const PENDING: usize = 50;

/// How many findings are shown.
const FINDINGS: usize = 20;

#[derive(Default)]
pub(super) struct Looked {
    pub(super) scenarios: Vec<ScenarioLine>,
    pub(super) more_scenarios: usize,
    pub(super) broken: Vec<Broken>,
    pub(super) pending: Vec<Pending>,
    pub(super) more_pending: usize,
}

/// Looks into the folder, and at what waits beside the baselines.
pub(super) fn look(server: &Server) -> Looked {
    let folder = Folder::new(&server.options.root);
    let (mut scenarios, findings) = folder.all();
    let pending = waiting(server, &scenarios);
    let more_pending = pending.len().saturating_sub(PENDING);
    let pending = pending.iter().take(PENDING).map(line).collect();
    let all = scenarios.len();
    let shown = scenarios.iter_mut().take(SHOWN);
    let shown = shown.map(|it| {
        give_servers(&mut it.servers, &server.options.servers);
        scenario(server, it, &folder, all)
    });
    let errors = findings.iter().filter(|it| it.is_error());
    Looked {
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
        let refused = programs::refuse(scenario, &options.servers, folder, permitted);
        refused.err().map(|it| sentence(&it))
    } else {
        Some("It is disabled.".to_owned())
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

/// What the dashboard says of something that waits for review.
pub(super) fn line(found: &Found) -> Pending {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let waiting = match found {
        Ok(waiting) => waiting,
        Err(broken) => {
            let scenario = broken.scenario();
            return Pending {
                scenario: scenario.id.clone(),
                name: clean(&scenario.name),
                page: None,
                run: String::new(),
                words: sentence(&clean(&broken.why().to_string())),
                fails: true,
                moved: None,
                failing: Vec::new(),
                acceptable: false,
            };
        }
    };
    of_waiting(waiting)
}

/// The same of one that can be read.
pub(super) fn of_waiting(waiting: &Waiting) -> Pending {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let scenario = waiting.scenario();
    let result = document::of(&waiting.judged());
    let judged = result.scenarios.first();
    let words = judged.map(|it| {
        let reasons = it.reasons();
        let first = reasons.first().cloned();
        first.unwrap_or_else(|| it.changes_words("compare"))
    });
    let id = &scenario.id;
    Pending {
        scenario: id.clone(),
        name: clean(&scenario.name),
        page: Some(format!("/pending/{}", link(&page_name(id)))),
        run: waiting.run_id().to_owned(),
        words: sentence(&words.unwrap_or_default()),
        fails: judged.is_some_and(|it| !it.status.is_fine()),
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
