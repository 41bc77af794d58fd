//! Evaluators that ask a database, at the program: rows that are right, that are not, and no rows at all.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{Project, free_port, skipped};
use crate::databases::server::Server;

const SCENARIO: &str = r"
name: Shop
servers: { shop: { type: mock } }
expected_trajectory:
  - { tool: mcp__shop__pay, args: { order: 7 } }
mcp_interactions:
  shop: { tools: [{ name: pay, responses: [{ content: Order 7 is paid }] }] }
";

/// Orders as every database takes them.
const ORDERS: [&str; 2] = [
    "create table orders (id int primary key, item varchar(50), state varchar(10))",
    "insert into orders values (7, 'tea', 'paid'), (8, 'milk', 'open')",
];

fn project(evaluators: &Value) -> Project {
    let project = Project::new();
    project.file(
        "scenarios/shop.yaml",
        format!("{SCENARIO}\nevaluators: {evaluators}\n"),
    );
    project
}

/// What `run` says of a query to the database at this address: its exit code, the status of the evaluator, and what it says.
fn judged(project: &Project, address: &str) -> (i64, String, String) {
    let mut command = project.command();
    let command = command.env("SHOP_DATABASE", address);
    let out = command.args(["run", "--format", "json"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let result: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{said}"));
    assert!(!said.contains("s3cret"), "{said}");
    let shown = result.to_string();
    assert!(!shown.contains("s3cret"), "{shown}");
    for it in walkdir::WalkDir::new(project.path("."))
        .into_iter()
        .flatten()
    {
        let bytes = std::fs::read(it.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("s3cret"), "{}", it.path().display());
    }
    let found = &result["scenarios"][0]["evaluators"][0];
    let details = &found["details"];
    (
        out.status.code().unwrap().into(),
        found["status"].as_str().unwrap_or("none").to_owned(),
        format!(
            "{} {details}",
            found["message"].as_str().unwrap_or_default()
        ),
    )
}

/// Evaluators that pass, fail and cannot judge, whatever the database, with what they say.
fn cases(placeholder: &str) -> Vec<(Value, &'static str, &'static str)> {
    let state = format!("select state from orders where id = {placeholder}");
    let all = "select id, item, state from orders order by id";
    let of = |query: &str, more: Value| {
        let mut evaluator =
            json!({ "type": "sql-validate", "database": "${SHOP_DATABASE}", "query": query });
        for (key, value) in more.as_object().unwrap() {
            evaluator[key] = value.clone();
        }
        evaluator
    };
    let count = "select count(*) from orders";
    vec![
        (
            of(&state, json!({ "parameters": [7], "equals": "paid" })),
            "passed",
            "says \"paid\"",
        ),
        (
            of(&state, json!({ "parameters": [8], "equals": "paid" })),
            "failed",
            "\"open\", and \"paid\"",
        ),
        (
            of(&state, json!({ "parameters": [9], "equals": "paid" })),
            "failed",
            "no row",
        ),
        (
            of(&state, json!({ "parameters": [9], "empty": true })),
            "passed",
            "no row",
        ),
        (
            of(&state, json!({ "parameters": [7], "empty": true })),
            "failed",
            "none is expected",
        ),
        (
            of(&state, json!({ "equals": "paid" })),
            "error",
            "1 placeholder",
        ),
        (
            of(count, json!({ "equals": 2, "at_least": 2, "at_most": 2 })),
            "passed",
            "says 2",
        ),
        (of(count, json!({ "at_least": 3 })), "failed", "at least 3"),
        (
            of(
                all,
                json!({ "rows": [[7, "tea", "paid"], { "state": "open" }], "count": 2 }),
            ),
            "passed",
            "2 rows",
        ),
        (
            of(
                all,
                json!({ "equals": [[7, "tea", "paid"], [8, "milk", "paid"]] }),
            ),
            "failed",
            "row 2: /2 is \"open\"",
        ),
        (of(all, json!({ "count": 3 })), "failed", "2 rows, and 3"),
        (of(all, json!({ "equals": 7 })), "error", "3 columns"),
        (
            of("select nope from orders", json!({ "count": 1 })),
            "error",
            "nope",
        ),
        (
            of("select id from elsewhere", json!({ "count": 1 })),
            "error",
            "elsewhere",
        ),
    ]
}

fn judges_alike(address: &str, placeholder: &str) {
    for (evaluator, status, says) in cases(placeholder) {
        let (code, found, message) = judged(&project(&json!([evaluator])), address);
        assert_eq!(found, status, "{evaluator}: {message}");
        assert!(message.contains(says), "{evaluator}: {message}");
        let expected = match status {
            "failed" => 1,
            "error" => 3,
            _ => 0,
        };
        assert_eq!(code, expected, "{evaluator}: {message}");
    }
}

/// A query that does not end in time, and a server that is not there, are errors, and no password is said.
fn cannot_judge(address: &str, endless: &str) {
    let slow = json!([{ "type": "sql-validate", "database": "${SHOP_DATABASE}", "query": endless, "empty": true, "timeout": "500ms" }]);
    let (code, found, message) = judged(&project(&slow), address);
    assert_eq!((code, found.as_str()), (3, "error"), "{message}");
    let (_, host) = address.split_once('@').unwrap_or_default();
    if let Some((host, _)) = host.split_once('/') {
        let nobody = address.replace(host, &format!("127.0.0.1:{}", free_port()));
        let any = json!([{ "type": "sql-validate", "database": "${SHOP_DATABASE}", "query": "select 1", "equals": 1 }]);
        let (code, found, message) = judged(&project(&any), &nobody);
        assert_eq!((code, found.as_str()), (3, "error"), "{message}");
        assert!(
            message.contains("no connection to the database"),
            "{message}"
        );
        // Also where the file itself holds the password.
        let (code, message) = judged_in_file(&nobody);
        assert_eq!(code, 3, "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
}

/// The same with the address in the scenario's own file, which has the password then; all else has not.
fn judged_in_file(address: &str) -> (i64, String) {
    let any =
        json!([{ "type": "sql-validate", "database": address, "query": "select 1", "equals": 1 }]);
    let project = project(&any);
    let mut command = project.command();
    let out = command.args(["run", "--format", "json"]).output().unwrap();
    let said = [out.stdout, out.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (out.status.code().unwrap().into(), said)
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_file_of_sqlite_is_judged_as_the_run_left_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("shop.db");
    let writer = Connection::open(&path).unwrap();
    for statement in ORDERS {
        writer.execute(statement, []).unwrap();
    }
    let address = path.to_str().unwrap();
    judges_alike(address, "?");
    let endless =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n";
    cannot_judge(address, endless);

    // A path belongs to the folder of the file that says it, and what is not there is no empty database.
    let evaluator = json!([{ "type": "sql-validate", "database": "../data/left.db", "query": "select 1", "equals": 1 }]);
    let project = project(&evaluator);
    let (code, found, message) = judged(&project, "");
    assert_eq!((code, found.as_str()), (3, "error"), "{message}");
    assert!(message.contains("there is no file"), "{message}");
    assert!(!project.path("data").exists());
    std::fs::create_dir_all(project.path("data/left.db")).unwrap();
    let (code, found, message) = judged(&project, "");
    assert_eq!((code, found.as_str()), (3, "error"), "{message}");
    assert!(message.contains("left.db is a folder"), "{message}");
    std::fs::remove_dir(project.path("data/left.db")).unwrap();
    let left = Connection::open(project.path("data/left.db")).unwrap();
    left.execute(ORDERS[0], []).unwrap();
    assert_eq!(judged(&project, "").0, 0);
    // Nothing is left beside one that keeps a log and that nobody has open.
    left.pragma_update(None, "journal_mode", "wal").unwrap();
    left.execute("insert into orders (id) values (4)", [])
        .unwrap();
    assert_eq!(judged(&project, "").0, 0);
    left.close().unwrap();
    assert_eq!(judged(&project, "").0, 0);
    let beside = std::fs::read_dir(project.path("data")).unwrap();
    assert_eq!(beside.count(), 1);
    // A stored run has no database any more.
    project.expect(0, &["record"]);
    std::fs::remove_file(project.path("data/left.db")).unwrap();
    project
        .expect(
            0,
            &["compare", "--run", "baselines/shop/baseline.json", "-v"],
        )
        .says("this run was stored");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn postgresql_is_judged_by_a_query() {
    let server = match Server::postgres() {
        Ok(server) => server,
        Err(why) => return skipped("evaluators that ask PostgreSQL", &why),
    };
    let address = server.postgres_address("s3cret");
    server.fill_postgres(&ORDERS);
    judges_alike(&address, "$1");
    cannot_judge(&address, "select pg_sleep(60)");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn mariadb_is_judged_by_a_query() {
    let server = match Server::mariadb() {
        Ok(server) => server,
        Err(why) => return skipped("evaluators that ask MariaDB", &why),
    };
    let address = server.mariadb_address("s3cret");
    server.fill_mariadb(&ORDERS);
    judges_alike(&address, "?");
    cannot_judge(&address, "select sleep(60) from orders");
}

#[test]
fn what_cannot_be_asked_is_found_before_anything_runs() {
    for (evaluator, says) in [
        (
            json!({ "query": "delete from orders", "count": 1 }),
            "only queries are asked",
        ),
        (json!({ "query": "select 1" }), "says nothing of the rows"),
        (
            json!({ "query": "select 1", "equals": 1, "database": "redis://h" }),
            "not a database that can be asked",
        ),
        (
            json!({ "query": "select 1", "equals": { "a": 1 } }),
            "a row is not a single value",
        ),
        (
            json!({ "query": "select 1", "equals": [1] }),
            "a list holds rows",
        ),
        (
            json!({ "query": "select 1", "equals": [[1]], "rows": [[1]] }),
            "says already",
        ),
        (
            json!({ "query": "select 1", "rows": [1] }),
            "a list of values, or a map of columns",
        ),
        (
            json!({ "query": "select ?", "parameters": [[1]], "count": 1 }),
            "expected a text, a number",
        ),
        (
            json!({ "query": "select 1", "equal": 1 }),
            "did you mean `equals`",
        ),
    ] {
        let mut evaluator = evaluator;
        evaluator["type"] = "sql-validate".into();
        if evaluator.get("database").is_none() {
            evaluator["database"] = "shop.db".into();
        }
        project(&json!([evaluator]))
            .expect(2, &["validate"])
            .says(says);
    }
}
