//! Which of the values that servers and agents are given are secret, by the names they are given under.

use crate::redact::Redactor;

/// The values whose names say that they are secret. Of one in two parts, such as `Bearer abc`, the second is secret by itself.
pub(crate) fn secret_values(named: &[(String, String)]) -> Vec<String> {
    let values = named
        .iter()
        .filter(|(name, _)| Redactor::is_secret_name(name))
        .map(|(_, value)| value);
    values
        .flat_map(|value| {
            let second = value
                .split_once(' ')
                .map(|(_, second)| second.trim().to_owned());
            std::iter::once(value.clone()).chain(second)
        })
        .collect()
}

/// The parameters in an address.
pub(crate) fn query(url: &str) -> Vec<(String, String)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('#').next().unwrap_or_default().split('&');
    parameters
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
