//! Times as the database has them: RFC 3339 in UTC, all of one length, so that they sort as they are.

use jiff::Timestamp;

/// A time to the microsecond.
pub(super) fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// A time that a document tells; one that cannot be read stays as it is.
pub(super) fn rewritten(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), written)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn all_are_of_one_length_and_sort_as_they_are() {
        let in_order = [
            (
                "2026-11-22T09:59:59.9999999Z",
                "2026-11-22T09:59:59.999999Z",
            ),
            ("2026-11-22T11:00:00+01:00", "2026-11-22T10:00:00.000000Z"),
            ("2026-11-22T10:00:00.5Z", "2026-11-22T10:00:00.500000Z"),
        ];
        for (read, written) in in_order {
            assert_eq!(rewritten(read), written);
        }
        assert!(in_order.is_sorted_by_key(|it| rewritten(it.0)));
        assert_eq!(rewritten("some day"), "some day");
    }
}
