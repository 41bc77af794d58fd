//! A limit on the size of files is reported like every other reason that something cannot be written.

use std::process::Command;

use serde_json::json;

use crate::common::{Project, ran};

#[test]
fn a_file_too_large_to_be_written_is_reported() {
    let project = Project::new();
    project.faulty("s", &["big=100000"], &[("echo", json!({}))]);
    let ulimited = |arguments: &str| {
        let own = project.command();
        let mut shell = Command::new("sh");
        let program = own.get_program().to_str().unwrap();
        shell
            .args([
                "-c",
                &format!("ulimit -f 4 && exec '{program}' {arguments}"),
            ])
            .current_dir(project.path(""))
            .env_clear()
            .envs(
                own.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        ran(&mut shell)
    };
    let recorded = ulimited("record");
    assert_eq!(recorded.code, 3, "{recorded:#?}");
    recorded.says("File too large");
    assert!(!project.path("baselines/s/baseline.json").exists());
    // The result itself is too large for where it goes.
    let printed = ulimited("help scenario > help.txt");
    assert_eq!(printed.code, 3, "{printed:#?}");
    printed.says("could not be printed").says("File too large");
}
