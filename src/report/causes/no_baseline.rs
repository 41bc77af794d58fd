//! Baselines that are not there: one cause for all scenarios that lack theirs, and the command that records them and no others.

use std::collections::BTreeMap;

use crate::command::quoted;
use model::published::result::Problem;
use model::suite::NO_BASELINE;

/// What stands around the command in the hint of a scenario.
const RECORD_ONE: &str = "record one with `";
const END: &str = "`";

/// The options that say of which scenario a baseline is recorded.
const EXPRESSION: &str = "-k";
const FILE: &str = "--scenario";

/// The most bytes that the names in one command take, and the most commands.
const NAMES: usize = 8_000;
const COMMANDS: usize = 4;

/// Whether a problem is that a baseline is missing, which the command in its hint records.
pub(super) fn can_be_recorded(problem: &Problem) -> bool {
    let hint = problem.hint.as_deref().unwrap_or_default();
    problem.message.starts_with(NO_BASELINE) && hint.starts_with(RECORD_ONE)
}

/// The sentence on several scenarios, made from that on the first.
pub(super) fn of_several(first: &str, others: usize) -> String {
    match others {
        0 => first.to_owned(),
        1 => format!("{first}, nor does that of 1 other scenario"),
        more => format!("{first}, nor do those of {more} other scenarios"),
    }
}

/// A command without the names of its scenarios, and where these stand.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    words: Vec<String>,
    /// The names are words of an expression.
    is_expression: bool,
}

/// The hint for all, made from that for each; `None` where one of them is of another kind.
pub(super) fn hint_for_all(hints: &[String]) -> Option<String> {
    let mut commands: BTreeMap<Form, Vec<String>> = BTreeMap::new();
    for hint in hints {
        let command = hint.strip_prefix(RECORD_ONE)?.strip_suffix(END)?;
        let (form, name) = parted(shlex::split(command)?)?;
        let names = commands.entry(form).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut left_out = 0;
    let mut written = Vec::new();
    for (number, (form, names)) in commands.iter().enumerate() {
        if number == COMMANDS {
            left_out += commands
                .values()
                .skip(COMMANDS)
                .map(Vec::len)
                .sum::<usize>();
            break;
        }
        let (command, more) = form.with(names);
        written.push(format!("`{command}`"));
        left_out += more;
    }
    let more = match left_out {
        0 => String::new(),
        1 => ", and 1 more in the same way".to_owned(),
        more => format!(", and {more} more in the same way"),
    };
    Some(format!("record them with {}{more}", written.join(" and ")))
}

/// Takes the name of its scenario out of a command.
fn parted(mut words: Vec<String>) -> Option<(Form, String)> {
    let at = |option: &str, words: &[String]| words.iter().position(|it| it == option);
    let (at, is_expression) = match (at(EXPRESSION, &words), at(FILE, &words)) {
        (Some(at), _) => (at, true),
        (None, Some(at)) => (at, false),
        (None, None) => return None,
    };
    if at + 1 >= words.len() {
        return None;
    }
    let name = words.remove(at + 1);
    let form = Form {
        words,
        is_expression,
    };
    Some((form, name))
}

impl Form {
    /// The command for scenarios of these names, and how many of them find no room in it.
    fn with(&self, names: &[String]) -> (String, usize) {
        let mut room = NAMES;
        let fitting = names.iter().take_while(|it| {
            let left = room.checked_sub(it.len() + FILE.len());
            room = left.unwrap_or_default();
            left.is_some()
        });
        let fitting: Vec<&str> = fitting.map(String::as_str).collect();
        let words = self.words.iter().flat_map(|word| {
            let word = quoted(word);
            if word == EXPRESSION && self.is_expression {
                vec![word, quoted(&fitting.join(" or "))]
            } else if word == FILE && !self.is_expression {
                let each = fitting.iter();
                each.map(|it| format!("{FILE} {}", quoted(it))).collect()
            } else {
                vec![word]
            }
        });
        let words: Vec<String> = words.collect();
        (words.join(" "), names.len() - fitting.len())
    }
}

#[cfg(test)]
mod tests {
    use super::hint_for_all;

    fn hint(commands: &[&str]) -> Option<String> {
        let hints = commands.iter();
        let hints: Vec<String> = hints.map(|it| format!("record one with `{it}`")).collect();
        hint_for_all(&hints)
    }

    #[test]
    fn rows_and_files_have_one_command_for_each_kind() {
        let all = hint(&[
            "mcp-eval record -k s/1",
            "mcp-eval record -k '\"s/a b\"'",
            "mcp-eval record -k s/1",
            "mcp-eval record --scenario scenarios/a.yaml",
            "mcp-eval record --scenario 'scenarios/b c.yaml'",
            "mcp-eval record --scenario x/s.yaml -k s/7 --output o",
        ]);
        assert_eq!(
            all.as_deref(),
            Some(
                "record them with `mcp-eval record --scenario scenarios/a.yaml --scenario 'scenarios/b c.yaml'` and \
                 `mcp-eval record --scenario x/s.yaml -k s/7 --output o` and `mcp-eval record -k 's/1 or \"s/a b\"'`"
            )
        );
        assert_eq!(hint_for_all(&["something else".to_owned()]), None);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let commands: Vec<String> = (0..3_000)
            .map(|it| format!("mcp-eval record -k s/row-{it}"))
            .collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let all = hint(&commands).expect("they are of one kind");
        assert!(all.len() < 10_000, "{}", all.len());
        assert!(all.ends_with(" more in the same way"), "{all}");
    }
}
