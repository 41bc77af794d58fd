//! The table of routes: both the router and the `OpenAPI` document are made of it.

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodRouter, delete, get, post, put};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::wire::commands::{CompareRequest, RecordRequest, ReviewReply, ReviewRequest};
use super::wire::{
    BatchReply, BatchRequest, CaseDocument, CaseList, Connections, Health, NewCase, PageQuery,
    ResultList, ResultQuery, RunEntry, RunList, RunReply, RunRequest, Statistics, Status,
    WrittenCase,
};
use super::{Problem, Server, cases, commands, dashboard, health, listen, results, run};
use crate::published::result::ResultDocument;

/// A route.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// `{id}` stands for a part of the address.
    pub(super) path: &'static str,
    /// What the document calls it.
    pub(super) id: &'static str,
    /// What it does, in a line.
    pub(super) about: &'static str,
    /// Whether it is answered without a token.
    pub(super) is_open: bool,
    /// What the body of a request is.
    pub(super) takes: Option<Shape>,
    /// What may stand behind the `?`.
    pub(super) query: Option<Shape>,
    pub(super) gives: Gives,
    /// Replies that say why not, besides those that all such routes have.
    pub(super) refusals: &'static [u16],
    handler: fn() -> MethodRouter<Arc<Server>>,
}

/// Makes the schema of a type.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// What a reply is.
pub(super) enum Gives {
    Json(u16, Shape),
    /// A stream of events.
    Events,
    /// One or the other, as the client wants it.
    JsonOrEvents(Shape),
    /// Any JSON object.
    Object,
    Nothing,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A route that takes nothing, and replies with a value.
const fn read(
    path: &'static str,
    (id, about): (&'static str, &'static str),
    gives: Shape,
    handler: fn() -> MethodRouter<Arc<Server>>,
) -> Route {
    Route {
        method: "GET",
        path,
        id,
        about,
        is_open: false,
        takes: None,
        query: None,
        gives: Gives::Json(200, gives),
        refusals: &[],
        handler,
    }
}

/// A route that takes a value, and replies with one.
const fn act(
    path: &'static str,
    named: (&'static str, &'static str),
    (takes, gives): (Shape, Shape),
    refusals: &'static [u16],
    handler: fn() -> MethodRouter<Arc<Server>>,
) -> Route {
    Route {
        method: "POST",
        takes: Some(takes),
        refusals,
        ..read(path, named, gives, handler)
    }
}

/// What may come of wanting something to be run.
const RUNS: &[u16] = &[404, 429, 500, 503];

/// All routes.
pub(super) const ROUTES: &[Route] = &[
    Route {
        is_open: true,
        ..read(
            "/api/test/health",
            ("health", "That this is a test server, and how it is"),
            of::<Health>,
            || get(health::get),
        )
    },
    read(
        "/api/test/status",
        ("status", "What it is doing, and what it allows"),
        of::<Status>,
        || get(health::status),
    ),
    read(
        "/api/test/connections",
        ("connections", "The servers of test cases that name none"),
        of::<Connections>,
        || get(health::connections),
    ),
    act(
        "/api/test/run",
        (
            "run",
            "Run a test case or a scenario, and wait for what comes of it; it is interrupted when the client hangs up",
        ),
        (of::<RunRequest>, of::<RunReply>),
        RUNS,
        || post(run::post),
    ),
    Route {
        gives: Gives::JsonOrEvents(of::<BatchReply>),
        ..act(
            "/api/test/run-batch",
            (
                "runBatch",
                "Run several; results come as they are there, where the client accepts `text/event-stream`; what has not finished is interrupted when the client hangs up",
            ),
            (of::<BatchRequest>, of::<BatchReply>),
            RUNS,
            || post(run::post_batch),
        )
    },
    Route {
        query: Some(of::<ResultQuery>),
        refusals: &[404, 503],
        ..read(
            "/api/test/results",
            ("listResults", "Results that were kept, the latest first"),
            of::<ResultList>,
            || get(results::list),
        )
    },
    Route {
        refusals: &[400, 404, 503],
        ..read(
            "/api/test/results/{id}",
            ("getResult", "A result with its calls"),
            of::<RunReply>,
            || get(results::get),
        )
    },
    Route {
        query: Some(of::<PageQuery>),
        refusals: &[404, 503],
        ..read(
            "/api/test/runs",
            ("listRuns", "Runs of the program, the latest first"),
            of::<RunList>,
            || get(results::runs),
        )
    },
    Route {
        refusals: &[400, 404, 503],
        ..read(
            "/api/test/runs/{id}",
            (
                "getRun",
                "A run of the program; its results are those with its `runId`",
            ),
            of::<RunEntry>,
            || get(results::run),
        )
    },
    Route {
        refusals: &[400, 404, 500],
        ..read(
            "/api/test/runs/{id}/document",
            (
                "getDocument",
                "The result of a run, as the command line has it",
            ),
            of::<ResultDocument>,
            || get(results::document),
        )
    },
    Route {
        refusals: &[404, 503],
        ..read(
            "/api/test/stats",
            ("stats", "All results in numbers"),
            of::<Statistics>,
            || get(results::stats),
        )
    },
    read(
        "/api/test/cases",
        ("listCases", "The scenarios that are served"),
        of::<CaseList>,
        || get(cases::list),
    ),
    Route {
        gives: Gives::Json(201, of::<CaseDocument>),
        ..act(
            "/api/test/cases",
            ("createCase", "Write a new scenario file (--allow-write)"),
            (of::<NewCase>, of::<CaseDocument>),
            &[409, 500],
            || post(cases::post),
        )
    },
    Route {
        refusals: &[400, 404, 500],
        ..read(
            "/api/test/cases/{id}",
            ("getCase", "The text of a scenario file"),
            of::<CaseDocument>,
            || get(cases::get),
        )
    },
    Route {
        method: "PUT",
        ..act(
            "/api/test/cases/{id}",
            ("updateCase", "Replace a scenario file (--allow-write)"),
            (of::<WrittenCase>, of::<CaseDocument>),
            &[404, 500],
            || put(cases::put),
        )
    },
    Route {
        method: "DELETE",
        gives: Gives::Nothing,
        refusals: &[400, 404, 500],
        ..read(
            "/api/test/cases/{id}",
            ("deleteCase", "Remove a scenario file (--allow-write)"),
            of::<CaseDocument>,
            || delete(cases::delete),
        )
    },
    Route {
        gives: Gives::Events,
        refusals: &[406],
        ..read(
            "/api/test/events",
            (
                "events",
                "What everything that runs is doing, as it happens; `Last-Event-ID` resumes",
            ),
            of::<Health>,
            || get(listen::events),
        )
    },
    act(
        "/api/test/record",
        (
            "record",
            "Run scenarios and keep their trajectories as baselines (--allow-write)",
        ),
        (of::<RecordRequest>, of::<ResultDocument>),
        RUNS,
        || post(commands::record),
    ),
    act(
        "/api/test/compare",
        (
            "compare",
            "Run scenarios again and score them against their baselines",
        ),
        (of::<CompareRequest>, of::<ResultDocument>),
        RUNS,
        || post(commands::compare),
    ),
    act(
        "/api/test/review",
        (
            "review",
            "Review failures and changes, and list what is pending (--allow-write)",
        ),
        (of::<ReviewRequest>, of::<ReviewReply>),
        &[409, 500],
        || post(commands::review),
    ),
    Route {
        gives: Gives::Object,
        ..read(
            "/api/test/openapi.json",
            ("openApi", "This document"),
            of::<Health>,
            || get(health::open_api),
        )
    },
];

/// Whether a route is answered without a token.
pub(super) fn is_open(method: &Method, path: &str) -> bool {
    let method = if *method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let mut routes = ROUTES.iter().filter(|it| it.is_open);
    routes.any(|it| it.method == method && it.path == path)
}

pub(super) fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.handler)());
    }
    router
        .merge(dashboard::router())
        .fallback(async || Problem::unknown("there is no such route"))
        .method_not_allowed_fallback(async || {
            let message = "the route does not take this method";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
        })
        .with_state(Arc::clone(server))
}
