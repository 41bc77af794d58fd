//! Commands and options of the original tool, `smart-mcp-proxy/mcp-eval`: answered with what to type here.

use crate::cli::failure::Failure;
use crate::report::command::quoted;

/// What its commands are called here.
const COMMANDS: [(&str, &str, &str); 2] = [
    ("test", "compare", "`test` is `compare` here"),
    (
        "batch",
        "compare",
        "`batch` is `compare` here, which takes whole folders",
    ),
];

/// What its options are called here; nothing where the value stands by itself.
const OPTIONS: [(&str, Option<&str>, &str); 3] = [
    ("-s", Some("--scenario"), "`-s` is `--scenario` here"),
    ("-t", Some("--tag"), "`-t` is `--tag` here"),
    (
        "--scenarios-dir",
        None,
        "folders of scenarios are named without an option here",
    ),
];

/// The answer to arguments (without the program's name) that cannot be read; `None` where they are not those of the original tool.
pub(super) fn answer(arguments: &[String]) -> Option<Failure> {
    let mut words = vec!["mcp-eval".to_owned()];
    let mut differences: Vec<&str> = Vec::new();
    let mut is_command = true;
    for argument in arguments {
        if is_command && !argument.starts_with('-') {
            is_command = false;
            let known = COMMANDS.iter().find(|(old, ..)| old == argument);
            differences.extend(known.map(|(.., said)| said));
            words.push(known.map_or_else(|| quoted(argument), |(_, new, _)| (*new).to_owned()));
            continue;
        }
        let known = OPTIONS.iter().find_map(|(old, new, said)| {
            let value = argument.strip_prefix(old)?;
            let value = value.strip_prefix('=').unwrap_or(value);
            // `--scenarios-directory` is nobody's option, and `-sX` is `-s X`.
            let is_it =
                argument.len() == old.len() || !old.starts_with("--") || argument.contains('=');
            is_it.then_some((new, said, value))
        });
        let Some((new, said, value)) = known else {
            words.push(quoted(argument));
            continue;
        };
        if !differences.contains(said) {
            differences.push(said);
        }
        words.extend(new.map(str::to_owned));
        if !value.is_empty() {
            words.push(quoted(value));
        }
    }
    if differences.is_empty() {
        return None;
    }
    let failure = Failure::usage(differences.join("; "));
    Some(failure.hint(format!("type: {}", words.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn arguments_of_the_original_tool_are_answered_with_ours() {
        for (written, ours) in [
            (
                "test -s scenarios/a.yaml",
                "compare --scenario scenarios/a.yaml",
            ),
            (
                "batch --scenarios-dir scenarios -t search",
                "compare scenarios --tag search",
            ),
            ("batch --scenarios-dir=other", "compare other"),
            (
                "record -sa.yaml --output b",
                "record --scenario a.yaml --output b",
            ),
        ] {
            let words: Vec<String> = written.split(' ').map(str::to_owned).collect();
            let failure = answer(&words).unwrap();
            assert_eq!(
                failure.hints,
                [format!("type: mcp-eval {ours}")],
                "{written}"
            );
        }
        for other in ["compare --nonsense", "--scenarios-directory x", "tset", ""] {
            let words: Vec<String> = other.split(' ').map(str::to_owned).collect();
            assert!(answer(&words).is_none(), "{other}");
        }
        let spaced = ["test".to_owned(), "my file.yaml".to_owned()];
        let failure = answer(&spaced).unwrap();
        assert_eq!(failure.hints, ["type: mcp-eval compare 'my file.yaml'"]);
    }
}
