//! `mcp-eval completions`: what a shell completes.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::console::Console;

const NAME: &str = "mcp-eval";

/// What the program is called while the script for bash is made. That takes a hyphen in a name for the border between two commands, and what
/// it calls `mcp-eval init` at one place it looks for under another name at the next.
const WITHOUT_HYPHEN: &str = "mcp_eval";

/// Completes the names of scenarios that have results, which are data and never words of the shell.
const NAMES: &str = r#"
_mcp_eval_with_names() {
    _mcp_eval "$@"
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" name
    if [[ "${COMP_WORDS[1]}" == history && "$current" != -* && "$before" != -* && $COMP_CWORD -gt 1 ]]; then
        COMPREPLY=()
        while IFS= read -r name; do
            [[ "$name" == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
        done < <("$1" history --names 2>/dev/null)
    fi
}
complete -F _mcp_eval_with_names -o nosort -o bashdefault -o default mcp-eval 2>/dev/null ||
    complete -F _mcp_eval_with_names -o bashdefault -o default mcp-eval
"#;

pub(in crate::cli) fn run(args: &CompletionsArgs) {
    let script = match args.shell {
        Shell::Bash => for_our_name(&script(Shell::Bash, WITHOUT_HYPHEN)) + NAMES,
        shell => script(shell, NAME),
    };
    Console::document(&script);
}

fn script(shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The script for bash, its function registered for what the program is called: the last word of `complete -F … NAME`.
fn for_our_name(script: &str) -> String {
    let lines = script.lines().map(|line| {
        let registers = line.trim_start().starts_with("complete ");
        match line.strip_suffix(WITHOUT_HYPHEN).filter(|_| registers) {
            Some(start) => format!("{start}{NAME}\n"),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}
