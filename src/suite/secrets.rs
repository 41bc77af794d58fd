//! The values in addresses and command lines that may be secret by their names.

/// The parameters in an address.
pub(crate) fn query(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('#').next().unwrap_or_default().split('&');
    parameters.filter_map(|it| it.split_once('='))
}

/// The options of a command line that have a value: `--token=x`, `--token x`.
pub(crate) fn options(args: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let next = args.iter().skip(1).map(Some).chain([None]);
    args.iter().zip(next).filter_map(|(it, next)| {
        let option = it.strip_prefix('-')?;
        let (name, value) = option
            .split_once('=')
            .or_else(|| Some((option, next.filter(|it| !it.starts_with('-'))?)))?;
        Some((name.trim_start_matches('-'), value))
    })
}

/// Names and values as those look at them who only read.
pub(crate) fn pairs(named: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    named
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
}
