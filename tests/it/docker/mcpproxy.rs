//! The image and the scenarios for mcpproxy, with a stand-in for its program.

use std::fs;
use std::path::Path;
use std::process::Command;

use git2::{IndexAddOption, Repository, Signature};

use crate::common::{Project, Ran, ran, root, skipped, takes_its_time};
use crate::docker::kit::{A, docker, engine};

/// An image with a shell, what the start script calls, and what the stand-in answers, from this machine's own files: there may be no
/// registry to take one from. Its `npm` installs nothing.
fn base(folder: &Path) -> Option<&'static str> {
    let script = r#"
        set -e
        mkdir -p root/bin root/usr/local/bin root/tmp
        printf '#!/bin/sh\nexit 0\n' > root/bin/npm
        chmod +x root/bin/npm
        for program in sh cp mkdir; do
          path=$(readlink -f "$(command -v $program)")
          cp "$path" root/bin/$program
          ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
            mkdir -p "root$(dirname "$library")"
            cp -L "$library" "root$library"
          done
        done
    "#;
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .status();
    if !made.is_ok_and(|it| it.success()) {
        return None;
    }
    fs::write(
        folder.join("Dockerfile"),
        format!("FROM {A}\nCOPY root/ /\nCOPY stand_in.yaml /\nENTRYPOINT []\n"),
    )
    .unwrap();
    let declaration = root().join("tests/fixtures/mcpproxy/stand_in.yaml");
    fs::copy(declaration, folder.join("stand_in.yaml")).unwrap();
    let name = "mcp-eval-test/base:1";
    docker(&["build", "-q", "-t", name, folder.to_str().unwrap()]);
    Some(name)
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn without_its_image_the_scenarios_for_mcpproxy_are_skipped_and_nothing_else() {
    let project = Project::all_shipped();
    let mut command = project.command();
    // Whether there is an engine or not: there is no such image.
    let command = command.env("MCPPROXY_IMAGE", "mcp-eval-test/nowhere:1");
    let ran = ran(command.arg("compare"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    // A machine that is busy makes calls slower, which is reported.
    ran.says("Suite Results: 14/14 tests passed")
        .says(", 17 skipped")
        .says("its image `mcp-eval-test/nowhere:1`");
}

/// Stands for the program: it checks what the real one is given, the mounted configuration, copied to where it may be written, and its
/// folder for data.
const STAND_IN: &str = r#"#!/bin/sh
set -eu
[ "$1" = serve ] && [ "$2" = --config ] && [ "$4" = --data-dir ] && [ -d "$5" ] && [ "$6" = --listen ] || exit 9
read -r first < "$3"; [ "$first" = "{" ] || exit 8
echo >> "$3" || exit 7
exec /bin/mcp-eval mock --transport http --host 0.0.0.0 --allow-remote --port "${7##*:}" /stand_in.yaml
"#;

/// Stands for Go: what it builds is the source itself.
const GO: &str = r#"#!/bin/sh
set -eu
[ "$1" = build ] || exit 9
grep -q broken cmd/mcpproxy/main.go && { echo "main.go:1: it is broken"; exit 1; }
echo "$GOOS $GOARCH $CGO_ENABLED" >> "$BUILDS"
while [ "$1" != -o ]; do shift; done
cp cmd/mcpproxy/main.go "$2"
chmod +x "$2"
"#;

fn executable(project: &Project, path: &str, content: &str) {
    project.file(path, content);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(project.path(path), executable).unwrap();
}

/// A project with the shipped scenarios, the image's folder, and a base to build it from.
fn with_image(what: &str) -> Option<(Project, &'static str)> {
    if !takes_its_time(what) || !engine(what) {
        return None;
    }
    let project = Project::all_shipped();
    fs::create_dir_all(project.path("base")).unwrap();
    let Some(base) = base(&project.path("base")) else {
        skipped(what, "there is no shell with `ldd` to make its base of");
        return None;
    };
    for file in fs::read_dir(root().join("docker/mcpproxy")).unwrap() {
        let file = file.unwrap();
        let folder = project.path("docker/mcpproxy");
        fs::create_dir_all(&folder).unwrap();
        if file.file_name() != "mcpproxy" {
            fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
    }
    Some((project, base))
}

/// Runs the scenarios that the stand-in can answer.
fn run(project: &Project, code: i32, environment: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let scenarios = ["find_tools", "read_cache", "registries", "approve_server"];
    let mut command = project.command();
    let command = command.envs(environment.iter().copied()).args(arguments);
    let files = scenarios.map(|it| format!("scenarios/mcpproxy/{it}.yaml"));
    let ran = ran(command.args(["--jobs", "4"]).args(files));
    assert_eq!(ran.code, code, "{ran:#?}");
    ran
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_shipped_image_and_scenarios_for_mcpproxy_fit_together() {
    let Some((project, base)) = with_image("the image for mcpproxy") else {
        return;
    };
    executable(&project, "docker/mcpproxy/mcpproxy", STAND_IN);
    let context = project.path("docker/mcpproxy");
    let context = context.to_str().unwrap();
    let from = format!("BASE={base}");
    let built = "mcp-eval-test/mcpproxy:built";
    let revision = "org.opencontainers.image.revision=cafe123";
    let arguments = ["build", "-q", "--build-arg", &from, "--label", revision];
    docker(&[&arguments[..], &["-t", built, context]].concat());
    let image = [("MCPPROXY_IMAGE", built)];
    // Who has just got the image is shown how to go on, and nothing fails for that.
    let before = project.command();
    let mut before = before;
    let before = ran(before.envs(image).arg("compare"));
    assert_eq!(before.code, 0, "{before:#?}");
    before
        .says("14/14 tests passed")
        .says(", 17 skipped")
        .says("no baseline yet: record one with `mcp-eval record --scenario");
    run(&project, 0, &image, &["record"]).says("4/4 tests recorded");
    run(&project, 0, &image, &["compare"]).says("4/4 tests passed");
    let recorded = project.read("baselines/mcpproxy/find_tools/baseline.json");
    assert!(recorded.contains("\"revision\": \"cafe123\""), "{recorded}");

    // The other way to the same image: out of one that somebody has published.
    let published = format!("PUBLISHED={built}");
    let file = format!("{context}/Dockerfile.published");
    let again = "mcp-eval-test/mcpproxy:published";
    let more = ["-f", &file, "-t", again, "--build-arg", &published, context];
    docker(&[&arguments[..], &more].concat());
    run(&project, 0, &[("MCPPROXY_IMAGE", again)], &["compare"]).says("4/4 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn mcpproxy_is_built_from_its_source_when_that_has_changed() {
    let Some((project, base)) = with_image("mcpproxy from its source") else {
        return;
    };
    executable(&project, "bin/go", GO);
    let repository = Repository::init(project.path("source")).unwrap();
    // Nobody else has built of the same.
    let own = format!("{STAND_IN}# {}\n", project.path("").display());
    let commit = |content: &str| {
        project.file("source/cmd/mcpproxy/main.go", content);
        project.file("source/.gitignore", "dist/\n");
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        index.write().unwrap();
        let who = Signature::now("someone", "someone@example.org").unwrap();
        let parent = repository.head().and_then(|it| it.peel_to_commit()).ok();
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some("HEAD"), &who, &who, "Change it", &tree, &parents);
        id.unwrap().to_string()
    };
    let first = commit(&own);
    let path = format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let (source, log) = (project.path("source"), project.path("builds"));
    let environment = [
        ("MCPPROXY_SOURCE_PATH", source.to_str().unwrap()),
        ("MCPPROXY_BASE", base),
        ("PATH", &path),
        ("BUILDS", log.to_str().unwrap()),
    ];
    // What git ignores in the real repository would otherwise be part of what the image is made of.
    project.file("docker/mcpproxy/.gitignore", "mcpproxy\n");
    Repository::init(project.path("docker")).unwrap();
    let builds = || project.read("builds").lines().count();
    let run = |code: i32, arguments: &[&str]| run(&project, code, &environment, arguments);

    run(0, &["record"]).says("4/4 tests recorded");
    assert!(project.read("builds").starts_with("linux "));
    assert_eq!(builds(), 1, "all scenarios share one build");
    let recorded = || project.read("baselines/mcpproxy/find_tools/baseline.json");
    assert!(recorded().contains(&format!("\"revision\": \"{first}\"")));
    run(0, &["compare"]).says("4/4 tests passed");
    assert_eq!(builds(), 1, "nothing has changed");

    project.file("source/cmd/mcpproxy/main.go", format!("{own}# more\n"));
    run(0, &["compare"]).says("4/4 tests passed");
    assert_eq!(builds(), 2, "what is not committed counts");
    let result = project.read("reports/latest/result.json");
    assert!(result.contains(&format!("{first}-dirty")), "{result}");
    commit(&format!("{own}# more\n"));
    run(0, &["compare", "--against", "git:HEAD~1"]).says("4/4 tests passed");
    assert_eq!(builds(), 3, "the other version has its image already");

    project.file("source/cmd/mcpproxy/main.go", "broken");
    run(3, &["compare"])
        .says("docker/mcpproxy/build")
        .says("main.go:1: it is broken");
    fs::remove_dir_all(project.path("source/cmd")).unwrap();
    run(3, &["compare"]).says("is no source of mcpproxy: it has no folder cmd/mcpproxy");
}
