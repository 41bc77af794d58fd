//! PostgreSQL, by URL.

use std::error::Error;
use std::sync::Arc;

use bytes::BytesMut;
use futures_util::{TryStreamExt, pin_mut};
use rustls::ClientConfig;
use rustls_platform_verifier::Verifier;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::{Format, IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, Connection, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::task::AbortOnDropHandle;

use super::query::{Gathered, Query, Rows, number, unbound, wrong_count};
use super::statement;

pub(super) async fn ask(url: &str, query: &Query) -> Result<Rows, String> {
    let parameters = query.parameters.iter().map(Parameter::of);
    let parameters: Vec<Parameter> = parameters.collect::<Result<_, _>>()?;
    let (mut client, _connection) = connect(url).await?;
    rows(&mut client, query, &parameters)
        .await
        .map_err(|it| match it {
            Refused::Said(error) => said(&error),
            Refused::Sentence(sentence) => sentence,
        })
}

/// A connection, which ends when the second part is dropped.
///
/// # Errors
///
/// Why there is none, in a sentence without the address.
pub(crate) async fn connect(url: &str) -> Result<(Client, AbortOnDropHandle<()>), String> {
    let config: &Config = &url.parse().map_err(|error| {
        format!(
            "the address of the database cannot be read: {}",
            said(&error)
        )
    })?;
    let refused = |error| format!("no connection to the database: {}", said(&error));
    // The certificates of the system take longer to read than most queries; on this machine nobody listens in.
    if config.get_ssl_mode() == SslMode::Disable
        || config.get_ssl_mode() == SslMode::Prefer && is_of_this_machine(config)
    {
        let (client, connection) = config.connect(NoTls).await.map_err(refused)?;
        return Ok((client, driven(connection)));
    }
    let tls = MakeRustlsConnect::new(tls().map_err(|error| format!("no TLS: {error}"))?);
    let (client, connection) = config.connect(tls).await.map_err(refused)?;
    Ok((client, driven(connection)))
}

/// What is wrong with a connection is said by whoever asks through it.
fn driven<S, T>(connection: Connection<S, T>) -> AbortOnDropHandle<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    AbortOnDropHandle::new(tokio::spawn(async {
        let _ = connection.await;
    }))
}

/// Whether a URL leads to sockets that are files.
pub(super) fn is_of_sockets(url: &str) -> bool {
    let config: Result<Config, _> = url.parse();
    // One that cannot be read leads nowhere.
    config.is_ok_and(|it| it.get_hosts().iter().any(|it| matches!(it, Host::Unix(_))))
}

fn is_of_this_machine(config: &Config) -> bool {
    config.get_hosts().iter().all(|it| match it {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    })
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned();
    let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider))?;
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

enum Refused {
    Said(tokio_postgres::Error),
    Sentence(String),
}

impl From<tokio_postgres::Error> for Refused {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Said(error)
    }
}

async fn rows(
    client: &mut Client,
    query: &Query,
    parameters: &[Parameter],
) -> Result<Rows, Refused> {
    let transaction = client.build_transaction().read_only(true).start().await?;
    // The server gives up, too: it would go on without us.
    let milliseconds = query.timeout.as_millis();
    let limit = format!("set local statement_timeout = {milliseconds}");
    transaction.batch_execute(&limit).await?;
    let text = statement::bare(&query.text);
    // Asked by itself first, so that what is wrong with it is said of what somebody wrote.
    let own = transaction.prepare(text).await?;
    if own.params().len() != parameters.len() {
        let count = wrong_count(own.params().len(), parameters.len());
        return Err(Refused::Sentence(count));
    }
    let wrapped = transaction.prepare(&as_text(text, &own)).await?;
    let found = transaction.query_raw(&wrapped, parameters).await?;
    pin_mut!(found);
    let columns = own.columns();
    let mut gathered = Gathered::new(columns.iter().map(|it| it.name().to_owned()).collect());
    while let Some(row) = found.try_next().await? {
        let cells = (0..columns.len()).map(|at| {
            let cell: Option<String> = row.try_get(at)?;
            Ok(cell.map_or(Value::Null, |it| value(columns[at].type_(), it)))
        });
        let cells: Result<_, tokio_postgres::Error> = cells.collect();
        if !gathered.take(cells?) {
            break;
        }
    }
    Ok(gathered.rows)
}

/// The same query with every column as text, as the server writes it: what it has is more than a client knows.
fn as_text(text: &str, own: &Statement) -> String {
    let names: Vec<String> = (1..=own.columns().len())
        .map(|it| format!("c{it}"))
        .collect();
    let cast: Vec<String> = names.iter().map(|it| format!("{it}::text")).collect();
    // A comment may end the query.
    format!(
        "select {} from (\n{text}\n) as asked({})",
        cast.join(", "),
        names.join(", ")
    )
}

fn value(kind: &Type, text: String) -> Value {
    match *kind {
        Type::BOOL => Value::Bool(text == "true" || text == "t"),
        Type::INT2
        | Type::INT4
        | Type::INT8
        | Type::OID
        | Type::FLOAT4
        | Type::FLOAT8
        | Type::NUMERIC => number(&text),
        Type::JSON | Type::JSONB => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        _ => Value::String(text),
    }
}

/// A parameter as text, which the server reads as whatever stands in its place.
#[derive(Debug)]
pub(crate) struct Parameter(Option<String>);

impl Parameter {
    /// A text, or null.
    pub(crate) fn new(text: Option<String>) -> Self {
        Self(text)
    }

    fn of(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self(None)),
            Value::Bool(it) => Ok(Self(Some(it.to_string()))),
            Value::Number(it) => Ok(Self(Some(it.to_string()))),
            Value::String(it) => Ok(Self(Some(it.clone()))),
            Value::Array(_) | Value::Object(_) => Err(unbound(value)),
        }
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Some(text) = &self.0 else {
            return Ok(IsNull::Yes);
        };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(ty, out)
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }
}

/// What the server said, or else the innermost reason.
pub(crate) fn said(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
