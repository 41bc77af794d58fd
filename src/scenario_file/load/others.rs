//! Files beside the scenarios that may be no scenarios: the rows of a data set, a rubric, how a search is asked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 64 * 1024;
/// Keys at the beginning of a line that a scenario has not: of the parts of a rubric, and of how a search is asked.
const OF_OTHERS: [&str; 4] = ["dimensions:", "preset:", "http:", "tool:"];

/// Whether a file can be no scenario, so that another may name it: it begins as a list does, or has a key that a rubric or a search must have. That
/// is seen from its text alone, since files of rows may be large.
pub(super) fn may_be_of_others(path: &Path) -> bool {
    // Opening a named pipe could wait for ever.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|it| it.take(HEAD).read_to_end(&mut head));
    read.is_ok() && is_of_others(&String::from_utf8_lossy(&head))
}

fn is_of_others(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}');
    let says_nothing = |it: &&str| {
        let begins = ["#", "%", "---"];
        it.trim().is_empty()
            || begins
                .iter()
                .any(|begin| it.trim_start().starts_with(begin))
    };
    let first = head.lines().find(|it| !says_nothing(it));
    let is_list = first.is_some_and(|it| {
        let it = it.trim();
        it == "-" || it.starts_with("- ") || it.starts_with('[')
    });
    let has = |line: &str| OF_OTHERS.iter().any(|it| line.starts_with(it));
    is_list || head.lines().any(has)
}

#[cfg(test)]
mod tests {
    use super::is_of_others;

    #[test]
    fn lists_rubrics_and_searches_are_no_scenarios() {
        for (head, is) in [
            ("- { id: a }", true),
            ("# Cities\n\n---\n-\n  id: a", true),
            ("\u{feff}[{ id: a }]", true),
            ("id: tone\ndimensions:\n- name: x", true),
            ("name: ours\ntool: { name: find }", true),
            ("list: tools\nhttp:\n  url: x", true),
            ("name: s\ntags:\n- a", false),
            ("--- {name: s}", false),
            ("-1: x", false),
            ("judge:\n  dimensions: 3", false),
            ("", false),
        ] {
            assert_eq!(is_of_others(head), is, "{head}");
        }
    }
}
