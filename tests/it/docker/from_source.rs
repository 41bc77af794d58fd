//! Two versions of what runs in a container, built from its source.

use serde_json::{Value, json};

use super::kit::{A, alone, docker, engine, scenario, search};
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
#[ignore = "left to .ci/run, which has the time"]
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
#[ignore = "left to .ci/run, which has the time"]
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
        ran.says("returned a different text: \"one result\" → \"two results\"");
    }
    let result = project.result(1, &["compare", "--against", "git:HEAD"]);
    for side in ["baseline", "current"] {
        let stamp = &result["scenarios"][0][side]["stamp"]["image"];
        docker(&["rmi", "-f", stamp["name"].as_str().unwrap()]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn images_of_other_states_are_removed_when_asked_for() {
    if !engine("removing old images") {
        return;
    }
    let _alone = alone();
    let project = Project::new();
    let name = format!("cleaning{}", std::process::id());
    let dockerfile = format!("FROM {A}\nCOPY proxy.yaml /proxy.yaml\nCOPY weight /weight\n");
    let build = json!({ "context": format!("../{name}"), "inputs": [format!("../{name}")] });
    let section = json!({ "image": null, "build": build });
    scenario(&project, "s", &section, &search(), &json!({}));
    project.file(&format!("{name}/Dockerfile"), dockerfile);
    let tags = || -> Vec<String> {
        let filter = format!("reference=mcp-eval/{name}");
        let tags = docker(&["images", "--format", "{{.Tag}}", "--filter", &filter]);
        let mut tags: Vec<String> = tags.lines().map(str::to_owned).collect();
        tags.sort();
        tags
    };
    let mut known: Vec<String> = Vec::new();
    let run = |text: &str| {
        let weight = text.repeat(500_000 / text.len());
        project
            .file(&format!("{name}/proxy.yaml"), answering(text))
            .file(&format!("{name}/weight"), weight);
        project.expect(0, &["run"]);
    };
    for text in ["a", "b", "c", "d"] {
        run(text);
        known.extend(
            tags()
                .into_iter()
                .filter(|it| !known.contains(it))
                .collect::<Vec<_>>(),
        );
    }
    let [a, b, c, d] = &known[..] else {
        panic!("{known:?}");
    };
    let image = |tag: &str| format!("mcp-eval/{name}:{tag}");
    let container = docker(&["create", "--name", &format!("{name}-user"), &image(c)]);
    // Of the same name, and of somebody else; and one of ours that somebody gave a name of their own.
    docker(&["tag", A, &image("theirs")]);
    docker(&["tag", &image(d), &format!("{name}-theirs")]);
    // The state that is used last is no new one.
    run("b");

    let images = format!("--images={name}");
    project.expect(0, &["clean"]).says_not(a);
    // Builds of other tests may leave an image without a name at any time, and that would go, too.
    let ours = |cleaned: &Value| -> Vec<(String, String)> {
        assert!(cleaned["images"].as_u64() >= Some(1), "{cleaned}");
        assert!(
            cleaned["freed_bytes"].as_u64() >= Some(500_000),
            "{cleaned}"
        );
        let found = cleaned["found"].as_array().unwrap().iter();
        let found = found.filter(|it| it["name"].as_str().unwrap().contains(&name));
        found
            .map(|it| (it["name"].to_string(), it["outcome"].to_string()))
            .collect()
    };
    let line =
        |tag: &str, outcome: &str| (json!(image(tag)).to_string(), json!(outcome).to_string());
    let lines = |outcome: &str| {
        let mut lines = vec![line(a, outcome), line(c, "left alone"), line(d, outcome)];
        lines.sort();
        lines
    };
    let would = project.result(0, &["clean", &images, "--dry-run"]);
    assert_eq!(ours(&would), lines("would be removed"));
    assert_eq!(tags().len(), 5);
    let said = project.expect(0, &["clean", &images, "--dry-run"]);
    said.says(&format!(
        "would be removed: image {} (built of another state",
        image(a)
    ))
    .says(&format!("(the container {name}-user is made of it)"))
    .says(" would be removed, and ")
    .says("B freed");
    let removed = project.result(0, &["clean", &images]);
    assert_eq!(ours(&removed), lines("removed"));
    let mut left = vec![b.clone(), c.clone(), "theirs".to_owned()];
    left.sort();
    assert_eq!(tags(), left);

    docker(&["rm", &container]);
    let all = project.result(0, &["clean", &images]);
    assert_eq!(ours(&all), [line(c, "removed")]);
    docker(&[
        "rmi",
        &image(b),
        &image("theirs"),
        &format!("{name}-theirs"),
    ]);
}
