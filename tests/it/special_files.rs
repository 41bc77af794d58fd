//! Named pipes, sockets and devices in the place of files that are read: they are refused at once.

use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::json;

use crate::common::Project;

#[test]
fn what_is_no_file_is_refused_at_once_wherever_one_is_read() {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({}))]);
    project.expect(0, &["record"]);
    let made = Command::new("mkfifo")
        .args(["pipe.yaml", "pipe.json"])
        .current_dir(project.path(""))
        .status();
    assert!(made.unwrap().success());
    let _socket = UnixListener::bind(project.path("socket.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.path("zero.json")).unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&["run", "pipe.yaml"], "not a regular file"),
        (&["validate", "pipe.yaml"], "not a regular file"),
        (&["mock", "pipe.yaml"], "not a regular file"),
        (&["mock", "--llm", "pipe.yaml"], "not a regular file"),
        (&["run", "--mcp-config", "pipe.json"], "not a regular file"),
        (&["mock", "--from", "pipe.json"], "it is a named pipe"),
        (&["compare", "--run", "pipe.json"], "it is a named pipe"),
        (&["compare", "--run", "socket.json"], "it is a socket"),
        (&["compare", "--run", "zero.json"], "it is a device"),
        (&["compare", "--baseline", "pipe.json"], "pipe.json"),
        (&["report", "pipe.json"], "it is a named pipe"),
        (&["import", "original", "pipe.json"], "it is a named pipe"),
        (&["scan", "pipe.json"], "pipe.json"),
    ];
    for (arguments, message) in cases {
        let ran = project.run(arguments);
        assert!([2, 3].contains(&ran.code), "{arguments:?}: {ran:#?}");
        assert!(ran.took.as_secs() < 10, "{arguments:?}: {ran:#?}");
        ran.says(message);
    }
    // So is one in the place of what lies beside a scenario.
    std::fs::remove_file(project.path("baselines/s/baseline.json")).unwrap();
    std::fs::rename(
        project.path("pipe.json"),
        project.path("baselines/s/baseline.json"),
    )
    .unwrap();
    let ran = project.run(&["compare"]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    project.file("scenarios/t.yaml", project.read("scenarios/s.yaml"));
    std::fs::rename(
        project.path("pipe.yaml"),
        project.path("scenarios/_defaults.yaml"),
    )
    .unwrap();
    project.expect(2, &["run"]).says("not a regular file");
}
