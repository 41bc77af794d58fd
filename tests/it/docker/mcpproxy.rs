//! The image and the scenarios for mcpproxy, with a stand-in for its program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Project, ran, root, skipped, takes_its_time};
use crate::docker::kit::{A, docker, engine};

/// An image with a shell and what the start script calls, from this machine's own files: there may be no registry to take one from.
fn base(folder: &Path) -> Option<&'static str> {
    let script = r#"
        set -e
        mkdir -p root/bin root/usr/local/bin root/tmp
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
        format!("FROM {A}\nCOPY root/ /\nENTRYPOINT []\n"),
    )
    .unwrap();
    let name = "mcp-eval-test/base:1";
    docker(&["build", "-q", "-t", name, folder.to_str().unwrap()]);
    Some(name)
}

#[test]
fn without_its_image_the_scenarios_for_mcpproxy_are_skipped_and_nothing_else() {
    let project = Project::all_shipped();
    let mut command = project.command();
    // Whether there is an engine or not: there is no such image.
    let command = command.env("MCPPROXY_IMAGE", "mcp-eval-test/nowhere:1");
    let ran = ran(command.arg("compare"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("Suite Results: 9/9 tests passed, 7 skipped")
        .says("its image `mcp-eval-test/nowhere:1`");
}

#[test]
fn the_shipped_image_and_scenarios_for_mcpproxy_fit_together() {
    let what = "the image for mcpproxy";
    if !takes_its_time(what) || !engine(what) {
        return;
    }
    let project = Project::all_shipped();
    fs::create_dir_all(project.path("base")).unwrap();
    let Some(base) = base(&project.path("base")) else {
        return skipped(what, "there is no shell with `ldd` to make its base of");
    };
    for file in fs::read_dir(root().join("docker/mcpproxy")).unwrap() {
        let file = file.unwrap();
        let folder = project.path("docker/mcpproxy");
        fs::create_dir_all(&folder).unwrap();
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    // It checks what the real one is given: the mounted configuration, copied to where it may be written, and its folder for data.
    let stand_in = r#"#!/bin/sh
set -eu
[ "$1" = serve ] && [ "$2" = --config ] && [ "$4" = --data-dir ] && [ -d "$5" ] && [ "$6" = --listen ] || exit 9
read -r first < "$3"; [ "$first" = "{" ] || exit 8
echo >> "$3" || exit 7
exec /bin/mcp-eval mock --transport http --host 0.0.0.0 --allow-remote --port "${7##*:}" /stand_in.yaml
"#;
    project.file("docker/mcpproxy/mcpproxy", stand_in);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(project.path("docker/mcpproxy/mcpproxy"), executable).unwrap();
    let context = project.path("docker/mcpproxy");
    let context = context.to_str().unwrap();
    let built = "mcp-eval-test/mcpproxy:built";
    let from = format!("BASE={base}");
    docker(&[
        "build",
        "-q",
        "-t",
        built,
        "--build-arg",
        &from,
        "--build-arg",
        "REVISION=cafe123",
        context,
    ]);

    let declaration = fs::read(root().join("tests/fixtures/mcpproxy/stand_in.yaml")).unwrap();
    project.file("image/stand_in.yaml", declaration);
    let with_stand_in = |of: &str, name: &str| {
        project.file(
            "image/Dockerfile",
            format!("FROM {of}\nCOPY stand_in.yaml /\n"),
        );
        docker(&[
            "build",
            "-q",
            "-t",
            name,
            project.path("image").to_str().unwrap(),
        ]);
    };
    let image = "mcp-eval-test/mcpproxy:stand-in";
    with_stand_in(built, image);
    let run = |arguments: &[&str]| {
        let mut command = project.command();
        let run = ran(command
            .env("MCPPROXY_IMAGE", image)
            .args(arguments)
            .args(["--tag", "mcpproxy", "--jobs", "4"]));
        assert_eq!(run.code, 0, "{run:#?}");
        run
    };
    run(&["record"]).says("Suite Results: 7/7 tests recorded");
    run(&["compare"]).says("Suite Results: 7/7 tests passed");
    let recorded = project.read("baselines/mcpproxy/add_server/baseline.json");
    assert!(recorded.contains("\"revision\": \"cafe123\""), "{recorded}");

    // The other way to the same image: out of one that somebody has published.
    let published = format!("PUBLISHED={built}");
    let file = format!("{context}/Dockerfile.published");
    let again = "mcp-eval-test/mcpproxy:published";
    docker(&[
        "build",
        "-q",
        "-f",
        &file,
        "-t",
        again,
        "--build-arg",
        &from,
        "--build-arg",
        &published,
        context,
    ]);
    with_stand_in(again, image);
    run(&["compare"]).says("Suite Results: 7/7 tests passed");
}
