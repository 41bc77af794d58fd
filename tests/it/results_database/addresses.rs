//! What `--db` is given: addresses that show no password.

use std::fs;

use super::kit::{Place, shop};
use crate::common::ran;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_no_address_is_refused_without_what_it_holds() {
    let place = Place::file();
    shop(&place.project, "tea", "7.50", "");
    for (address, why) in [
        (
            "postgres://u:sec@retPART@db.example/x",
            "write `@` in a password as `%40`",
        ),
        (
            "postgres://u:sec@ret/PART@db.example/x",
            "write `@` in a password as `%40`",
        ),
        (
            "host=db.example password=PART",
            "write postgres://USER:PASSWORD@HOST:PORT/NAME",
        ),
        (
            "u:PART@db.example/x",
            "write postgres://USER:PASSWORD@HOST:PORT/NAME",
        ),
    ] {
        for command in [&["db", "path"][..], &["run"], &["history"]] {
            let done = ran(place.command().args(command).args(["--db", address]));
            assert_eq!(done.code, 2, "{done:#?}");
            done.says(why).says_not("PART").says_not("db.example");
        }
        shop(
            &place.project,
            "asked",
            "7.50",
            &format!(
                "evaluators: [{{ type: sql-validate, database: '{address}', query: select 1, equals: 1 }}]"
            ),
        );
        place.expect(2, &["validate"]).says(why).says_not("PART");
        shop(
            &place.project,
            "asked",
            "7.50",
            "evaluators: [{ type: sql-validate, database: '${WHERE}', query: select 1, equals: 1 }]",
        );
        let done = ran(place.command().env("WHERE", address).args([
            "run",
            "scenarios/asked.yaml",
            "--no-report",
        ]));
        assert_eq!(done.code, 3, "{done:#?}");
        done.says(why).says_not("PART");
        fs::remove_file(place.project.path("scenarios/asked.yaml")).unwrap();
    }
    assert!(!place.project.path("host=db.example password=PART").exists());
}
