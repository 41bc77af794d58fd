//! A project that writes its results to a database of its own.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_eval::published::kept::{ResultDetail, RunEntry};
use mcp_eval::sql::{self, Database, Query};
use mcp_eval::store::database::{self as results, Options, Place as Address};
use serde_json::Value;

use crate::common::{Project, Ran, ran};

/// A project, and the address of its database: a path in its folder, or a URL.
pub(crate) struct Place {
    pub(crate) project: Project,
    address: String,
}

impl Place {
    /// With a file of SQLite, in its usual place.
    pub(crate) fn file() -> Self {
        Self {
            project: Project::new(),
            address: ".mcp-eval/results.db".to_owned(),
        }
    }

    /// With a database of this URL.
    pub(crate) fn at(url: String) -> Self {
        Self {
            project: Project::new(),
            address: url,
        }
    }

    /// The address, wherever it is used.
    pub(crate) fn absolute(&self) -> String {
        if self.is_file() {
            self.project
                .path(&self.address)
                .to_str()
                .unwrap()
                .to_owned()
        } else {
            self.address.clone()
        }
    }

    /// A project with an empty database of the same kind.
    pub(crate) fn another(&self) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        if self.is_file() {
            return Self::file();
        }
        let name = format!("another_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.execute(&format!("create database {name}"));
        let (server, _) = self.address.rsplit_once('/').unwrap();
        Self::at(format!("{server}/{name}"))
    }

    pub(crate) fn is_file(&self) -> bool {
        !self.address.contains("://")
    }

    /// The same database, used from another folder.
    pub(crate) fn elsewhere(&self) -> Self {
        Self {
            project: Project::new(),
            address: self.absolute(),
        }
    }

    /// The program, which writes to the database by default.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.project.command();
        command
            .env("MCP_EVAL_DB", &self.address)
            .env("USER", "somebody");
        command
    }

    #[track_caller]
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = ran(self.command().args(arguments));
        assert_eq!(ran.code, code, "mcp-eval {}: {ran:#?}", arguments.join(" "));
        assert!(!ran.all().contains("s3cret"), "{ran:#?}");
        ran
    }

    /// The rows of a query.
    #[track_caller]
    pub(crate) fn rows(&self, query: &str) -> Vec<Vec<Value>> {
        self.answer(query).rows
    }

    #[track_caller]
    pub(crate) fn answer(&self, query: &str) -> sql::Rows {
        self.ask(query)
            .unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    /// The rows of a query; `None` where there is no such database or table yet.
    pub(crate) fn try_rows(&self, query: &str) -> Option<Vec<Vec<Value>>> {
        self.ask(query).ok().map(|it| it.rows)
    }

    fn ask(&self, query: &str) -> Result<sql::Rows, String> {
        runtime().block_on(sql::ask(&Query {
            database: Database::parse(&self.absolute()).unwrap(),
            text: query.to_owned(),
            parameters: Vec::new(),
            timeout: Duration::from_secs(30),
        }))
    }

    /// Changes something behind the back of the program.
    pub(crate) fn execute(&self, statement: &str) {
        if self.is_file() {
            let file = rusqlite::Connection::open(self.absolute()).unwrap();
            file.busy_timeout(Duration::from_secs(30)).unwrap();
            file.execute_batch(statement).unwrap();
            return;
        }
        runtime().block_on(async {
            let (client, connection) =
                tokio_postgres::connect(&self.address, tokio_postgres::NoTls)
                    .await
                    .unwrap();
            tokio::spawn(connection);
            client.batch_execute(statement).await.unwrap();
        });
    }

    /// Changes results in a file: columns, and what their documents say of the same.
    pub(crate) fn alter(&self, statement: &str) {
        self.execute(statement);
        self.execute(
            "update results set document = json_set(document, '$.result.name', test_name, '$.result.agent', agent, '$.result.model', model, \
             '$.result.status', status, '$.history.status', status, '$.history.at', created_at, '$.history.duration_ms', duration_ms, '$.history.servers', servers)",
        );
    }

    /// The documents of results, by what is behind the table in the query.
    #[track_caller]
    pub(crate) fn results(&self, which: &str) -> Vec<ResultDetail> {
        let rows = self.rows(&format!("select document from results {which}"));
        let documents = rows.iter().map(|row| row[0].as_str().unwrap());
        let results = documents.map(|text| serde_json::from_str(text).unwrap());
        results.collect()
    }

    /// The runs, the oldest first.
    pub(crate) fn runs(&self) -> Vec<RunEntry> {
        let address = Address::parse(&self.absolute()).unwrap();
        let database = results::Database::new(address, Options::default());
        let page = runtime().block_on(database.runs(1000, 0)).unwrap();
        page.rows.into_iter().rev().collect()
    }

    /// The only value of a query's only row.
    #[track_caller]
    pub(crate) fn scalar(&self, query: &str) -> Value {
        let mut rows = self.rows(query);
        assert_eq!((rows.len(), rows[0].len()), (1, 1), "{query}: {rows:?}");
        rows.remove(0).remove(0)
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// A scenario of a shop in which a price is asked and paid, with more keys.
pub(crate) fn shop(project: &Project, name: &str, price: &str, more: &str) {
    let text = format!(
        r#"
name: {name}
description: A price is asked, and paid
tags: [shop, nightly]
user_intent: Buy the tea
servers: {{ shop: {{ type: mock }} }}
mcp_interactions:
  shop:
    tools:
      - {{ name: price, annotations: {{ read_only_hint: true }}, responses: [{{ content: "{price}" }}] }}
      - {{ name: pay, responses: [{{ content: "paid" }}] }}
expected_trajectory:
  - {{ tool: mcp__shop__price, args: {{ item: tea }} }}
  - {{ tool: mcp__shop__pay, args: {{ item: tea }} }}
{more}
"#
    );
    project.file(&format!("scenarios/{name}.yaml"), text);
}
