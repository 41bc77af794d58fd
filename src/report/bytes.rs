//! Numbers of bytes as people write them.

/// A number of bytes for people: `512 bytes`, `15.6 KB`, `5.2 MB`, `1.4 GB`.
pub fn words(bytes: usize) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "one digit after the point is shown"
    )]
    let number = bytes as f64;
    if bytes == 1 {
        "1 byte".to_owned()
    } else if bytes < 1000 {
        format!("{bytes} bytes")
    } else if number < 999_950.0 {
        format!("{:.1} KB", number / 1e3)
    } else if number < 999_950_000.0 {
        format!("{:.1} MB", number / 1e6)
    } else {
        format!("{:.1} GB", number / 1e9)
    }
}
