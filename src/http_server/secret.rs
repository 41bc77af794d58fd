//! Texts that nobody guesses.

use std::io;

/// 128 random bits, in hexadecimal digits.
///
/// # Errors
///
/// When the system has no randomness to give.
pub fn unguessable() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    Ok(hex::encode(bits))
}

/// Whether what somebody gave is the secret. How long that takes tells nothing of how much of it is right.
pub fn is_secret(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    let differing = pairs.fold(0, |found, (given, wanted)| found | (given ^ wanted));
    given.len() == secret.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::{is_secret, unguessable};

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        let secret = unguessable().unwrap();
        assert_eq!(secret.len(), 32);
        assert_ne!(secret, unguessable().unwrap());
        assert!(is_secret(&secret, &secret));
        for given in ["", &secret[..31], &format!("{secret}0"), &"0".repeat(32)] {
            assert!(!is_secret(given, &secret), "{given}");
        }
    }
}
