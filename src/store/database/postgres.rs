//! PostgreSQL, which several machines may write at the same time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Cell, Connection, Fault, Row};
use crate::sql::postgres::{Parameter, connect, said};

/// How long the server may take for any one thing.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much later than the server, which tells of it, we give up.
const MARGIN: Duration = Duration::from_secs(1);

/// Names the lock under which the schema is changed: any number that nobody else takes.
const LOCK: i64 = 0x6d63_705f_6576_616c;

/// A connection to a server.
pub(super) struct Postgres {
    client: Client,
    _connection: AbortOnDropHandle<()>,
    prepared: HashMap<String, Statement>,
    /// Something has gone wrong with it after which nothing else is asked through it.
    is_lost: bool,
    /// On which the connection lives, as long as something is asked.
    runtime: Runtime,
}

impl Postgres {
    pub(super) fn open(url: &str) -> Result<Self, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Fault::Other(error.to_string()))?;
        // The server gives up, too: it would go on without us.
        let limit = PATIENCE.as_millis();
        let settings = format!(
            "SET statement_timeout = {limit}; SET lock_timeout = {limit}; SET client_min_messages = warning;"
        );
        let connected = runtime.block_on(async {
            let connected = async {
                let (client, connection) = connect(url).await.map_err(Fault::Lost)?;
                let set = client.batch_execute(&settings).await;
                set.map_err(|error| fault(&error))?;
                Ok::<_, Fault>((client, connection))
            };
            match tokio::time::timeout(PATIENCE, connected).await {
                Ok(connected) => connected,
                Err(_) => Err(Fault::Silent(format!("no connection within {PATIENCE:?}"))),
            }
        });
        let (client, connection) = connected?;
        Ok(Self {
            client,
            _connection: connection,
            prepared: HashMap::new(),
            is_lost: false,
            runtime,
        })
    }

    /// Waits for an answer, which is given up after a while.
    fn wait<T>(
        runtime: &Runtime,
        is_lost: &mut bool,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        let asked = async { tokio::time::timeout(PATIENCE + MARGIN, asked).await };
        let answer = match runtime.block_on(asked) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(fault(&error)),
            Err(_) => Err(Fault::Silent(format!("no answer within {PATIENCE:?}"))),
        };
        *is_lost |= matches!(answer, Err(Fault::Lost(_) | Fault::Silent(_)));
        answer
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, Fault> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let prepared = Self::wait(&self.runtime, &mut self.is_lost, self.client.prepare(sql))?;
        self.prepared.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }
}

fn fault(error: &tokio_postgres::Error) -> Fault {
    // What the server has said, it has said of what was asked; else the connection is gone.
    let lasts = error.as_db_error().is_some_and(|it| {
        let code = it.code().code();
        // Connections, operators who shut it down, resources: all may be over next time.
        !(code.starts_with("08")
            || code.starts_with("57")
            || code.starts_with("53")
            || code.starts_with("40")
            || code.starts_with("55"))
    });
    if lasts {
        Fault::Other(said(error))
    } else {
        Fault::Lost(said(error))
    }
}

fn parameter(cell: &Cell) -> Parameter {
    Parameter::new(match cell {
        Cell::Null => None,
        Cell::Integer(it) => Some(it.to_string()),
        Cell::Real(it) => Some(it.to_string()),
        Cell::Text(it) => Some(it.clone()),
    })
}

fn cell(row: &tokio_postgres::Row, at: usize) -> Result<Cell, tokio_postgres::Error> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(i64::from).into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.into(),
        Type::BOOL => row.try_get::<_, Option<bool>>(at)?.into(),
        _ => row.try_get::<_, Option<String>>(at)?.into(),
    })
}

impl Connection for Postgres {
    fn kind(&self) -> &'static str {
        "postgresql"
    }

    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, Fault> {
        let statement = self.statement(sql)?;
        let parameters: Vec<Parameter> = cells.iter().map(parameter).collect();
        Self::wait(
            &self.runtime,
            &mut self.is_lost,
            self.client.execute_raw(&statement, &parameters),
        )
    }

    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(sql)?;
        let parameters: Vec<Parameter> = cells.iter().map(parameter).collect();
        let columns: Arc<[String]> = statement
            .columns()
            .iter()
            .map(|it| it.name().to_owned())
            .collect();
        let asked = async {
            use futures_util::TryStreamExt as _;
            let found = self.client.query_raw(&statement, &parameters).await?;
            let rows = found.and_then(|row| {
                let cells: Result<Vec<Cell>, _> = (0..row.len()).map(|at| cell(&row, at)).collect();
                std::future::ready(cells)
            });
            rows.try_collect::<Vec<Vec<Cell>>>().await
        };
        let rows = Self::wait(&self.runtime, &mut self.is_lost, asked)?.into_iter();
        Ok(rows
            .map(|cells| Row {
                columns: Arc::clone(&columns),
                cells,
            })
            .collect())
    }

    fn batch(&mut self, sql: &str) -> Result<(), Fault> {
        Self::wait(
            &self.runtime,
            &mut self.is_lost,
            self.client.batch_execute(sql),
        )
    }

    fn begin(&mut self) -> Result<(), Fault> {
        self.batch("BEGIN")
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        // A connection that has ended has rolled back.
        if !self.is_lost {
            let _ = self.batch("ROLLBACK");
        }
    }

    fn lock_schema(&mut self) -> Result<(), Fault> {
        self.batch(&format!("SELECT pg_advisory_xact_lock({LOCK})"))
    }

    fn version(&mut self) -> Result<u32, Fault> {
        let there = self.query(
            "SELECT to_regclass('mcp_eval_schema') IS NOT NULL AS there",
            &[],
        )?;
        if there.first().and_then(|it| it.flag("there")) != Some(true) {
            return Ok(0);
        }
        let found = self.query("SELECT MAX(version) AS version FROM mcp_eval_schema", &[])?;
        let version = found
            .first()
            .and_then(|it| it.count("version"))
            .unwrap_or(0);
        Ok(version.try_into().unwrap_or(u32::MAX))
    }

    fn set_version(&mut self, version: u32) -> Result<(), Fault> {
        self.batch("CREATE TABLE IF NOT EXISTS mcp_eval_schema (version BIGINT PRIMARY KEY)")?;
        self.execute(
            "INSERT INTO mcp_eval_schema (version) VALUES ($1)",
            &[i64::from(version).into()],
        )?;
        Ok(())
    }

    fn tables(&mut self) -> Result<Vec<String>, Fault> {
        let rows = self.query(
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = ANY (current_schemas(false))",
            &[],
        )?;
        Ok(rows.iter().map(|it| it.string("name")).collect())
    }

    fn columns(&mut self, table: &str) -> Result<Vec<String>, Fault> {
        let statement = self.statement(&format!("SELECT * FROM {table} LIMIT 0"))?;
        Ok(statement
            .columns()
            .iter()
            .map(|it| it.name().to_owned())
            .collect())
    }

    fn is_current(&self) -> bool {
        !self.is_lost && !self.client.is_closed()
    }

    fn bytes(&mut self) -> Option<u64> {
        let tables = super::schema::TABLES.map(|it| format!("pg_total_relation_size('{it}')"));
        let sql = format!("SELECT {} AS bytes", tables.join(" + "));
        self.query(&sql, &[]).ok()?.first()?.count("bytes")
    }

    fn check(&mut self) -> Result<Vec<String>, Fault> {
        // The server looks after its files itself.
        Ok(Vec::new())
    }

    fn shrink(&mut self) -> Result<(), Fault> {
        // The server does so by itself.
        Ok(())
    }
}
