//! A check that a text is one statement that only reads, as far as that can be seen without its database, which makes sure of it.

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

/// Whether MariaDB or MySQL may be asked to write a file on its machine, which no read-only transaction keeps it from. The words are looked for
/// everywhere but in quotes: what `/*! … */` holds is a comment for others, and not for them.
pub(super) fn may_write_a_file(text: &str) -> bool {
    // Whether a backslash keeps a quote from ending is a setting of the server.
    [true, false].into_iter().any(|escapes| {
        let words = unquoted_words(text, escapes);
        words.iter().any(|it| it == "outfile" || it == "dumpfile")
    })
}

fn unquoted_words(text: &str, escapes: bool) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match quote {
            Some(it) if escapes && it != '`' && letter == '\\' => drop(letters.next()),
            // A quote that is doubled ends and begins one, which comes to the same.
            Some(it) if it == letter => quote = None,
            Some(_) => {}
            None if "'\"`".contains(letter) => {
                quote = Some(letter);
                words.push(String::new());
            }
            None if letter.is_alphanumeric() || letter == '_' => {
                if let Some(word) = words.last_mut() {
                    word.extend(letter.to_lowercase());
                }
            }
            None => words.push(String::new()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{bare, may_write_a_file, refused};

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

    #[test]
    fn files_are_not_written() {
        for text in [
            "select 1 into outfile '/tmp/x'",
            "SELECT 1 INTO/**/DUMPFILE'/tmp/x'",
            "select 1 /*! into outfile '/tmp/x' */",
            "select 'it''s' into outfile '/tmp/x'",
            r"select '\'' into outfile '/tmp/x'",
            r"select '\' into outfile '/tmp/x'",
            r"select `\` into outfile '/tmp/x'",
        ] {
            assert!(may_write_a_file(text), "{text}");
        }
        for text in [
            "select 'into outfile' from a",
            "select `outfile` from \"dumpfile\"",
            "select outfiles from a",
        ] {
            assert!(!may_write_a_file(text), "{text}");
        }
    }
}
