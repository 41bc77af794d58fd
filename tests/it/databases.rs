//! Queries to databases that really run: their rows as JSON, and nothing changed.

pub(crate) mod server;

use std::path::Path;
use std::time::{Duration, Instant};

use mcp_eval::sql::{self, Database, MOST_ROWS, Query, Rows};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::server::Server;
use crate::common::{free_port, skipped};

fn ask(database: &Database, text: &str, parameters: &[Value]) -> Result<Rows, String> {
    ask_within(database, text, parameters, Duration::from_secs(20))
}

fn ask_within(
    database: &Database,
    text: &str,
    parameters: &[Value],
    timeout: Duration,
) -> Result<Rows, String> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(sql::ask(&Query {
        database: database.clone(),
        text: text.to_owned(),
        parameters: parameters.to_vec(),
        timeout,
    }))
}

/// The only value of a query's only row.
fn scalar(database: &Database, text: &str, parameters: &[Value]) -> Value {
    let rows = ask(database, text, parameters).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(
        (rows.rows.len(), rows.columns.len()),
        (1, 1),
        "{text}: {rows:?}"
    );
    rows.rows[0][0].clone()
}

/// What is the same with every database that has a table of three orders.
fn answers_alike(database: &Database, placeholder: &str) {
    let rows = ask(
        database,
        "select id, item, price, paid from orders order by id;",
        &[],
    )
    .unwrap();
    assert_eq!(rows.columns, ["id", "item", "price", "paid"]);
    assert_eq!(rows.rows.len(), 3);
    assert_eq!(rows.rows[0][..2], [json!(1), json!("tea")]);
    assert_eq!(rows.rows[2][1], json!("Käse \"x\"\n"));
    assert_eq!(rows.rows[1][2], Value::Null);
    assert!(!rows.has_more);
    // Whatever a parameter holds, it is a value.
    let named = format!("select count(*) from orders where item = {placeholder}");
    assert_eq!(scalar(database, &named, &[json!("tea")]), json!(1));
    assert_eq!(
        scalar(database, &named, &[json!("tea' or '1'='1")]),
        json!(0)
    );
    let by_id = format!("select item from orders where id = {placeholder}");
    assert_eq!(scalar(database, &by_id, &[json!(2)]), json!("milk"));
    let nothing = ask(
        database,
        &format!("{by_id} and item <> 'milk'"),
        &[json!(2)],
    );
    assert_eq!(nothing.unwrap().rows, Vec::<Vec<Value>>::new());
    assert_eq!(scalar(database, "select 7 -- how many", &[]), json!(7));
    let two = ask(database, "select 1 as a, 2 as a", &[]).unwrap();
    assert_eq!(two.columns, ["a", "a"]);
    assert_eq!(two.rows, [[json!(1), json!(2)]]);

    // What is wrong is said, without the address.
    for (text, parameters, said) in [
        ("select nope from orders", vec![], "nope"),
        ("select * from elsewhere", vec![], "elsewhere"),
        (&by_id, vec![], "1 placeholder"),
        (&by_id, vec![json!(1), json!(2)], "1 placeholder"),
        (&by_id, vec![json!([1])], "cannot be a parameter"),
        ("delete from orders", vec![], "only queries are asked"),
        ("drop table orders", vec![], "only queries are asked"),
        ("select 1; delete from orders", vec![], ""),
        ("with gone as (select 1) delete from orders", vec![], ""),
    ] {
        let error = ask(database, text, &parameters).expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    assert_eq!(
        scalar(database, "select count(*) from orders", &[]),
        json!(3)
    );

    // More rows than anybody compares are not read, and a query without end is given up.
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n";
    let many = ask(database, endless, &[]);
    if let Ok(many) = many {
        assert!(many.rows.len() <= MOST_ROWS);
    }
}

#[test]
fn a_file_of_sqlite_is_asked() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("shop.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer
        .execute_batch(
            "create table orders (id integer primary key, item text, price real, paid integer);
             insert into orders values (1, 'tea', 2.5, 1), (2, 'milk', null, 0), (3, 'Käse \"x\"' || char(10), 4, 1);",
        )
        .unwrap();
    let database = Database::parse(path.to_str().unwrap()).unwrap();
    answers_alike(&database, "?");
    // While its server writes it, too.
    writer
        .execute_batch("begin immediate; insert into orders values (4, 'ink', 1, 0);")
        .unwrap();
    assert_eq!(
        scalar(&database, "select count(*) from orders", &[]),
        json!(3)
    );
    writer.execute_batch("commit").unwrap();
    assert_eq!(
        scalar(&database, "select count(*) from orders", &[]),
        json!(4)
    );
    assert_eq!(scalar(&database, "select x'00ff'", &[]), json!("0x00ff"));
    assert_eq!(scalar(&database, "select ?", &[json!(true)]), json!(1));
    assert_eq!(scalar(&database, "select 9e999", &[]), json!("inf"));

    let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n";
    let rows = ask(&database, many, &[]).unwrap();
    assert_eq!((rows.rows.len(), rows.has_more), (MOST_ROWS, true));
    let endless =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n";
    let begun = Instant::now();
    let error = ask_within(&database, endless, &[], Duration::from_millis(300)).unwrap_err();
    assert!(error.contains("took longer"), "{error}");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "its thread ends, too"
    );

    let missing = Database::parse("nowhere/else.db").unwrap();
    let error = ask(&missing, "select 1", &[]).unwrap_err();
    assert!(
        error.contains("there is no file nowhere/else.db"),
        "{error}"
    );
    assert!(!Path::new("nowhere").exists());
    std::fs::write(
        folder.path().join("text.db"),
        "no database at all, but long enough to look like one",
    )
    .unwrap();
    let text = Database::Sqlite(folder.path().join("text.db"));
    let error = ask(&text, "select 1 from orders", &[]).unwrap_err();
    assert!(error.contains("not a database"), "{error}");
}

#[test]
fn a_database_is_recognized_by_its_address() {
    assert_eq!(
        Database::parse("sqlite:a.db"),
        Ok(Database::Sqlite("a.db".into()))
    );
    assert_eq!(
        Database::parse("mariadb://u@h/d"),
        Ok(Database::MySql("mysql://u@h/d".to_owned()))
    );
    let error = Database::parse("redis://h").unwrap_err();
    assert!(error.contains("postgres://"), "{error}");
    let shown = format!("{:?}", Database::parse("postgres://u:s3cret@h/d").unwrap());
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn postgresql_is_asked() {
    let server = match Server::postgres() {
        Ok(server) => server,
        Err(why) => return skipped("queries to PostgreSQL", &why),
    };
    let database = Database::parse(&server.postgres_address("s3cret")).unwrap();
    server.fill_postgres(&[
        "create table orders (id int primary key, item text, price numeric(9,2), paid bool)",
        "insert into orders values (1, 'tea', 2.50, true), (2, 'milk', null, false), (3, E'Käse \"x\"\\n', 4, true)",
    ]);
    answers_alike(&database, "$1");
    let row = ask(
        &database,
        "select price, paid, '{\"a\": [1]}'::jsonb, date '2026-11-22', array[1,2], null, 'NaN'::float8, '\\x00ff'::bytea from orders where id = $1",
        &[json!(1)],
    );
    let expected = [
        json!(2.50),
        json!(true),
        json!({"a": [1]}),
        json!("2026-11-22"),
        json!("{1,2}"),
        json!(null),
        json!("NaN"),
        json!("\\x00ff"),
    ];
    assert_eq!(row.unwrap().rows, [expected]);
    let writes = "with gone as (delete from orders returning id) select count(*) from gone";
    assert!(ask(&database, writes, &[]).is_err());
    let error = ask(&database, "select nextval('nothing')", &[]).unwrap_err();
    assert!(error.contains("nothing"), "{error}");
    gives_up(&database, "select pg_sleep(60)");
    says_no_password(&server.postgres_address("wr0ng"), "postgres");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn mariadb_is_asked() {
    let server = match Server::mariadb() {
        Ok(server) => server,
        Err(why) => return skipped("queries to MariaDB", &why),
    };
    let database = Database::parse(&server.mariadb_address("s3cret")).unwrap();
    server.fill_mariadb(&[
        "create table orders (id int primary key, item varchar(50) character set utf8mb4, price decimal(9,2), paid bool)",
        "insert into orders values (1, 'tea', 2.50, true), (2, 'milk', null, false), (3, 'Käse \"x\"\\n', 4, true)",
    ]);
    answers_alike(&database, "?");
    let row = ask(
        &database,
        "select price, paid, date '2026-11-22', time '10:20:30', cast(0.1 as float), null, 18446744073709551615, x'00ff' from orders where id = ?",
        &[json!(1)],
    );
    let expected = [
        json!(2.50),
        json!(1),
        json!("2026-11-22"),
        json!("10:20:30"),
        json!(0.1),
        json!(null),
        json!(18_446_744_073_709_551_615_u64),
        json!("0x00ff"),
    ];
    assert_eq!(row.unwrap().rows, [expected]);
    gives_up(&database, "select sleep(60) from orders");
    // A transaction that only reads lets this through.
    let left = tempfile::tempdir().unwrap();
    let file = left.path().join("left");
    let text = format!("select 1 into outfile '{}'", file.display());
    let refused = ask(&database, &text, &[]).unwrap_err();
    assert!(refused.contains("writes a file"), "{refused}");
    says_no_password(&server.mariadb_address("wr0ng"), "mariadb");
}

/// A query that takes too long is given up, and says so.
fn gives_up(database: &Database, endless: &str) {
    let begun = Instant::now();
    let error = ask_within(database, endless, &[], Duration::from_secs(1)).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20), "{error}");
}

/// Neither a refused password nor one for a server that is not there is in what is said.
fn says_no_password(address: &str, scheme: &str) {
    let nobody = format!("{scheme}://shop:wr0ng@127.0.0.1:{}/shop", free_port());
    for address in [address, &nobody] {
        let database = Database::parse(address).unwrap();
        let error = ask(&database, "select 1", &[]).unwrap_err();
        assert!(error.contains("no connection to the database"), "{error}");
        assert!(!error.contains("wr0ng"), "{error}");
    }
}
