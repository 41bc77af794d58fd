//! The scenarios that are served: listed, read and, where that is allowed, written as files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path as InPath, Request, State};
use axum::http::StatusCode;

use super::case::give_servers;
use super::folder::{Folder, shown};
use super::programs::{self, Permitted};
use super::wire::reply::Misfit;
use super::wire::results::{CaseDocument, CaseEntry, CaseList, NewCase, WrittenCase};
use super::{Problem, Server, body};
use crate::input;
use crate::model::placeholder;
use crate::redact::{self, Redactor, Secrets};
use crate::scenario_file::{SUITES, Scenario};
use crate::store::{self, StoreError};

/// What the id of a case is in an address.
pub(super) type Named = Result<InPath<String>, PathRejection>;

/// The id in an address.
///
/// # Errors
///
/// When it is no text.
pub(super) fn named(id: Named) -> Result<String, Problem> {
    match id {
        Ok(InPath(id)) => Ok(id),
        Err(_) => Err(Problem::at("path/id", "the id is not text")),
    }
}

/// `GET /api/test/cases`.
pub(super) async fn list(State(server): State<Arc<Server>>) -> Json<CaseList> {
    let folder = folder(&server);
    let (mut scenarios, findings) = folder.all();
    for scenario in &mut scenarios {
        give_servers(&mut scenario.servers, &server.options.servers);
    }
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let findings = findings.iter().filter(|it| it.is_error());
    let findings = findings.map(|it| Misfit {
        path: clean(&folder.below(Path::new(&it.path))),
        message: clean(&it.message),
    });
    let cases = scenarios.iter().map(|it| entry(it, &folder));
    Json(CaseList {
        findings: findings.collect(),
        cases: cases.collect(),
    })
}

fn entry(scenario: &Scenario, folder: &Folder<'_>) -> CaseEntry {
    let redactor = Redactor::new(&Secrets::of_environment(), &scenario.redaction);
    let clean = |text: &str| redactor.text(text).into_inner();
    let messages = scenario.messages();
    CaseEntry {
        id: clean(&scenario.id),
        name: clean(&scenario.name),
        path: clean(&folder.below(&scenario.path)),
        description: scenario.description.as_deref().map(clean),
        tags: scenario.tags.iter().map(|it| clean(it)).collect(),
        prompt: (!messages.is_empty()).then(|| clean(&messages.join("\n\n"))),
        enabled: scenario.enabled,
        row_of: scenario.row_of.as_deref().map(clean),
    }
}

/// `GET /api/test/cases/{id}`.
pub(super) async fn get(
    State(server): State<Arc<Server>>,
    id: Named,
) -> Result<Json<CaseDocument>, Problem> {
    let folder = folder(&server);
    let file = folder.file(&named(id)?)?;
    let text = input::read_to_string(&file.path)
        .map_err(|error| Problem::ours(format!("the case cannot be read: {error}")))?;
    Ok(Json(document(&folder, &file.id, &file.path, &text)))
}

fn document(folder: &Folder<'_>, id: &str, path: &Path, text: &str) -> CaseDocument {
    CaseDocument {
        id: id.to_owned(),
        path: folder.below(path),
        yaml: redact::environment().text(text).into_inner(),
    }
}

/// `POST /api/test/cases`.
pub(super) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<(StatusCode, Json<CaseDocument>), Problem> {
    may_write(&server)?;
    let NewCase { id, yaml } = body::read(request).await?;
    let folder = folder(&server);
    if id.split('/').any(|it| it == SUITES || it == "..") {
        let message = format!("a case cannot be in a folder `{SUITES}`");
        return Err(Problem::at("/id", message));
    }
    let path = folder.place(&id);
    let _writing = server.writing.lock().await;
    if path.symlink_metadata().is_ok() || folder.file(&id).is_ok() {
        let message = format!("there is a case `{}` already", shown(&id));
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    check(&server, &format!("{id}.yaml"), &yaml)?;
    // A folder that is not there yet is made; that it cannot be, writing says.
    let _ = fs::create_dir_all(&server.options.root);
    write(&server, &path, &yaml)?;
    let document = document(&folder, &id, &path, &yaml);
    Ok((StatusCode::CREATED, Json(document)))
}

/// `PUT /api/test/cases/{id}`.
pub(super) async fn put(
    State(server): State<Arc<Server>>,
    id: Named,
    request: Request,
) -> Result<Json<CaseDocument>, Problem> {
    may_write(&server)?;
    let id = named(id)?;
    let WrittenCase { yaml } = body::read(request).await?;
    let folder = folder(&server);
    let _writing = server.writing.lock().await;
    let file = folder.file(&id)?;
    check(&server, &folder.below(&file.path), &yaml)?;
    write(&server, &file.path, &yaml)?;
    Ok(Json(document(&folder, &file.id, &file.path, &yaml)))
}

/// `DELETE /api/test/cases/{id}`.
pub(super) async fn delete(
    State(server): State<Arc<Server>>,
    id: Named,
) -> Result<StatusCode, Problem> {
    may_write(&server)?;
    let id = named(id)?;
    let _writing = server.writing.lock().await;
    let file = folder(&server).file(&id)?;
    is_ours(&server, &file.path)?;
    fs::remove_file(&file.path)
        .map_err(|error| Problem::ours(format!("the case cannot be removed: {error}")))?;
    // Folders of cases go with the last one. One that holds anything else cannot be removed so.
    let root = &server.options.root;
    let above = file.path.ancestors().skip(1);
    let mut above = above.take_while(|it| *it != root && it.starts_with(root));
    while above.next().is_some_and(|it| fs::remove_dir(it).is_ok()) {}
    Ok(StatusCode::NO_CONTENT)
}

fn folder(server: &Server) -> Folder<'_> {
    Folder::new(&server.options.root)
}

/// Whoever started the server lets requests write.
///
/// # Errors
///
/// That they do not.
pub(super) fn may_write(server: &Server) -> Result<(), Problem> {
    if server.options.allowed.write {
        return Ok(());
    }
    Err(Problem::forbidden(
        "requests may write only if the server was started with --allow-write",
    ))
}

/// What is written is a valid scenario, and starts nothing that a request may not start.
fn check(server: &Server, file: &str, text: &str) -> Result<(), Problem> {
    if placeholder::holds(text) {
        return Err(Problem::at(
            "/yaml",
            "the text holds a placeholder for a secret: write `${NAME}` for an environment variable",
        ));
    }
    let programs = server.options.allowed.programs;
    if !programs && refers_to_environment(text) {
        return Err(Problem::forbidden(
            "`${…}` may refer to an environment variable, which a request may write only if the server was started with --allow-programs",
        ));
    }
    let folder = folder(server);
    let scenarios = folder.of_text(Some(file), text, programs, "/yaml")?;
    for scenario in &scenarios {
        let permitted = Permitted::to_brought(&server.options);
        programs::refuse(scenario, &[], &folder, permitted)
            .map_err(|it| Problem::forbidden_at("/yaml", it))?;
    }
    Ok(())
}

/// Whether `${` stands anywhere, but for `$${`, which stands for itself.
fn refers_to_environment(text: &str) -> bool {
    text.replace("$${", "").contains("${")
}

/// A file that is written lies in the folder that is served, whatever links there are.
fn is_ours(server: &Server, path: &Path) -> Result<(), Problem> {
    if input::is_within(path, &server.options.root) {
        return Ok(());
    }
    Err(Problem::forbidden("the case is outside the served folder"))
}

fn write(server: &Server, path: &Path, text: &str) -> Result<(), Problem> {
    is_ours(server, path)?;
    store::write(path, text.as_bytes())
        .map_err(|error: StoreError| Problem::ours(error.to_string()))
}
