//! The results of one command on their way to the results database, each as soon as it is there.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Finished, Settings, SuiteContext};
use crate::model::{Redacted, ScenarioResult, Servers, SuiteResult};
use crate::published::result::ResultDocument;
use crate::redact::Redactor;
use crate::report::document::of_scenario;
use crate::scenario_file::Scenario;
use crate::scenario_file::judge::JudgeSettings;
use crate::scenario_file::servers::{HttpStyle, Server, Transport};
use crate::store::Runs;
use crate::store::database::{Database, Declared, FinishedScenario, RunHead};

/// Keeps results: each in a file of its run, until the document of the run has all of them, and, where somebody wants that, in a database.
pub(super) struct KeptResults<'a> {
    run: String,
    command: String,
    is_recorded: bool,
    runs: &'a Runs,
    scenarios: &'a [Arc<Scenario>],
    context: &'a SuiteContext,
    /// The places of the scenarios whose results are handed over.
    done: BTreeSet<usize>,
    database: Option<Database>,
}

impl<'a> KeptResults<'a> {
    /// Begins with the document of a run that has begun.
    pub(super) fn begin(
        settings: &Settings,
        begun: &Redacted<ResultDocument>,
        runs: &'a Runs,
        scenarios: &'a [Arc<Scenario>],
        context: &'a SuiteContext,
    ) -> Self {
        if let Some(database) = &settings.database {
            database.head(begun.derive(RunHead::begun));
        }
        Self {
            run: begun.run_id.clone(),
            command: begun.command.clone(),
            is_recorded: settings.answered_by == Servers::Recorded,
            runs,
            scenarios,
            context,
            done: BTreeSet::new(),
            database: settings.database.clone(),
        }
    }

    /// Hands over the result of the scenario at this place.
    pub(super) fn result(&mut self, index: usize, result: &Redacted<ScenarioResult>) {
        self.done.insert(index);
        let published = result.derive(|_| of_scenario(result, &self.command));
        // While the database is there, that is no loss; and the document of the run will have it.
        let _ = self.runs.save_ended(&published);
        let Some(database) = &self.database else {
            return;
        };
        let scenario = &self.scenarios[index];
        let secrets = self.context.remembered(scenario);
        let redactor = Redactor::new(&secrets, &scenario.redaction);
        database.result(FinishedScenario {
            run: self.run.clone(),
            command: self.command.clone(),
            at: Timestamp::now(),
            scenario: published,
            is_recorded: self.is_recorded,
            current: result.current.clone(),
            declared: Some(Arc::new(declared(scenario, &redactor))),
            folder: self.runs.folder().to_owned(),
        });
    }

    /// Hands over what is left, and what the whole has come to, and waits until all is written; returns what there is to tell of that.
    pub(super) async fn end(mut self, suite: &Redacted<SuiteResult>) -> Vec<String> {
        for index in 0..suite.scenarios.len() {
            if !self.done.contains(&index) {
                self.result(index, &suite.derive(|it| it.scenarios[index].clone()));
            }
        }
        let Some(database) = self.database else {
            return Vec::new();
        };
        database.head(suite.derive(|it| RunHead {
            called: it.called.clone(),
            ..RunHead::played(it)
        }));
        database.flush().await
    }
}

/// Writes the only result of a run that was not played as others are, once its document is complete; returns what there is to tell of that.
pub(crate) async fn keep_only(
    database: &Database,
    finished: &Finished,
    document: &ResultDocument,
    scenario: &Scenario,
    redactor: &Redactor,
) -> Vec<String> {
    let suite = &finished.suite;
    database.head(suite.derive(|_| RunHead::begun(document)));
    for result in finished.results() {
        database.result(FinishedScenario {
            run: suite.run_id.clone(),
            command: suite.command.clone(),
            at: Timestamp::now(),
            scenario: result.derive(|_| of_scenario(&result, &suite.command)),
            is_recorded: false,
            current: result.current.clone(),
            declared: Some(Arc::new(declared(scenario, redactor))),
            folder: finished.runs.folder().to_owned(),
        });
    }
    database.head(suite.derive(|_| RunHead::ended(document)));
    database.flush().await
}

/// What a scenario's file says of what it is run with.
fn declared(scenario: &Scenario, redactor: &Redactor) -> Redacted<Declared> {
    let servers: Vec<Value> = scenario.servers.iter().map(server).collect();
    let expected = scenario
        .expected_trajectory
        .iter()
        .map(|it| it.tool.as_str());
    let plain = json!({
        "servers": servers,
        "judge": scenario.judge.as_deref().map(judge),
        "expected": expected.collect::<Vec<_>>(),
    });
    redactor.value(plain).derive(|it| Declared {
        servers: it["servers"].clone(),
        judge: Some(it["judge"].clone()).filter(|it| !it.is_null()),
        expected_tools: it["expected"].as_array().map_or_else(Vec::new, |it| {
            it.iter()
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect()
        }),
    })
}

/// A server as its scenario names it; of what it is given besides, the names alone.
fn server(server: &Server) -> Value {
    let names = |pairs: &[(String, String)]| -> Vec<String> {
        pairs.iter().map(|it| it.0.clone()).collect()
    };
    let name = &server.name;
    match &server.transport {
        Transport::Stdio(it) => {
            json!({ "name": name, "type": "stdio", "command": it.command, "args": it.args, "env": names(&it.env) })
        }
        Transport::Http {
            style,
            url,
            headers,
            ..
        } => {
            let kind = match style {
                HttpStyle::Streamable => "http",
                HttpStyle::Sse => "sse",
            };
            json!({ "name": name, "type": kind, "url": url, "headers": names(headers) })
        }
        Transport::Mock => json!({ "name": name, "type": "mock" }),
        Transport::Recorded { baseline: _ } => json!({ "name": name, "type": "recorded" }),
    }
}

fn judge(judge: &JudgeSettings) -> Value {
    let asked = &judge.asked;
    json!({ "provider": asked.api.kind(), "model": asked.model, "baseUrl": asked.base_url })
}
