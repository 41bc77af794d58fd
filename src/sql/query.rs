//! A query, its database, and what comes of it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub database: Database,
    /// One statement that only reads, with a placeholder for each parameter as the database writes it: `?`, or `$1` for PostgreSQL.
    pub text: String,
    /// Texts, numbers, booleans and nulls, in the order of the placeholders.
    pub parameters: Vec<Value>,
    /// From the connection to the last row.
    pub timeout: Duration,
}

/// Where a database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// `postgres://user:password@host:port/name`
    Postgres(String),
    /// `mysql://user:password@host:port/name`, also for MariaDB.
    MySql(String),
}

impl Database {
    /// Reads what a scenario names: a URL of PostgreSQL, MariaDB or MySQL; whatever is no URL is the path of a file, which may stand behind
    /// `sqlite:`.
    ///
    /// # Errors
    ///
    /// Which databases there are, for a URL of another kind, and how a URL is written, for what looks like the address of a server and is
    /// none. Nothing of the address is in it but its kind.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(why) = no_address(text) {
            return Err(why);
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = text.strip_prefix("sqlite:").unwrap_or(text);
            return Ok(Self::Sqlite(PathBuf::from(path)));
        };
        match scheme {
            "postgres" | "postgresql" => Ok(Self::Postgres(text.to_owned())),
            "mysql" | "mariadb" => Ok(Self::MySql(format!("mysql://{rest}"))),
            "sqlite" | "file" => Ok(Self::Sqlite(PathBuf::from(rest))),
            _ => Err(format!(
                "`{scheme}://` is not a database that can be asked: `postgres://…`, `mysql://…`, or the path of a file of SQLite"
            )),
        }
    }
}

/// How the words begin that other programs name a database of PostgreSQL by.
const KEYWORDS: [&str; 11] = [
    "host", "hostaddr", "server", "port", "user", "username", "password", "passfile", "dbname",
    "database", "sslmode",
];

/// Why a text that looks like the address of a server is none, in a sentence without the address, which may hold a password; `None` for
/// all others.
pub fn no_address(text: &str) -> Option<String> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    // What reads a URL would take a part of such a password for the host.
    if matches!(scheme, Some("postgres" | "postgresql")) && rest.matches('@').count() > 1 {
        return Some("the URL has more than one `@`: write `@` in a password as `%40`".to_owned());
    }
    let is_url = scheme.is_some_and(|it| {
        it.bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"+-.:".contains(&it))
    });
    if is_url || text.contains("${") {
        return None;
    }
    let has_keyword = text.split([' ', '\t', '\n', ';']).any(|it| {
        let name = it.split_once('=').map(|it| it.0.to_ascii_lowercase());
        name.is_some_and(|it| KEYWORDS.contains(&it.as_str()))
    });
    let is_kind = ["postgres:", "postgresql:", "mysql:", "mariadb:"]
        .iter()
        .any(|it| text.starts_with(it));
    let first = text.split('/').next().unwrap_or_default();
    let gives_access = first
        .split_once('@')
        .is_some_and(|(before, _)| before.contains(':') && !before.contains(' '));
    (has_keyword || is_kind || gives_access).then(|| {
        "it is neither a URL nor the path of a file: write postgres://USER:PASSWORD@HOST:PORT/NAME, or `./` before the name of a file"
            .to_owned()
    })
}

/// The parts of a database's address that have names, those of its parameters, and the address itself, so that secrets in it are known.
pub fn named(address: &str) -> impl Iterator<Item = (&str, &str)> {
    let parameters = address.split_once('?').map_or("", |it| it.1);
    let parameters = parameters.split('&').filter_map(|it| it.split_once('='));
    std::iter::once(("address", address)).chain(parameters)
}

/// Nothing of a URL but its kind: the rest may hold a password.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres(…)"),
            Self::MySql(_) => f.write_str("MySql(…)"),
        }
    }
}

/// What cannot be bound to a placeholder.
pub(super) fn unbound(value: &Value) -> String {
    format!("{value} cannot be a parameter: only texts, numbers, booleans and null can")
}

/// What is wrong where a query has not as many placeholders as there are parameters.
pub(super) fn wrong_count(wanted: usize, given: usize) -> String {
    let noun = if wanted == 1 {
        "placeholder"
    } else {
        "placeholders"
    };
    format!("the query has {wanted} {noun}, and {given} parameters are given")
}

/// The most rows that are read; of more, the first so many, and that there are more.
pub const MOST_ROWS: usize = 10_000;

/// The most that is read of all rows together, in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What a query returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    /// A value per column, each as JSON: what a database has beyond that – dates, decimals, bytes – as text.
    pub rows: Vec<Vec<Value>>,
    /// There are more than were read.
    pub has_more: bool,
}

/// Gathers rows as long as there is room for them.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) rows: Rows,
    bytes: usize,
}

impl Gathered {
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self {
            rows: Rows {
                columns,
                ..Rows::default()
            },
            bytes: 0,
        }
    }

    /// Takes a row; false where there was no room for it, and nothing more is to be read.
    pub(super) fn take(&mut self, row: Vec<Value>) -> bool {
        self.bytes += row.iter().map(size).sum::<usize>();
        if self.rows.rows.len() == MOST_ROWS || self.bytes > MOST_BYTES {
            self.rows.has_more = true;
            return false;
        }
        self.rows.rows.push(row);
        true
    }
}

/// About what a value takes, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => value.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// A number as databases print it, exactly, where JSON has one.
pub(super) fn number(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(|it: &Value| it.is_number() && is_whole(text, &it.to_string()))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Whether a number that is written so has all digits of the other; zeros at the end of a fraction are none.
fn is_whole(text: &str, read: &str) -> bool {
    let digits = |it: &str| -> String {
        let (mantissa, _) = it.split_once(['e', 'E']).unwrap_or((it, ""));
        let mantissa = match mantissa.split_once('.') {
            Some((whole, fraction)) => format!("{whole}{}", fraction.trim_end_matches('0')),
            None => mantissa.to_owned(),
        };
        let mantissa = mantissa.trim_start_matches(['-', '+', '0']);
        mantissa.trim_end_matches('0').to_owned()
    };
    digits(text) == digits(read)
}

/// Bytes that are no text, in hexadecimal.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => Value::String(format!("0x{}", hex::encode(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Database, no_address};

    #[test]
    fn what_may_hold_a_password_is_never_taken_for_the_name_of_a_file() {
        for text in [
            "postgres://u:sec@retPART@host/x",
            "postgres://u:s@ret/PART@host/x",
            "host=h password=PART",
            "password='PART' host=h",
            "Host=h;Password=PART",
            "postgres:u:PART@host",
            "u:PART@host/x",
            "password=PART host=x://y",
        ] {
            let why = no_address(text).unwrap_or_else(|| panic!("{text}"));
            assert!(!why.contains("PART"), "{why}");
            assert!(Database::parse(text).is_err(), "{text}");
        }
        for text in [
            "results.db",
            "./host=h.db",
            "sqlite:a/b.db",
            "file:///a@b:c@d.db",
            "a=b.db",
            "postgres://u:p%40w@host/x",
            "${DATABASE}",
        ] {
            assert_eq!(no_address(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_that_lead_to_files_are_known() {
        for (text, is) in [
            ("a.db", true),
            ("postgres://root@%2ftmp%2fsock/x", true),
            ("postgres://h/x?host=/tmp", true),
            ("postgres://h/x?host=%2Ftmp", true),
            ("postgres://a,%2ftmp/x", true),
            ("postgres://h/x?sslrootcert=/etc/passwd", true),
            ("postgres://h/x?sslmode=require", false),
            ("postgres://u:p@h:5433/x", false),
            ("mysql://h/x?socket=/tmp/s", true),
            ("mysql://h/x?socket=%2Ftmp%2Fs", true),
            ("mariadb://h/x", false),
        ] {
            let database = Database::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(database.is_of_files(), is, "{text}");
        }
    }
}
