//! Command lines to begin with, for the long help of each command.

pub(super) const RECORD: &str = "Examples:\n  \
    mcp-eval record\n  \
    mcp-eval record scenarios/search.yaml --takes 3\n  \
    mcp-eval record scenarios/search.yaml --output baselines/search\n  \
    mcp-eval record --listen --mcp-config servers.json --name first";

pub(super) const COMPARE: &str = "Examples:\n  \
    mcp-eval compare\n  \
    mcp-eval compare --tag search --jobs 4 --format json\n  \
    mcp-eval compare --watch --watch-path src\n  \
    mcp-eval compare --agent replay --against git:HEAD~1";

pub(super) const RUN: &str = "Examples:\n  \
    mcp-eval run scenarios/search.yaml\n  \
    mcp-eval run scenarios/search.yaml --watch --watch-path src\n  \
    mcp-eval run --mcp-config servers.json --fail-fast";

pub(super) const BISECT: &str = "Examples:\n  \
    mcp-eval bisect scenarios/search.yaml --good v1.0\n  \
    mcp-eval bisect scenarios/search.yaml --good v1.0 --bad v1.4 --resume";

pub(super) const REVIEW: &str = "Examples:\n  \
    mcp-eval review\n  \
    mcp-eval review --accept weather --accept flows/ticket\n  \
    mcp-eval review --accept-cause cause-0123456789\n  \
    mcp-eval review --accept weather --from artifact/reports/2026-11-22T10-00-00.000Z\n\n\
    Keys: a accept · v keep it beside the baseline, as a variant · i ignore this place from now on ·\n\
    r reject · s skip · d details · o open the page · q quit, for all scenarios that the change is in;\n\
    A, I, R and S decide on all changes of these scenarios\n\n\
    Exit codes: 0 done · 1 with --check, or after q and s: something is still pending;\n\
    with --accept-cause: nothing is accepted · 2 wrong usage · 3 something could not be read or written · 130 interrupted";

pub(super) const REPORT: &str = "Examples:\n  \
    mcp-eval report\n  \
    mcp-eval report -v\n  \
    mcp-eval report 2026-11-23T10-15-00.000Z --format html --output /tmp/report";

pub(super) const MERGE: &str = "Examples:\n  \
    mcp-eval merge results\n  \
    mcp-eval merge shard-1/result.json shard-2/result.json --report junit=junit.xml\n  \
    mcp-eval merge results --allow-missing --output merged\n\n\
    Exit codes: those of the command that ran in parts, of all its scenarios together · 2 also where results\n\
    are not of one plan, or have the same scenario · 3 also where a scenario is in none of them";

pub(super) const EXPLAIN: &str = "Examples:\n  \
    mcp-eval explain search\n  \
    mcp-eval explain search 2\n  \
    mcp-eval explain latest 2 --scenario proxy/search";

pub(super) const VALIDATE: &str = "Examples:\n  \
    mcp-eval validate\n  \
    mcp-eval validate scenarios/search.yaml --var topic=network\n\n\
    What a scenario file can say: `mcp-eval help scenario`";

pub(super) const LIST: &str = "Examples:\n  \
    mcp-eval list\n  \
    mcp-eval list scenarios/proxy --tag search --format json\n  \
    mcp-eval list --evaluators --agents";

pub(super) const MOCK: &str = "Examples:\n  \
    mcp-eval mock scenarios/weather.yaml\n  \
    mcp-eval mock scenarios/weather.yaml --transport http --port 8800\n\n\
    What a file can declare: `mcp-eval help mock`; for --llm, `mcp-eval help agents`";

pub(super) const SERVE: &str = "Examples:\n  \
    mcp-eval serve\n  \
    mcp-eval serve --port 0 --mcp-config servers.json --agent anthropic --model claude-sonnet-4-5\n  \
    mcp-eval serve --allow-programs --allow-write\n\n\
    The first line of stdout is JSON with `url` and `token`; `.mcp-eval/serve.json` holds the same for\n\
    clients on this machine. Requests show the token: `Authorization: Bearer TOKEN`. MCP_EVAL_TOKEN\n\
    chooses one, which is not printed. `GET /api/test/openapi.json` describes all routes, and\n\
    `mcp-eval help serve` explains them.\n\n\
    At `/`, people with a browser have a dashboard: what runs now, results, history, what waits for review.\n\
    stderr names a link that signs in once; later, the token does.\n\n\
    SIGINT or SIGTERM ends it: what runs may end within --grace, and a second signal stops it at once.\n\n\
    Exit codes: 0 ended by a signal · 2 wrong usage · 3 it could not listen";

pub(super) const DISCOVER: &str = "Examples:\n  \
    mcp-eval discover\n  \
    mcp-eval discover --url http://127.0.0.1:3002\n\n\
    It asks the server that was started in this folder, then the ports 3002, 3003 and 3004, which are those\n\
    of test servers, then 3001 and 3000, on which an application may have one inside.\n\n\
    Exit codes: 0 found · 2 wrong usage · 3 there is none";

pub(super) const IMPORT: &str = "Examples:\n  \
    mcp-eval import original recordings\n  \
    mcp-eval import original recordings/search_tools --output baselines --force";

pub(super) const SCAN: &str = "Examples:\n  \
    mcp-eval scan\n  \
    mcp-eval scan baselines --format json\n  \
    mcp-eval scan --staged\n\n\
    Exit codes: 0 nothing found · 1 something found · 2 wrong usage, or a path that does not exist ·\n3 something could not be read";

pub(super) const JUDGE: &str = "Examples:\n  \
    mcp-eval judge check judge/examples.yaml\n  \
    mcp-eval judge check judge/examples.yaml --judge judge.yaml --format json\n\n\
    How judges are asked, and what they judge by: `mcp-eval help judge`";

pub(super) const JUDGE_CHECK: &str = "Examples:\n  \
    mcp-eval judge check judge/examples.yaml\n  \
    mcp-eval judge check judge/examples.yaml --judge judge.yaml --min-kappa 0.6 --max-flips 0.1\n\n\
    Exit codes: 0 measured · 1 worse than asked for · 2 wrong usage, or an invalid file ·\n3 something has no verdict · 130 interrupted\n\n\
    How judges are asked, and what a file holds: `mcp-eval help judge`";

pub(super) const HISTORY: &str = "Examples:\n  \
    mcp-eval history\n  \
    mcp-eval history weather --since 30d\n  \
    mcp-eval history --tag search --format html --output history.html\n  \
    mcp-eval history --max-slowdown 1.5 --last 20";

pub(super) const DB: &str = "Examples:\n  \
    mcp-eval db info\n  \
    mcp-eval db rebuild\n  \
    mcp-eval db rebuild --db postgres://me@host/results\n  \
    mcp-eval db prune --keep 1000";

pub(super) const CLEAN: &str = "Examples:\n  \
    mcp-eval clean --dry-run\n  \
    mcp-eval clean\n  \
    mcp-eval clean --images=mcp-eval-proxy";

pub(super) const SCHEMA: &str = "Examples:\n  \
    mcp-eval schema scenario\n  \
    mcp-eval schema result";

pub(super) const HELP: &str = "Examples:\n  \
    mcp-eval help compare\n  \
    mcp-eval help scenario";

pub(super) const COMPLETIONS: &str = "Examples:\n  \
    mcp-eval completions bash > ~/.local/share/bash-completion/completions/mcp-eval\n  \
    mcp-eval completions zsh > ~/.zfunc/_mcp-eval\n  \
    mcp-eval completions fish > ~/.config/fish/completions/mcp-eval.fish";

pub(super) const MAN: &str = "Examples:\n  \
    mcp-eval man | man -l -\n  \
    mcp-eval man --output ~/.local/share/man/man1";

pub(super) const DATASETS: &str = "Examples:\n  \
    mcp-eval datasets snapshot --out corpus.json --version corpus_v2\n  \
    mcp-eval datasets validate --corpus corpus.json --golden golden.json";

pub(super) const DATASETS_SNAPSHOT: &str = "Examples:\n  \
    mcp-eval datasets snapshot --out corpus.json\n  \
    mcp-eval datasets snapshot --out corpus.json --version corpus_v2 --note \"with the file server\"";

pub(super) const DATASETS_VALIDATE: &str = "Examples:\n  \
    mcp-eval datasets validate --corpus corpus.json --golden golden.json";

pub(super) const DATASETS_POOL: &str = "Examples:\n  \
    mcp-eval datasets pool report.json --corpus corpus.json --golden golden.json --out pool.json";

pub(super) const DATASETS_GEN_QUERIES: &str = "Examples:\n  \
    mcp-eval datasets gen-queries --corpus corpus.json --out golden.json\n  \
    mcp-eval datasets gen-queries --corpus corpus.json --out golden.json --per-tool 5 --model-file model.yaml --budget 2";

pub(super) const RETRIEVAL: &str = "Examples:\n  \
    mcp-eval retrieval --corpus corpus.json --golden golden.json --baseline baseline.json\n  \
    mcp-eval retrieval --corpus corpus.json --golden golden.json --wait 5m --runs 3\n  \
    mcp-eval retrieval --corpus corpus.json --golden golden.json --search a.yaml --search b.yaml\n  \
    mcp-eval retrieval --corpus corpus.json --golden golden.json --search mcpproxy --scenario proxy.yaml --against git:HEAD~1";

pub(super) const SECURITY: &str = "Examples:\n  \
    mcp-eval security --verdicts scenarios/discovery/verdicts.json --corpus scenarios/discovery/suspects.json --fpr-ceiling 0.2 --recall-floor 0.7\n  \
    mcp-eval security --verdicts run1.json --verdicts run2.json --recall-floor 0.9\n  \
    mcp-eval security --verdicts scan.sarif --corpus corpus.json";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use crate::cli::args::Cli;

    #[test]
    fn every_example_of_every_command_is_read() {
        let cli = Cli::command();
        for command in cli.get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_long_help();
            let help = help.unwrap_or_else(|| panic!("`{name}` has no examples"));
            let help = help.to_string();
            let lines = help.lines().skip_while(|it| *it != "Examples:");
            let lines: Vec<&str> = lines.filter_map(|it| it.strip_prefix("  ")).collect();
            assert!((2..=4).contains(&lines.len()), "{name}: {lines:?}");
            for line in lines {
                let own = format!("mcp-eval {name}");
                assert!(line.starts_with(&own), "{name}: {line}");
                // Quotes hold words together; what follows `>` or `|` is the shell's.
                let line = line.split(['>', '|']).next().unwrap_or_default();
                let words = line.split(' ').filter(|it| !it.is_empty());
                if !line.contains(['"', '\'']) {
                    let read = Cli::try_parse_from(words);
                    assert!(read.is_ok(), "{line}: {:?}", read.err());
                }
            }
        }
    }
}
