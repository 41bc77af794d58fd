//! Whether a text is one statement that only reads, as far as that can be told without its database, which makes sure of it.

/// How statements begin that have rows and change nothing.
const READING: [&str; 4] = ["select", "with", "values", "table"];

/// Why a text is not asked; `None` where it is.
pub fn refused(text: &str) -> Option<String> {
    let rest = without_comments(text);
    let word: String = rest
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    if rest.is_empty() {
        return Some("the query is empty".to_owned());
    }
    // A query may stand in parentheses.
    if rest.starts_with('(') || READING.contains(&word.as_str()) {
        return None;
    }
    Some(format!(
        "only queries are asked – `select`, `with`, `values` –, and this begins with `{}`",
        crate::text::beginning(rest, 20)
    ))
}

/// The statement without the comments and blanks before it.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = if let Some(line) = rest.strip_prefix("--") {
            line.split_once('\n').map_or("", |it| it.1)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |it| it.1)
        } else {
            return rest;
        };
        rest = after.trim_start();
    }
}

/// The statement without what may stand behind it: blanks, and the semicolon that ends it.
pub(super) fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(';').trim_end()
}

#[cfg(test)]
mod tests {
    use super::{bare, refused};

    #[test]
    fn only_queries_are_asked() {
        for text in [
            "select 1",
            "SELECT 1;",
            "-- how many\n  select count(*) from orders",
            "/* a */ /* b */ with a as (select 1) select * from a",
            "(select 1) union (select 2)",
            "values (1)",
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
        for text in [
            "",
            " -- nothing",
            "delete from a",
            "drop table a",
            "selected",
            "; select 1",
        ] {
            assert!(refused(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_ends_a_statement_is_no_part_of_it() {
        assert_eq!(bare(" select 1 ; \n"), "select 1");
        assert_eq!(bare("select ';'"), "select ';'");
    }
}
