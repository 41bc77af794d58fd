//! `mcp-eval help`: commands, and the topics of the manual.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::common::{Project, manual, ran, root, skipped, topics};

/// What the program prints of a topic.
fn topic(name: &str) -> String {
    Project::new().expect(0, &["help", name]).stdout
}

#[test]
fn the_readme_is_short_and_names_every_topic() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 250);
    let help = Project::new().expect(0, &["--help"]);
    for name in topics() {
        assert!(readme.contains(&format!("| [{name}](src/cli/help/{name}.md) | ")));
        help.says(&name);
        let text = fs::read_to_string(root().join(format!("src/cli/help/{name}.md"))).unwrap();
        let printed = topic(&name);
        assert_eq!(printed.lines().count(), text.lines().count(), "{name}");
        assert!(!printed.contains("]("), "{name}: {printed}");
        // What is typed, and the rows of tables, stand on one line each.
        let prose = text.split("```").step_by(2).flat_map(str::lines);
        for line in prose.filter(|it| !it.starts_with('|')) {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
    }
    let files = fs::read_dir(root().join("src/cli/help")).unwrap();
    assert_eq!(files.count(), topics().len(), "a file is no topic");
}

#[test]
fn help_on_a_command_is_what_its_option_says() {
    let project = Project::new();
    let all = project.expect(0, &["--help"]);
    assert_eq!(project.expect(0, &["help"]).stdout, all.stdout);
    for command in ["record", "compare", "validate", "schema", "help"] {
        let own = project.expect(0, &[command, "--help"]).stdout;
        let help = project.expect(0, &["help", command]).stdout;
        assert_eq!(help, own, "{command}");
    }
    assert!(topic("scenario").contains("(`mcp-eval help upstreams`)"));
    // A topic and a command share this name; each mentions the other.
    assert!(topic("mock").contains("`mcp-eval mock --help`"));
    project
        .expect(0, &["mock", "--help"])
        .says("`mcp-eval help mock`");
    project
        .expect(0, &["validate", "--help"])
        .says("`mcp-eval help scenario`");
}

#[test]
fn short_help_has_the_ten_options_that_people_use_and_long_help_all_by_heading() {
    let project = Project::new();
    let options = |help: &str| {
        let lines = help.lines().map(str::trim_start);
        let lines = lines.filter(|it| it.starts_with('-') && !it.starts_with("-h, "));
        lines.count()
    };
    for command in ["record", "compare", "run"] {
        let short = project.expect(0, &[command, "-h"]).stdout;
        assert_eq!(options(&short), 10, "{short}");
        assert!(short.contains("see more with '--help'"), "{short}");
        let long = project.expect(0, &[command, "--help"]).stdout;
        assert!(options(&long) > 30, "{long}");
        // Only how to get help has no heading of its own.
        let (_, rest) = long.split_once("\nOptions:\n").unwrap();
        let without = rest.split_once(":\n      --").map_or(rest, |it| it.0);
        assert_eq!(options(without), 0, "{long}");
        for heading in ["Scenarios:", "Runs:", "Agents and models:", "Results:"] {
            let headings = long.lines().filter(|it| *it == heading);
            assert_eq!(headings.count(), 1, "{command}: {heading}: {long}");
        }
    }
}

#[test]
fn help_on_nothing_known_names_what_there_is() {
    let project = Project::new();
    let unknown = project.expect(2, &["help", "nonsense"]);
    unknown
        .says("error: there is no command or topic `nonsense`")
        .says("topics: start, scenario, baselines, ")
        .says("`mcp-eval --help` lists the commands")
        .says_not("did you mean");
    assert_eq!(unknown.stdout, "");
    for (written, meant) in [
        ("recrod", "record"),
        ("Compare", "compare"),
        ("scenarios", "scenario"),
        ("agent", "agents"),
        ("container", "containers"),
    ] {
        project
            .expect(2, &["help", written])
            .says(&format!("did you mean `mcp-eval help {meant}`?"));
    }
    project
        .expect(2, &["help", "record", "compare"])
        .says("unexpected argument 'compare'");
}

#[test]
fn the_manual_names_every_key() {
    let project = Project::new();
    let schema = project.expect(0, &["schema", "scenario"]).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let text = manual();
    let words: Vec<&str> = text
        .split(|it: char| !it.is_alphanumeric() && it != '_')
        .collect();
    for section in [
        "/properties",
        "/$defs/ServerSection/oneOf/*/properties",
        "/$defs/ReadySection/properties",
        "/$defs/ScoringSection/properties",
        "/$defs/ResponseSection/properties",
        "/$defs/AgentSection/oneOf/*/properties",
        "/$defs/InteractionSection/properties",
        "/$defs/ExpectationSection/properties",
        "/$defs/PriceSection/properties",
        "/$defs/JudgeSection/oneOf/*/properties",
        "/$defs/ContainerSection/properties",
    ] {
        let sections: Vec<&Value> = match section.split_once("/*") {
            Some((kinds, below)) => {
                let kinds = schema.pointer(kinds).and_then(Value::as_array).unwrap();
                kinds.iter().map(|it| it.pointer(below).unwrap()).collect()
            }
            None => vec![schema.pointer(section).unwrap()],
        };
        let keys = sections
            .iter()
            .flat_map(|it| it.as_object().unwrap().keys());
        for key in keys {
            assert!(
                words.contains(&key.as_str()),
                "the manual lacks `{key}` of {section}"
            );
        }
    }
}

#[test]
fn shells_and_man_are_given_every_command() {
    let project = Project::new();
    let all = project.expect(0, &["--help"]).stdout;
    let commands = all.lines().skip_while(|it| *it != "Commands:").skip(1);
    let commands = commands.take_while(|it| !it.is_empty());
    // What does not fit a line goes on further in.
    let commands = commands.filter_map(|it| it.strip_prefix("  "));
    let commands = commands.filter(|it| !it.starts_with(' '));
    let commands: Vec<&str> = commands.filter_map(|it| it.split(' ').next()).collect();
    assert!(
        commands.contains(&"compare") && commands.contains(&"man"),
        "{commands:?}"
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = project.expect(0, &["completions", shell]).stdout;
        for command in ["compare", "explain", "--threshold"] {
            let command = command.trim_start_matches('-');
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    project.expect(2, &["completions", "tcsh"]);
    let page = project.expect(0, &["man"]).stdout;
    assert!(page.contains(".TH mcp-eval 1"), "{page}");
    // What is typed is shown as it is typed.
    assert!(page.contains("\n.nh\n.ad l\n"), "{page}");
    assert!(page.contains("\n.SH EXTRA\n.nf\n"), "{page}");
    project.expect(0, &["man", "--output", "pages"]);
    for command in commands {
        let page = project.read(format!("pages/mcp-eval-{command}.1"));
        assert!(page.contains("Examples:"), "{command}: {page}");
    }
    for topic in topics() {
        let page = project.read(format!("pages/mcp-eval-{topic}.7"));
        assert!(page.starts_with(&format!(".TH mcp-eval-{topic} 7\n.nh\n.nf\n## ")));
        // What is typed is shown as it is typed.
        let lines = page.lines().skip(3).filter(|it| *it != ".fi");
        assert!(!lines.into_iter().any(|it| it.starts_with('.')), "{topic}");
    }
}

#[test]
fn a_bash_completes_options_and_values_of_each_command() {
    let project = Project::new();
    if Command::new("bash").arg("--version").output().is_err() {
        skipped("what bash completes", "there is no bash");
        return;
    }
    let script = project.expect(0, &["completions", "bash"]).stdout;
    project.file("completions.bash", script);
    for (words, offered) in [
        (&["comp"][..], "compare completions"),
        (&["init", "--wo"], "--workflow"),
        (&["init", "--workflow", ""], "github gitlab"),
        (&["compare", "--format", "j"], "json junit"),
        (&["import", "ori"], "original"),
        (&["review", "--accept-"], "--accept-cause --accept-all"),
        (&["schema", "traj"], "trajectory"),
    ] {
        // As bash itself does it: the function that is registered for the program is given the program, the word and the one before.
        let asked = r#"source completions.bash
            COMP_WORDS=(mcp-eval "$@"); COMP_CWORD=$#
            registered=$(complete -p mcp-eval); registered=${registered##*-F }
            "${registered%% *}" mcp-eval "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            echo "${COMPREPLY[*]}""#;
        let mut bash = Command::new("bash");
        let bash = bash.args(["--norc", "-c", asked, "bash"]).args(words);
        let completed = ran(bash.current_dir(project.path("")));
        assert_eq!(completed.code, 0, "{completed:#?}");
        assert_eq!(
            completed.stdout.trim(),
            offered,
            "{words:?}: {completed:#?}"
        );
    }
}
