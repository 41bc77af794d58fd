//! A scenario that is made of a session with another one's servers means the same, wherever it is written.

use std::fs;
use std::path::{Component, Path, PathBuf};

use mcp_eval::scenario_file::{
    self, Found, Options, Place, Scenario, Session, Templates, find, session_scenario,
};

/// What every scenario here has, with a relative path wherever one may stand.
const COMMON: &str = r#"
name: s
config_file: conf/proxy.json
source:
  repo: ../product
  prepare: [[./tools/make, ./all], [../make], [npm, ci], [bin/tool]]
  cwd: ../product/build
  inputs: ["../product/src/**/*.ts", notes, /etc/hosts, "${source.dir}/src"]
upstreams:
  mock: { type: mock }
  time:
    type: http
    url: "http://127.0.0.1:${port}/mcp"
    start: { command: ./time, args: ["${port}"], cwd: time }
    headers_command: [../token, ./arg]
    tap: true
  notes: { command: ../notes, args: [./arg], cwd: work, tap: true }
mcp_interactions:
  mock: { tools: [{ name: read, responses: [{ content: yes }] }] }
before:
  - [bin/reset, ./all]
  - { command: [./seed], cwd: db }
after: [[/bin/true], [rm, x]]
expected_trajectory: [{ tool: mcp__plain__a }]
servers:
  plain: { command: ./serve, args: ["${config_file}", "${upstream.mock.url}", "${upstream.time.url}", "${upstream.notes.url}"], cwd: plain }
  web:
    type: http
    url: "http://127.0.0.1:${port}/mcp"
    headers_command: [./token, ./arg]
    start: { command: ../web/serve, args: ["${port}"], cwd: web }
"#;
const CONTAINER: &str = r#"
    build:
      context: image
      prepare: [[../tools/make, ./all], [sh, ./make], [./make]]
      cwd: tools
      inputs: [../product/src, image, "${source.dir}/lib"]
    port: 8080
    mounts:
      - data/sub:/data:ro
      - ./more:/more
      - cache:/cache
      - "${DATA:-/a:/b}/x:/x"
      - { source: other, target: /other }
      - { volume: v, target: /v }
"#;

/// The paths and programs of a scenario, the folder above both places out of them.
fn places(scenario: &Scenario, above: &Path) -> Vec<String> {
    let plain = |path: &Path| {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                other => plain.push(other),
            }
        }
        let plain = plain.to_string_lossy().into_owned();
        plain.replace(&above.to_string_lossy().into_owned(), "ABOVE")
    };
    let mut places = Vec::new();
    let mut visit = |place: Place<'_>| match place {
        Place::Path(path) => {
            // What is put in place of the reference takes the place of the folder before it.
            let path = path.to_string_lossy();
            let reference = path.find("${").map(|at| path[at..].to_owned());
            places.push(reference.unwrap_or_else(|| plain(Path::new(&*path))));
        }
        Place::Program(text) | Place::Text(text) if text.starts_with('/') => {
            places.push(plain(Path::new(text)));
        }
        Place::Program(text) | Place::Text(text) => places.push(text.clone()),
        Place::Variable(_) => {}
    };
    let mut scenario = scenario.clone();
    scenario.servers.templates(&mut visit);
    scenario.upstreams.templates(&mut visit);
    scenario.containers.templates(&mut visit);
    scenario.source.repo.templates(&mut visit);
    scenario.source.prepare.templates(&mut visit);
    scenario.before.templates(&mut visit);
    scenario.after.templates(&mut visit);
    scenario.config_file.templates(&mut visit);
    places
}

/// The one scenario in a folder.
fn load(folder: &Path) -> (Found, Scenario) {
    let (mut found, _) = find(&[folder.to_owned()]);
    let mut loaded = scenario_file::load(&found, &Options::default());
    assert_eq!(loaded.findings, []);
    (found.remove(0), loaded.scenarios.remove(0))
}

/// Has a session with the scenario of these texts, its own and that of the defaults above it, in `a/b/scenarios`; and checks that what is
/// made of it means the same in `a/c`, in `a/b` and in `a/b/scenarios/d`.
fn stays_the_same(own: &str, defaults: &str) {
    let root = tempfile::tempdir().unwrap();
    let above = root.path().canonicalize().unwrap();
    let home = above.join("a/b/scenarios");
    fs::create_dir_all(home.join("x/conf")).unwrap();
    fs::write(home.join("x/conf/proxy.json"), "{}").unwrap();
    fs::write(home.join("_defaults.yaml"), defaults).unwrap();
    fs::write(home.join("x/s.yaml"), own).unwrap();
    let (found, before) = load(&home);
    let session = Session {
        name: "again".to_owned(),
        config_file: before.config_file.clone(),
        ..Session::default()
    };
    let expected = places(&before, &above);
    for place in ["a/c", "a/b", "a/b/scenarios/x/d"] {
        let folder = above.join(place);
        fs::create_dir_all(&folder).unwrap();
        let keep = |it: &str| it.to_owned();
        let text = session_scenario(Some(&found), &session, &folder, &keep).unwrap();
        let path = folder.join("again.yaml");
        fs::write(&path, &text).unwrap();
        let (_, again) = load(&path);
        assert_eq!(places(&again, &above), expected, "{place}\n{text}");
        fs::remove_file(path).unwrap();
    }
}

/// All that there is to say of one container, beneath this key.
fn container(key: &str, name: &str) -> String {
    let url = format!("http://${{{name}.url}}/mcp");
    let server = format!("  boxed: {{ type: http, url: \"{url}\" }}\n");
    format!("{COMMON}{server}{key}{CONTAINER}")
}

#[test]
fn with_all_in_one_file() {
    stays_the_same(&container("docker:", "docker"), "");
}

#[test]
fn with_several_containers() {
    let several = container("containers:\n  box:", "containers.box");
    let second = "  second: { build: ../second }\n";
    stays_the_same(&format!("{several}{second}"), "");
}

#[test]
fn with_all_but_a_name_in_defaults_above() {
    let all = container("docker:", "docker");
    let defaults = all.replace("name: s\n", "").replace("conf/", "x/conf/");
    stays_the_same("name: s\n", &defaults);
}
