//! The call of a command, as its result tells it: the options that decide what is run and how it is judged, as the user wrote them.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::cli::args::{
    AgainstChoice, CompareArgs, ExecuteArgs, RecordArgs, RunArgs, ScoreArgs, SelectArgs,
    ServersChoice,
};
use crate::git;
use crate::model::{Called, CalledOption};

/// How `record` was called.
pub(super) fn record(args: &RecordArgs) -> Called {
    let mut options = Options::default();
    options.value("--output", args.output.as_deref().map(shown));
    options.value("--takes", args.takes);
    options.flag("--allow-failing", args.allow_failing);
    options.execute(&args.execute);
    options.finish(&args.select, None)
}

/// How `run` was called.
pub(super) fn run(args: &RunArgs) -> Called {
    let mut options = Options::default();
    options.value("--run", args.run.as_deref().map(shown));
    options.value("--baseline", args.baseline.as_deref().map(shown));
    options.value("--suite", args.plan.suite.as_ref());
    options.score(&args.score);
    options.execute(&args.execute);
    options.finish(&args.select, None)
}

/// How `compare` was called.
pub(super) fn compare(args: &CompareArgs) -> Called {
    let mut options = Options::default();
    let baselines = match &args.against {
        Some(AgainstChoice::Baselines(folder)) => {
            options.value("--against", Some(format!("baseline:{}", shown(folder))));
            Some(folder)
        }
        Some(AgainstChoice::Version(version)) => {
            options.value("--against", Some(version));
            None
        }
        None => {
            options.value("--baseline", args.baseline.as_deref().map(shown));
            args.baseline.as_ref()
        }
    };
    options.value("--run", args.run.as_deref().map(shown));
    if args.servers == ServersChoice::Recorded {
        options.value("--servers", Some("recorded"));
    }
    options.value("--suite", args.plan.suite.as_ref());
    options.score(&args.score);
    options.flag("--strict-statistics", args.strict_statistics);
    options.flag("--allow-changed", args.allow_changed);
    options.execute(&args.execute);
    options.finish(&args.select, baselines.map(|it| shown(it)))
}

#[derive(Default)]
struct Options(Vec<CalledOption>);

impl Options {
    fn flag(&mut self, name: &str, is_given: bool) {
        if is_given {
            self.0.push(CalledOption {
                name: name.to_owned(),
                value: None,
            });
        }
    }

    fn value(&mut self, name: &str, value: Option<impl ToString>) {
        self.0.extend(value.map(|it| CalledOption {
            name: name.to_owned(),
            value: Some(it.to_string()),
        }));
    }

    fn choice(&mut self, name: &str, choice: Option<&impl ValueEnum>) {
        let value = choice.and_then(ValueEnum::to_possible_value);
        self.value(name, value.as_ref().map(PossibleValue::get_name));
    }

    fn score(&mut self, args: &ScoreArgs) {
        self.value("--threshold", args.threshold);
        self.value("--pass-threshold", args.pass_threshold);
        self.flag("--strict", args.strict);
        self.choice("--preset", args.preset.as_ref());
    }

    /// How many run at once, and whether the first failure ends it, decides about none of them.
    fn execute(&mut self, args: &ExecuteArgs) {
        self.value("--mcp-config", args.mcp_config.as_deref().map(shown));
        self.choice("--protocol", args.protocol.as_ref());
        self.choice("--agent", args.agent.as_ref());
        self.value(
            "--agent-command",
            args.agent_command.as_ref().map(|it| &it.text),
        );
        self.choice("--agent-format", args.agent_format.as_ref());
        self.value("--model", args.model.as_ref());
        for axis in &args.matrix {
            self.value("--matrix", Some(&axis.text));
        }
        self.value("--budget", args.budget);
        self.value("--judge", args.judging.judge.as_deref().map(shown));
        self.value("--repeat", args.repeat);
        self.flag("--no-docker", args.no_docker);
    }

    fn finish(mut self, select: &SelectArgs, baselines: Option<String>) -> Called {
        for (name, value) in &select.variables {
            self.value("--var", Some(format!("{name}={value}")));
        }
        self.value("--environment", select.environment.as_ref());
        let paths = select.paths.iter().chain(&select.scenarios);
        Called {
            folder: folder(),
            paths: paths.map(|it| shown(it)).collect(),
            options: self.0,
            baselines,
            keeps_pending: false,
            report: None,
            selection: None,
        }
    }
}

/// The working directory as seen from the root of its repository.
fn folder() -> Option<String> {
    let here = Path::new(".");
    let root = git::root(here).ok()?;
    let here = here.canonicalize().ok()?;
    Some(shown(here.strip_prefix(root).ok()?))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
