//! Two versions of what runs in a container, built from its source.

use serde_json::json;

use super::kit::{A, docker, engine, scenario, search};
use crate::common::{Project, commit_all};

/// What the server declares that answers so.
fn answering(text: &str) -> String {
    json!({ "mcp_interactions": { "proxy": { "tools": [{
        "name": "retrieve_tools",
        "annotations": { "read_only_hint": true },
        "responses": [{ "content": text }],
    }] } } })
    .to_string()
}

#[test]
fn an_image_is_built_from_each_version_once() {
    if !engine("building two versions of an image") {
        return;
    }
    let project = Project::new();
    let dockerfile = format!("FROM {A}\nCOPY made.yaml /proxy.yaml\n");
    project
        .file("server/image/Dockerfile", dockerfile)
        .file("server/.gitignore", "made.yaml\n")
        .file("server/say.yaml", answering("one result"));
    commit_all(&project.path("server"), "Say one");
    let made = "cp say.yaml image/made.yaml && echo x >> \"$BUILDS\"";
    let build = json!({
        "context": "${source.dir}/image",
        "prepare": [["sh", "-c", made]],
        "cwd": "${source.dir}",
        "env": { "BUILDS": project.path("builds").to_str().unwrap() },
    });
    let section = json!({ "image": null, "build": build });
    let source = json!({ "source": { "repo": "../server" } });
    scenario(&project, "s", &section, &search(), &source);
    let builds = || {
        let made = std::fs::read_to_string(project.path("builds"));
        made.map_or(0, |it| it.lines().count())
    };
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    assert_eq!(builds(), 1, "nothing has changed");
    project.file("server/say.yaml", answering("two results"));
    project.expect(1, &["compare"]).says("two results");
    assert_eq!(builds(), 2);
    let ran = project.expect(1, &["compare", "--against", "git:HEAD"]);
    ran.says("one result").says("two results");
    // The image of the commit is there from before, wherever it was laid out then.
    assert_eq!(builds(), 2);
    let result = project.result(1, &["compare", "--against", "git:HEAD"]);
    let image = |side: &str| {
        let stamp = &result["scenarios"][0][side]["stamp"]["image"];
        stamp["name"].as_str().unwrap().to_owned()
    };
    let images = [image("baseline"), image("current")];
    assert_ne!(images[0], images[1]);
    let other = json!({ "image": A });
    scenario(&project, "s", &other, &search(), &json!({}));
    project
        .expect(
            1,
            &["compare", "--against", &format!("image:{}", images[0])],
        )
        .says("one result");
    for image in &images {
        docker(&["rmi", image]);
    }
}

#[test]
fn versions_that_are_built_in_one_context_do_not_meet() {
    if !engine("building two versions in one context") {
        return;
    }
    let project = Project::new();
    let dockerfile = format!("FROM {A}\nCOPY made.yaml /proxy.yaml\n");
    project
        .file("context/Dockerfile", dockerfile)
        .file("server/say.yaml", answering("one result"));
    commit_all(&project.path("server"), "Say one");
    project.file("server/say.yaml", answering("two results"));
    let build = json!({
        "context": "../context",
        "prepare": [["sh", "-c", "cp ${source.dir}/say.yaml made.yaml; sleep 0.3"]],
    });
    let section = json!({ "image": null, "build": build });
    let source = json!({ "source": { "repo": "../server" } });
    scenario(&project, "s", &section, &search(), &source);
    for _ in 0..2 {
        let ran = project.expect(1, &["compare", "--against", "git:HEAD"]);
        ran.says("expected \"one result\", got \"two results\"");
    }
    let result = project.result(1, &["compare", "--against", "git:HEAD"]);
    for side in ["baseline", "current"] {
        let stamp = &result["scenarios"][0][side]["stamp"]["image"];
        docker(&["rmi", "-f", stamp["name"].as_str().unwrap()]);
    }
}
