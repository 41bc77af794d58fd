//! Commands that record baselines: one for a scenario, and one for many.

use std::collections::BTreeMap;

use crate::command::quoted;
use model::RecordCommand;

/// The most bytes that the names in one command take, and the most commands.
const NAMES: usize = 8_000;
const COMMANDS: usize = 4;

/// The command in words of a shell.
pub fn command(record: &RecordCommand) -> String {
    let rows: Vec<&str> = record.row.iter().map(String::as_str).collect();
    let files: Vec<&str> = record.file.iter().map(String::as_str).collect();
    of_all(&files, &rows, &record.options)
}

fn of_all(files: &[&str], rows: &[&str], options: &[String]) -> String {
    let mut words = vec!["mcp-eval record".to_owned()];
    words.extend(files.iter().map(|it| format!("--scenario {}", quoted(it))));
    if !rows.is_empty() {
        words.push(format!("-k {}", quoted(&rows.join(" or "))));
    }
    words.extend(options.iter().map(|it| quoted(it)));
    words.join(" ")
}

/// What the commands have in common that may be one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind<'a> {
    /// Whole files, with the same options.
    Files(&'a [String]),
    /// Rows of one file, or of files that need not be named.
    Rows(Option<&'a str>, &'a [String]),
}

/// What to do about all baselines that are missing: as few commands as there are kinds of them.
pub(crate) fn hint(records: &[RecordCommand]) -> String {
    let mut commands: BTreeMap<Kind<'_>, Vec<&str>> = BTreeMap::new();
    for it in records {
        let (file, options) = (it.file.as_deref(), it.options.as_slice());
        let (kind, name) = match &it.row {
            Some(row) => (Kind::Rows(file, options), row.as_str()),
            None => (Kind::Files(options), file.unwrap_or_default()),
        };
        let names = commands.entry(kind).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut left_out = 0;
    let mut written = Vec::new();
    for (number, (kind, names)) in commands.into_iter().enumerate() {
        let room = if number < COMMANDS {
            fitting(&names)
        } else {
            0
        };
        left_out += names.len() - room;
        if room > 0 {
            let names = &names[..room];
            let command = match kind {
                Kind::Files(options) => of_all(names, &[], options),
                Kind::Rows(file, options) => of_all(file.as_slice(), names, options),
            };
            written.push(format!("`{command}`"));
        }
    }
    let more = match left_out {
        0 => String::new(),
        1 => ", and 1 more in the same way".to_owned(),
        more => format!(", and {more} more in the same way"),
    };
    format!("record them with {}{more}", written.join(" and "))
}

/// How many of the names find room in one command.
fn fitting(names: &[&str]) -> usize {
    let mut room = NAMES;
    let fit = names.iter().take_while(|it| {
        let left = room.checked_sub(it.len() + "--scenario".len());
        room = left.unwrap_or_default();
        left.is_some()
    });
    fit.count()
}

#[cfg(test)]
mod tests {
    use super::{RecordCommand, hint};

    fn of(file: Option<&str>, row: Option<&str>, options: &[&str]) -> RecordCommand {
        RecordCommand {
            file: file.map(str::to_owned),
            row: row.map(str::to_owned),
            options: options.iter().copied().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn rows_and_files_have_one_command_for_each_kind() {
        let all = hint(&[
            of(None, Some("s/1"), &[]),
            of(None, Some("\"s/a b\""), &[]),
            of(None, Some("s/1"), &[]),
            of(Some("scenarios/a.yaml"), None, &[]),
            of(Some("scenarios/b c.yaml"), None, &[]),
            of(Some("x/s.yaml"), Some("s/7"), &["--output", "o"]),
        ]);
        assert_eq!(
            all,
            "record them with `mcp-eval record --scenario scenarios/a.yaml --scenario 'scenarios/b c.yaml'` and \
             `mcp-eval record -k 's/1 or \"s/a b\"'` and `mcp-eval record --scenario x/s.yaml -k s/7 --output o`"
        );
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let rows = (0..3_000).map(|it| of(None, Some(&format!("s/row-{it}")), &[]));
        let all = hint(&rows.collect::<Vec<_>>());
        assert!(all.len() < 10_000, "{}", all.len());
        assert!(all.ends_with(" more in the same way"), "{all}");
    }
}
