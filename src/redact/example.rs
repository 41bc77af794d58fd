//! Values that only stand where a secret would.

use std::sync::LazyLock;

use regex::Regex;

/// References to variables, blanks to fill in, and what documentation writes in place of a secret.
const EXAMPLES: &str = r"(?xi)
      \$\{ | \{\{ | \$\( | ^\$[a-z_][a-z0-9_]*$ | ^%[a-z0-9_]+%$   # references
    | ^[<\[(] | [>\]]$                                             # <token>, [REDACTED]
    | xxxx | \*\*\* | \.\.\. | … | ___                             # blanks
    | your[-_\s]? | example | placeholder | change[-_]?me | dummy | redacted
    | ^(?: true | false | null | none | nil | undefined | string | text | number | boolean | object | required | optional
         | bearer | basic | token | secret | password | cookie | authorization | api[-_]?key | test | todo | env )$
";

static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(EXAMPLES).expect("a valid pattern"));

/// Whether a value where a secret would stand is none: a reference, a blank, a word of documentation.
pub(super) fn is_example(value: &str) -> bool {
    let value = value.trim();
    let mut rest = value.chars();
    let first = rest.next();
    PATTERN.is_match(value) || rest.all(|it| Some(it) == first)
}
