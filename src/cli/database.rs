//! The results database as the command line names it.

use super::args::{DatabaseArgs, DbPlaceArgs};
use super::{Console, Failure, runtime};
use crate::redact;
use crate::store::database::{DEFAULT, Database, DatabaseError, Options, Place};
use crate::suite::RUNS;

/// Where it is.
///
/// # Errors
///
/// When the address cannot be read.
pub(super) fn place(args: &DbPlaceArgs) -> Result<Place, Failure> {
    match args.db.as_deref().filter(|it| !it.is_empty()) {
        Some(text) => Place::parse(text).map_err(|error| Failure::usage(format!("--db: {error}"))),
        None => Ok(Place::file(&*DEFAULT)),
    }
}

/// The one that a command writes its results to; `None` where it is to write none.
///
/// # Errors
///
/// As [`place`].
pub(super) fn of(args: &DatabaseArgs) -> Result<Option<Database>, Failure> {
    if args.no_db {
        return Ok(None);
    }
    let options = Options {
        anonymous: args.no_identity,
        runs: Some(RUNS.clone()),
        existing: false,
    };
    Ok(Some(Database::new(place(&args.place)?, options)))
}

/// The one that is asked. One that is not there is not made for that.
///
/// # Errors
///
/// As [`place`], and when there is no such file.
pub(super) fn existing(args: &DbPlaceArgs) -> Result<Database, Failure> {
    let place = place(args)?;
    if let Some(path) = place.path().filter(|it| !it.exists()) {
        let message = format!("there are no results yet: there is no {}", path.display());
        return Err(Failure::incomplete(message).hint(format!(
            "`mcp-eval run` and `mcp-eval compare` write results; {} takes them from the files of runs",
            place.rebuilding()
        )));
    }
    let options = Options {
        existing: true,
        ..options()
    };
    Ok(Database::new(place, options))
}

/// One that is made where there is none.
pub(super) fn open(place: Place) -> Database {
    Database::new(place, options())
}

fn options() -> Options {
    Options {
        anonymous: true,
        runs: Some(RUNS.clone()),
        existing: false,
    }
}

/// Waits for what was asked, and says what there is to tell besides.
///
/// # Errors
///
/// When the database cannot be asked.
pub(super) fn answered<T>(
    database: &Database,
    asked: impl Future<Output = Result<T, DatabaseError>>,
    console: Console,
) -> Result<T, Failure> {
    let (answer, notes) =
        runtime::here()?.block_on(async { (asked.await, database.flush().await) });
    tell(&notes, console);
    answer.map_err(|error| {
        Failure::incomplete(redact::environment().text(&error.to_string()).into_inner())
    })
}

/// Says what there is to tell of a database: what is not in it, or what became of it.
pub(super) fn tell(notes: &[String], console: Console) {
    for note in notes {
        console.warning(&format!("note: {}", redact::environment().text(note)));
    }
}
