//! Commands that people are told to type.

/// The argument as a shell takes it.
pub(super) fn quoted(argument: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || "/._-=:,@+*%".contains(it);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
