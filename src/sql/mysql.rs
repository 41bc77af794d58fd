//! MariaDB and MySQL, by URL.

use mysql_async::consts::ColumnType;
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, Opts, OptsBuilder, Params, TxOpts, Value as Cell};
use serde_json::{Number, Value};

use super::query::{Gathered, Query, Rows, bytes, number, unbound, wrong_count};
use super::statement;

pub(super) async fn ask(url: &str, query: &Query) -> Result<Rows, String> {
    let parameters = query.parameters.iter().map(cell);
    let parameters: Vec<Cell> = parameters.collect::<Result<_, _>>()?;
    let opts = Opts::from_url(url)
        .map_err(|error| format!("the address of the database cannot be read: {error}"))?;
    // A server of this machine could lead to any socket here by telling that it listens there, too.
    let opts = OptsBuilder::from_opts(opts).prefer_socket(false);
    let mut connection = Conn::new(opts)
        .await
        .map_err(|error| format!("no connection to the database: {}", said(&error)))?;
    let answered = rows(&mut connection, query, parameters).await;
    // The answer is there; a server that is slow to say goodbye changes nothing.
    let _ = connection.disconnect().await;
    answered
}

/// Whether a URL leads to a socket that is a file.
pub(super) fn is_of_a_socket(url: &str) -> bool {
    Opts::from_url(url).is_ok_and(|it| it.socket().is_some())
}

async fn rows(connection: &mut Conn, query: &Query, parameters: Vec<Cell>) -> Result<Rows, String> {
    // The server gives up, too: it would go on without us. MariaDB has the first, MySQL the second.
    let seconds = query.timeout.as_secs_f64();
    let milliseconds = query.timeout.as_millis();
    let of_mariadb = format!("set session max_statement_time = {seconds}");
    if connection.query_drop(of_mariadb).await.is_err() {
        let of_mysql = format!("set session max_execution_time = {milliseconds}");
        let _ = connection.query_drop(of_mysql).await;
    }
    let mut options = TxOpts::default();
    options.with_readonly(true);
    let transaction = connection.start_transaction(options).await;
    let mut transaction = transaction.map_err(|error| said(&error))?;
    let text = statement::bare(&query.text);
    if statement::may_write_a_file(text) {
        return Err("a query that writes a file is not asked".to_owned());
    }
    let prepared = transaction.prep(text).await;
    let prepared = prepared.map_err(|error| said(&error))?;
    if usize::from(prepared.num_params()) != parameters.len() {
        let wanted = usize::from(prepared.num_params());
        return Err(wrong_count(wanted, parameters.len()));
    }
    let parameters = match parameters.len() {
        0 => Params::Empty,
        _ => Params::Positional(parameters),
    };
    let mut found = transaction
        .exec_iter(&prepared, parameters)
        .await
        .map_err(|error| said(&error))?;
    let columns: Vec<Column> = found.columns_ref().to_vec();
    let names = columns.iter().map(|it| it.name_str().into_owned());
    let mut gathered = Gathered::new(names.collect());
    while let Some(row) = found.next().await.map_err(|error| said(&error))? {
        let cells = row.unwrap().into_iter().zip(&columns);
        if !gathered.take(cells.map(|(it, column)| value(it, column)).collect()) {
            break;
        }
    }
    drop(found);
    Ok(gathered.rows)
}

fn cell(value: &Value) -> Result<Cell, String> {
    Ok(match value {
        Value::Null => Cell::NULL,
        Value::Bool(it) => Cell::Int(i64::from(*it)),
        Value::Number(it) => match (it.as_i64(), it.as_u64(), it.as_f64()) {
            (Some(it), _, _) => Cell::Int(it),
            (_, Some(it), _) => Cell::UInt(it),
            (_, _, Some(it)) => Cell::Double(it),
            _ => return Err(unbound(value)),
        },
        Value::String(it) => Cell::Bytes(it.clone().into_bytes()),
        Value::Array(_) | Value::Object(_) => return Err(unbound(value)),
    })
}

fn value(cell: Cell, column: &Column) -> Value {
    match cell {
        Cell::NULL => Value::Null,
        Cell::Int(it) => it.into(),
        Cell::UInt(it) => it.into(),
        // As it is written, so that 0.1 of four bytes stays 0.1.
        Cell::Float(it) => number(&it.to_string()),
        Cell::Double(it) => {
            Number::from_f64(it).map_or_else(|| it.to_string().into(), Value::Number)
        }
        Cell::Bytes(it) => match column.column_type() {
            ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => {
                number(&String::from_utf8_lossy(&it))
            }
            ColumnType::MYSQL_TYPE_JSON => {
                serde_json::from_slice(&it).unwrap_or_else(|_| bytes(&it))
            }
            _ => bytes(&it),
        },
        Cell::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let hours = days * 24 + u32::from(hours);
            let sign = if is_negative { "-" } else { "" };
            let fraction = match micros {
                0 => String::new(),
                micros => format!(".{micros:06}"),
            };
            format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}").into()
        }
        // As the database writes it.
        it @ Cell::Date(..) => it.as_sql(true).trim_matches('\'').to_owned().into(),
    }
}

/// What the server said, or why it did not answer.
fn said(error: &mysql_async::Error) -> String {
    match error {
        mysql_async::Error::Server(it) => it.message.clone(),
        other => other.to_string(),
    }
}
