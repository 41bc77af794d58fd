//! `mcp-eval completions`: what a shell completes.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::console::Console;

const NAME: &str = "mcp-eval";

/// What the program is called while the script for bash is made. That takes a hyphen in a name for the border between two commands, and what
/// it calls `mcp-eval init` at one place it looks for under another name at the next.
const WITHOUT_HYPHEN: &str = "mcp_eval";

/// For bash: completes the names of scenarios that have results, which are data and never words of the shell.
const NAMES_IN_BASH: &str = r#"
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

/// The same for fish.
const NAMES_IN_FISH: &str = r#"
complete -c mcp-eval -n "__fish_mcp_eval_using_subcommand history" -f -a "(mcp-eval history --names 2>/dev/null)"
"#;

/// The same for zsh: a function, which stands before the script's own.
const NAMES_IN_ZSH: &str = r#"
_mcp_eval_names() {
    local -a names=("${(@f)$(command mcp-eval history --names 2>/dev/null)}")
    compadd -a names
}
"#;

/// What the script for zsh says of the argument that takes such a name, and what it says in the place of that.
const NAME_IN_ZSH: (&str, &str) = ("'::name -- A scenario, by id or name", ":_mcp_eval_names'");

pub(in crate::cli) fn run(args: &CompletionsArgs) {
    let script = match args.shell {
        Shell::Bash => for_our_name(&script(Shell::Bash, WITHOUT_HYPHEN)) + NAMES_IN_BASH,
        Shell::Fish => script(Shell::Fish, NAME) + NAMES_IN_FISH,
        Shell::Zsh => with_names(&script(Shell::Zsh, NAME)),
        shell => script(shell, NAME),
    };
    Console::document(&script);
}

/// The script for zsh with names that are completed. Its first line says what it is for, and stays the first.
fn with_names(script: &str) -> String {
    let (begins, ends) = NAME_IN_ZSH;
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    let lines = rest.lines().map(|line| {
        let named = line.strip_prefix(begins);
        match named.and_then(|it| it.strip_suffix(":_default' \\")) {
            Some(about) => format!("{begins}{about}{ends} \\\n"),
            None => format!("{line}\n"),
        }
    });
    format!("{first}\n{NAMES_IN_ZSH}{}", lines.collect::<String>())
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
