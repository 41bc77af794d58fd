//! The place of a results database, and what is kept there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::connection::DatabaseError;
use crate::sql::no_address;
use crate::store::own;

/// Where a results database is. `Display` and `Debug` show nothing of a URL that gives access.
#[derive(Clone, PartialEq, Eq)]
pub struct Place(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    File(PathBuf),
    /// `postgres://user:password@host:port/name`
    Postgres(String),
}

impl Place {
    /// Of a path, or of a URL that begins with `postgres://` or `postgresql://`.
    ///
    /// # Errors
    ///
    /// When it is a URL of another kind, or one that cannot be read. What it says of the URL is its kind alone.
    pub fn parse(text: &str) -> Result<Self, DatabaseError> {
        if text.trim().is_empty() {
            return Err(DatabaseError::new("the path of the database is empty"));
        }
        if let Some(why) = no_address(text) {
            return Err(DatabaseError::new(why));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = text.strip_prefix("sqlite:").unwrap_or(text);
            return Ok(Self::file(path));
        };
        match scheme {
            "postgres" | "postgresql" => {
                let read: Result<tokio_postgres::Config, _> = text.parse();
                let hosts = read.map(|it| it.get_hosts().len());
                match hosts {
                    Ok(1..) => Ok(Self(Kind::Postgres(text.to_owned()))),
                    Ok(0) => Err(DatabaseError::new(format!(
                        "the `{scheme}://` URL names no host"
                    ))),
                    // The error may repeat what it cannot read.
                    Err(_) => Err(DatabaseError::new(format!(
                        "the `{scheme}://` URL cannot be read: write {scheme}://USER:PASSWORD@HOST:PORT/NAME, and what is not a letter or digit \
                         in them as `%40`"
                    ))),
                }
            }
            "sqlite" | "file" => Ok(Self::file(rest)),
            _ => Err(DatabaseError::new(format!(
                "`{scheme}://` is not a results database: `postgres://…`, or the path of a file"
            ))),
        }
    }

    /// A file of SQLite.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::File(path.into()))
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::File(path) => Some(path),
            Kind::Postgres(_) => None,
        }
    }

    /// The command that adds what the files of runs hold, in words. Nothing of a URL that gives access stands in it.
    pub fn rebuilding(&self) -> String {
        match &self.0 {
            Kind::File(path) if *path == *DEFAULT => "`mcp-eval db rebuild`".to_owned(),
            Kind::File(path) => {
                format!(
                    "`mcp-eval db rebuild --db {}`",
                    quoted(&path.to_string_lossy())
                )
            }
            Kind::Postgres(_) => {
                "`mcp-eval db rebuild`, with the same --db or MCP_EVAL_DB,".to_owned()
            }
        }
    }

    /// The whole URL, where it is one.
    pub(super) fn url(&self) -> Option<&str> {
        match &self.0 {
            Kind::File(_) => None,
            Kind::Postgres(url) => Some(url),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(path) => path.display().fmt(f),
            Kind::Postgres(url) => f.write_str(&shown(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A path as a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./+=:@%,".contains(it);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// A URL without user, password and parameters, any of which may give access.
fn shown(url: &str) -> String {
    let Ok(config) = url.parse::<tokio_postgres::Config>() else {
        return "PostgreSQL".to_owned();
    };
    let host = config.get_hosts().first();
    let host = host.map_or_else(String::new, |it| match it {
        tokio_postgres::config::Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
        tokio_postgres::config::Host::Tcp(name) => name.clone(),
        tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
    });
    // The usual one is there whether somebody has written it or not.
    let port = config
        .get_ports()
        .first()
        .filter(|it| **it != 5432)
        .map_or_else(String::new, |it| format!(":{it}"));
    format!(
        "postgres://{host}{port}/{}",
        config.get_dbname().unwrap_or_default()
    )
}

/// The file, unless the user names another database.
pub static DEFAULT: LazyLock<PathBuf> = LazyLock::new(|| own("results.db"));

/// What is kept besides what always is.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Not who ran it, and where (`--no-identity`).
    pub anonymous: bool,
    /// The folder of the runs, from which a damaged file is made anew; `None` leaves the new one empty.
    pub runs: Option<PathBuf>,
    /// Only one that is there is used: where there is none, none is made.
    pub existing: bool,
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn nothing_that_gives_access_is_shown() {
        for (url, shown) in [
            (
                "postgres://me:s3cret@db.example:5433/results",
                "postgres://db.example:5433/results",
            ),
            (
                "postgresql://me:s3%40cret@[::1]/r?password=other",
                "postgres://[::1]/r",
            ),
            ("results.db", "results.db"),
            ("sqlite:a/b.db", "a/b.db"),
        ] {
            let place = Place::parse(url).expect("it can be read");
            assert_eq!(place.to_string(), shown);
            assert_eq!(format!("{place:?}"), shown);
        }
        for (url, why) in [
            ("postgres://me:s3cret@db.example:port/r", "cannot be read"),
            ("postgres://", "names no host"),
            (
                "mysql://me:s3cret@host/r",
                "`mysql://` is not a results database",
            ),
            (
                "postgres://me:a@s3cret@db.example/r",
                "`@` in a password as `%40`",
            ),
            ("host=db.example password=s3cret", "is neither a URL nor"),
            (" ", "is empty"),
        ] {
            let error = Place::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
