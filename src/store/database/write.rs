//! The writing of runs and their results to the database.

use sha2::{Digest, Sha256};

use super::connection::{Cell, Connection, Existing, Fault, Record, document, put};
use super::finished::{Ready, text};
use super::{RunHead, RunState, head, result_id};
use crate::model::Redacted;
use crate::published::kept::ResultDetail;

/// The id of a run: the name of its folder, or, where a run of another machine that began in the same millisecond has it, that with more behind
/// it.
pub(super) fn id_of(
    connection: &mut dyn Connection,
    run: &str,
    began: &str,
) -> Result<String, Fault> {
    let known = connection.query(
        "SELECT id, started_at FROM runs WHERE run = $1",
        &[run.into()],
    )?;
    let same = known.iter().find(|it| it.string("started_at") == began);
    if let Some(same) = same {
        return Ok(same.string("id"));
    }
    if known.is_empty() {
        return Ok(run.to_owned());
    }
    let hash = hex::encode(Sha256::digest(began.as_bytes()));
    Ok(format!("{run}~{}", &hash[..8]))
}

/// Writes what is known of a run as a whole.
pub(super) fn run(connection: &mut dyn Connection, head: &Redacted<RunHead>) -> Result<(), Fault> {
    let mut id = id_of(connection, &head.run, &head.began())?;
    // First as a row that nobody else can take, because somebody may be making one of the same id at this moment.
    let record = head::record(head, &id)?;
    if !put(connection, "runs", &record, Existing::Stays)? {
        id = id_of(connection, &head.run, &head.began())?;
        let existing = if head.state == RunState::Running {
            Existing::Stays
        } else {
            Existing::Replaced
        };
        put(connection, "runs", &head::record(head, &id)?, existing)?;
    }
    marks(connection, head, &id)
}

/// Writes what a run as a whole makes of its results.
pub(super) fn marks(
    connection: &mut dyn Connection,
    head: &RunHead,
    id: &str,
) -> Result<(), Fault> {
    for scenario in &head.quarantined {
        connection.execute(
            "UPDATE results SET quarantined = 1 WHERE id = $1",
            &[result_id(id, scenario).into()],
        )?;
    }
    if head.is_end_of_search {
        connection.execute(
            "UPDATE results SET is_final = 1 WHERE run_id = $1",
            &[id.into()],
        )?;
    }
    Ok(())
}

/// Writes a result, in the place of what was known of the same one.
pub(super) fn result(
    connection: &mut dyn Connection,
    run: &str,
    ready: &Ready,
) -> Result<(), Fault> {
    let mut detail = ready.detail.clone();
    if detail.result.run_id != run {
        detail.refine(|it| {
            it.result.result_id = result_id(run, &ready.own_id);
            run.clone_into(&mut it.result.run_id);
            it.history.id.clone_from(&it.result.result_id);
            it.history.run.clone_from(&it.result.run_id);
        });
    }
    scenario(connection, ready)?;
    let record = record(ready, &detail)?;
    put(connection, "results", &record, Existing::Replaced)?;
    Ok(())
}

/// The row of a result.
fn record(ready: &Ready, detail: &Redacted<ResultDetail>) -> Result<Record, Fault> {
    let result = &detail.result;
    Ok(Record::default()
        .with("id", result.result_id.as_str())
        .with("run_id", result.run_id.as_str())
        .with("scenario_id", result.scenario.as_str())
        .with("test_name", result.name.as_str())
        .with("prompt", result.prompt.as_deref())
        .with("expected_tools", text(&result.expected_tools))
        .with("actual_tools", text(&result.actual_tools))
        .with("verdict", text(&result.verdict))
        .with("status", result.status.name())
        .with("is_final", result.command != "bisect")
        .with("quarantined", ready.is_quarantined)
        .with("created_at", result.timestamp.as_str())
        .with("duration_ms", result.duration)
        .with("agent", result.agent.as_deref())
        .with("model", result.model.as_deref())
        .with("servers", detail.history.servers.as_deref())
        .with("cost", result.cost)
        .with("tool_calls", ready.calls)
        .with("document", document(detail)?))
}

/// Writes what a scenario is: when it was first met stays, and so does what nobody knows now. What is made anew from the files of an old run
/// tells nothing new.
fn scenario(connection: &mut dyn Connection, ready: &Ready) -> Result<(), Fault> {
    let declared = ready.declared.as_deref();
    let judge = declared.and_then(|it| it.judge.as_ref());
    let cells: [Cell; 6] = [
        ready.detail.result.scenario.as_str().into(),
        ready.detail.result.name.as_str().into(),
        ready.description.as_deref().into(),
        declared.map(|it| text(&it.servers)).into(),
        judge.map(text).into(),
        ready.detail.result.timestamp.as_str().into(),
    ];
    connection.execute(
        "INSERT INTO scenarios (id, name, description, server_configs, judge_config, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, \
         description = COALESCE(excluded.description, scenarios.description), \
         server_configs = COALESCE(excluded.server_configs, scenarios.server_configs), \
         judge_config = COALESCE(excluded.judge_config, scenarios.judge_config) WHERE excluded.updated_at >= scenarios.updated_at",
        &cells,
    )?;
    Ok(())
}
