//! What results are called by.

use sha2::{Digest, Sha256};

/// The stable id of a result: 20 hexadecimal digits made of the id of its run and that of its scenario. Rows of data sets and cells of a matrix
/// have ids of scenarios of their own.
pub fn result_id(run: &str, scenario: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(run.as_bytes());
    hash.update([0]);
    hash.update(scenario.as_bytes());
    let mut id = hex::encode(hash.finalize());
    id.truncate(20);
    id
}

#[cfg(test)]
mod tests {
    use super::result_id;

    #[test]
    fn ids_of_results_stay_what_they_are() {
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "a/b"),
            result_id("2026-11-22T10-00-00.000Z", "a/b")
        );
        assert_ne!(result_id("r", "ab"), result_id("ra", "b"));
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "search"),
            "519846f20b93ca3c0aae"
        );
    }
}
