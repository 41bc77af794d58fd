//! The program as users meet it, from the command to the page, held word for word below `tests/golden/`.
//!
//! Each case has a folder there. Its `session.txt` has the commands with what they print and their exit codes; beside it lies what they
//! write. What differs from run to run, and from machine to machine, is replaced by [`normal`], and nowhere else. A file that no case
//! writes any more is a failure, too.
//!
//! With `UPDATE_GOLDEN=1` in the environment the files are written anew, to be reviewed like any other change:
//!
//! ```text
//! UPDATE_GOLDEN=1 cargo test --test it golden
//! ```

mod normal;
mod projects;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::common::{Project, root};

use normal::{normal, page};

/// What is done in a project, and what of that is held.
struct Case {
    /// Also the folder with what is expected.
    name: &'static str,
    project: fn() -> Project,
    steps: &'static [Step],
}

enum Step {
    /// A command of the program.
    Run(&'static str),
    /// Somebody changes what is tested.
    Change(fn(&Project)),
    /// A page as it is now, and the name that it is held by.
    Page(&'static str, &'static str),
}

use Step::{Change, Page, Run};

/// Where commands write what is held.
const KEPT: &str = "kept";

/// A command that also writes its result in the forms for others, under this name.
macro_rules! reporting {
    ($command:literal, $name:literal) => {
        Run(concat!(
            $command,
            " --report json=kept/",
            $name,
            ".json --report junit=kept/",
            $name,
            ".xml --report markdown=kept/",
            $name,
            ".md"
        ))
    };
}

/// What is done with a mock that has changed so.
macro_rules! after {
    ($change:expr) => {
        &[
            Run("record"),
            Change($change),
            reporting!("compare", "compare"),
            Page("reports/latest/weather.html", "compare.html"),
            Run("review --list"),
            Run("explain weather"),
            Run("report"),
            Run("run --report json=kept/run.json"),
            Run("record --report json=kept/record.json"),
        ]
    };
}

const CASES: &[Case] = &[
    Case {
        name: "unchanged",
        project: projects::weather,
        steps: after!(|_| {}),
    },
    Case {
        name: "value_changed",
        project: projects::weather,
        steps: after!(projects::warmer),
    },
    Case {
        name: "tool_renamed",
        project: projects::weather,
        steps: after!(projects::renamed),
    },
    Case {
        name: "server_that_does_not_start",
        project: projects::weather,
        steps: after!(projects::unstartable),
    },
    Case {
        name: "gateway",
        project: projects::gateway,
        steps: &[
            Run("record"),
            Change(projects::other_agent),
            reporting!("compare --allow-changed", "compare"),
            Page("reports/latest/weather.html", "compare.html"),
        ],
    },
    Case {
        name: "upstream",
        project: projects::upstream,
        steps: &[
            Run("record"),
            Change(projects::other_proxy),
            reporting!("compare", "compare"),
            Page("reports/latest/proxy.html", "compare.html"),
        ],
    },
    Case {
        name: "against",
        project: projects::versions,
        steps: &[
            reporting!("compare --against git:HEAD", "compare"),
            Page("reports/latest/says.html", "compare.html"),
        ],
    },
    Case {
        name: "format_1",
        project: || projects::stored(1),
        steps: &[
            reporting!("report result.json", "report"),
            Run("report result.json --format html --output pages"),
            Page("pages/shop.html", "report.html"),
        ],
    },
    Case {
        name: "format_2",
        project: || projects::stored(2),
        steps: &[
            reporting!("report result.json", "report"),
            Run("report result.json --format html --output pages"),
            Page("pages/renamed.html", "report.html"),
        ],
    },
];

/// How many files may hold all of it, so that somebody can review a change of them.
const MOST: usize = 60;

#[test]
fn golden() {
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let cases = CASES.iter().map(|it| scope.spawn(|| differences(it)));
        let cases: Vec<_> = cases.collect();
        let found = cases.into_iter().map(|it| it.join().unwrap());
        found.flatten().collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let count: usize = CASES.iter().map(|it| stored(it.name).len()).sum();
    assert!(count <= MOST, "{count} files");
}

/// What differs from what is expected of a case; with `UPDATE_GOLDEN`, nothing does, as it becomes what is expected.
fn differences(case: &Case) -> Vec<String> {
    let is = played(case);
    let folder = folder(case.name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &is {
            fs::write(folder.join(name), text).unwrap();
        }
        return Vec::new();
    }
    let expected = stored(case.name);
    let names = expected
        .keys()
        .chain(is.keys().filter(|it| !expected.contains_key(*it)));
    let differing = names.filter(|it| expected.get(*it) != is.get(*it));
    differing
        .map(|name| {
            let place = folder.join(name);
            match (expected.get(name), is.get(name)) {
                (Some(expected), Some(is)) => {
                    format!("{}:{}", place.display(), first_difference(expected, is))
                }
                (Some(_), None) => format!("{}: it is not written any more", place.display()),
                _ => format!("{}: nobody expects it", place.display()),
            }
        })
        .collect()
}

fn first_difference(expected: &str, is: &str) -> String {
    let (mut expected, mut is) = (expected.lines(), is.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (was, now) = (expected.next(), is.next());
        if was != now {
            let shown = |it: Option<&str>| it.unwrap_or("(the end)").to_owned();
            return format!(
                "{number}:\n  expected {}\n  and is   {}",
                shown(was),
                shown(now)
            );
        }
    }
}

/// What comes of a case: the files, by their names.
fn played(case: &Case) -> BTreeMap<String, String> {
    let project = (case.project)();
    fs::create_dir_all(project.path(KEPT)).unwrap();
    let mut session = String::new();
    let mut files = BTreeMap::new();
    for step in case.steps {
        match step {
            Run(words) => {
                // Where a run takes long, what fails is shown before its result, too.
                let arguments = words.split(' ').chain(["--no-progress"]);
                let ran = project.run(&arguments.collect::<Vec<_>>());
                let _ = write!(session, "$ mcp-eval {words}\n{}", ran.stdout);
                if !ran.stderr.is_empty() {
                    let _ = write!(session, "--- stderr\n{}", ran.stderr);
                }
                let _ = writeln!(session, "--- exit code {}\n", ran.code);
            }
            Change(change) => change(&project),
            Page(from, name) => {
                files.insert((*name).to_owned(), page(&project.read(from)));
            }
        }
    }
    files.insert("session.txt".to_owned(), session);
    for entry in fs::read_dir(project.path(KEPT)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, fs::read_to_string(path).unwrap());
    }
    files
        .into_iter()
        .map(|(name, text)| (name, normal(&text, &project)))
        .collect()
}

fn folder(case: &str) -> PathBuf {
    root().join("tests/golden").join(case)
}

fn stored(case: &str) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder(case)).into_iter().flatten();
    files
        .map(|it| {
            let path = it.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}
