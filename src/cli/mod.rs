//! The command line: arguments, settings, exit codes, what is printed, one file per command.

mod advice;
mod args;
mod called;
mod ci;
mod commands;
mod console;
mod data_sets;
mod database;
mod dry_run;
mod exit;
mod finish;
mod gates;
mod judged_run;
mod keywise;
mod links;
mod matrix;
mod measured;
mod not_kept;
mod offline;
mod old_habits;
mod pages;
mod paths;
mod progress;
mod reports;
mod round;
mod runs;
mod runtime;
mod select;
mod shuffle;
mod stored;
mod stray;
mod suite;
mod suite_file;
mod to_run;
mod tracked;
mod watch;
mod without_scenarios;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use tokio::signal::unix::{SignalKind, signal};

use self::tracked::leave_tracked_alone;
use crate::cli::args::{Cli, Command};
use crate::process;

// What every command speaks and ends with.

pub(in crate::cli) use self::console::Console;
pub(in crate::cli) use self::exit::{Exit, Failure};

/// Runs the program as its arguments ask and returns the code to exit with.
pub fn main() -> ExitCode {
    if let Some(supervised) = supervise() {
        return supervised.map_or_else(
            |error| {
                let why = format!("`{}` is for mcp-eval itself: {error}", process::SUPERVISE);
                Console::default().failure(&Failure::usage(why));
                Exit::Usage.into()
            },
            |()| Exit::Passed.into(),
        );
    }
    report_file_limit();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_unknown = matches!(
                error.kind(),
                ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
            );
            let arguments = std::env::args_os().skip(1);
            let arguments: Vec<String> = arguments
                .map(|it| it.to_string_lossy().into_owned())
                .collect();
            if let Some(failure) = old_habits::answer(&arguments).filter(|_| is_unknown) {
                not_kept::of_words(&arguments, &failure);
                Console::default().failure(&failure);
                return failure.exit.into();
            }
            // Also prints `--help` and `--version`; a reader that has gone away is no failure of ours.
            let _ = error.print();
            return if error.use_stderr() {
                let said = error.to_string();
                let said = said.lines().next().unwrap_or_default();
                let failure = Failure::usage(said.trim_start_matches("error: "));
                not_kept::of_words(&arguments, &failure);
                Exit::Usage
            } else {
                Exit::Passed
            }
            .into();
        }
    };
    let console = Console::new(cli.output);
    let asked = cli.command.asked();
    let exit = run(cli, console).unwrap_or_else(|failure| {
        if let Some((command, asked)) = asked.filter(|_| !failure.is_printed) {
            not_kept::tell(command, &asked, &failure, console);
        }
        console.failure(&failure);
        failure.exit
    });
    let exit = match Console::lost() {
        None => exit,
        Some(why) => {
            let failure = Failure::incomplete(format!("the result could not be printed: {why}"));
            console.failure(&failure);
            exit.and(failure.exit)
        }
    };
    if process::may_leave_some() {
        console.note(
            "this system has no supervision of processes: what a server starts in a session of its own may still run",
        );
    }
    exit.into()
}

/// Supervises a process for another `mcp-eval`, if that is what this one was started for. Arguments are not read as a user's, and the
/// environment, which is the process's, is not read at all.
#[cfg(target_os = "linux")]
fn supervise() -> Option<std::io::Result<()>> {
    let mut args = std::env::args_os().skip(1);
    args.next().filter(|it| it == process::SUPERVISE)?;
    let program = args.next()?;
    let args: Vec<_> = args.collect();
    Some(process::supervise(&program, &args))
}

#[cfg(not(target_os = "linux"))]
fn supervise() -> Option<std::io::Result<()>> {
    None
}

fn run(cli: Cli, console: Console) -> Result<Exit, Failure> {
    if !matches!(cli.command, Command::Mock(_) | Command::Help(_)) {
        leave_tracked_alone(console)?;
    }
    match cli.command {
        Command::Init(args) => commands::init::run(&args, console),
        Command::Record(args) => commands::record::run(&args, console),
        Command::Compare(args) => commands::compare::run(&args, console),
        Command::Run(args) => commands::run::run(&args, console),
        Command::Bisect(args) => commands::bisect::run(&args, console),
        Command::Review(args) => commands::review::run(&args, console),
        Command::Report(args) => commands::report::run(&args, console),
        Command::History(args) => commands::history::run(&args, console),
        Command::Merge(args) => commands::merge::run(&args, console),
        Command::Explain(args) => commands::report::explain_stored(&args, console),
        Command::Validate(args) => commands::validate::run(&args, console),
        Command::List(args) => commands::list::run(&args, console),
        Command::Import(args) => commands::import::run(&args, console),
        Command::Mock(args) => commands::mock::run(&args, console),
        Command::Discover(args) => commands::serve::discover(&args, console),
        Command::Serve(args) => commands::serve::run(&args, console),
        Command::Scan(args) => commands::scan::run(&args, console),
        Command::Db(command) => commands::db::run(&command, console),
        Command::Judge(command) => commands::judge::run(&command, console),
        Command::Retrieval(args) => commands::retrieval::run(&args, console),
        Command::Security(args) => commands::security::run(&args, console),
        Command::Datasets(command) => commands::datasets::run(&command, console),
        Command::Clean(args) => commands::clean::run(&args, console),
        Command::Help(args) => commands::help::run(&args, console),
        Command::Completions(args) => {
            commands::help::print_completions(&args);
            Ok(Exit::Passed)
        }
        Command::Man(args) => commands::help::write_pages(&args, console),
        Command::Schema(args) => {
            commands::help::print_schema(&args);
            Ok(Exit::Passed)
        }
    }
}

/// Lets a write beyond the limit fail, so that it is reported like every other one that fails: unless somebody listens to it, the signal
/// `SIGXFSZ` ends the program without a word. Programs that we start do not inherit this, and have the signal as usual.
fn report_file_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    if let Ok(runtime) = runtime {
        // It is caught from here on, also when the runtime is gone.
        let _ = runtime.block_on(async {
            let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
            signal(kind).map(drop)
        });
    }
}
