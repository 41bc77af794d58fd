//! The method by which two values were compared, in words for people.

/// The way in words that need no explanation; a rule that is a sentence already stays as it is.
pub fn words(method: &str) -> &str {
    match method {
        "equal" => "the same",
        "words" => "by the words they share",
        "distance" => "by how far apart the numbers are",
        "number as text" => "a number written as text",
        "bool as text" => "true or false written as text",
        "bool" => "true on one side, false on the other",
        "null" => "null on one side",
        "type" => "another type of value",
        "depth" => "nested too deep to be compared",
        "embedded json" => "by the JSON in the texts",
        "object" => "member by member",
        "list" => "element by element",
        "default" => "left out on one side, and its default on the other",
        "missing" => "left out now",
        "added" => "not there before",
        "ignore" => "not compared, as the scenario says",
        "bound" => "each side has the value that its own server gave",
        "stale" => "the baseline's value, although the server gave another",
        other => other,
    }
}
