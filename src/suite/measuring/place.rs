//! Where a search over HTTP is, and the key that it is asked with.

use std::collections::HashMap;
use std::path::Path;

use super::data_sets::search;
use crate::discovery::search::Place;
use crate::input;
use crate::mcp::Target;
use crate::model::measurement::Retrieval;
use crate::redact::Secrets;
use crate::run::SetupError;
use crate::scenario_file;
use crate::suite::addresses::Addresses;

/// Where a proxy is, unless told otherwise.
const USUAL_ADDRESS: &str = "http://127.0.0.1:8080";

/// The variables that say it.
const ADDRESS: &str = "MCPPROXY_BASE_URL";
const KEY: &str = "MCPPROXY_API_KEY";

/// The file with variables that is read where the environment lacks one.
const DOTENV: &str = ".env";

/// Where a proxy is, and the key it is asked with: as given, else as the environment says, else `.env` in this folder.
pub fn usual_place(base_url: Option<&str>, api_key: Option<&str>) -> Place {
    let file = input::read_to_string(Path::new(DOTENV)).unwrap_or_default();
    let of_environment = |name: &str| {
        let set = std::env::var(name).ok().filter(|it| !it.is_empty());
        set.or_else(|| variable(&file, name))
            .filter(|it| !it.is_empty())
    };
    let given = |value: Option<&str>, name: &str| {
        let given = value.filter(|it| !it.is_empty()).map(str::to_owned);
        given.or_else(|| of_environment(name))
    };
    let base_url = given(base_url, ADDRESS);
    let base_url = base_url.as_deref().unwrap_or(USUAL_ADDRESS);
    Place {
        base_url: base_url.trim_end_matches('/').to_owned(),
        api_key: given(api_key, KEY),
        headers: HashMap::new(),
    }
}

/// The secrets that a place has.
pub fn place_secrets(place: &Place, secrets: &mut Secrets) {
    if let Some(key) = &place.api_key {
        secrets.declare(KEY, "", key);
    }
    // A name with a password, or a token in its place.
    let named = user_info(&place.base_url).map(|it| it.split_once(':').map_or(it, |it| it.1));
    if let Some(word) = named.filter(|it| !it.is_empty()) {
        secrets.declare(ADDRESS, "", word);
    }
}

/// What stands before the host of an address.
fn user_info(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|it| it.0)
}

/// Where the search of a scenario is: where its file says, else where its first server over HTTP is, else in the usual place.
///
/// # Errors
///
/// Which `${…}` has no value.
pub(crate) fn place_of(
    retrieval: &Retrieval,
    targets: &[Target],
    addresses: &Addresses,
    secrets: &mut Secrets,
) -> Result<Place, SetupError> {
    let mut filled = |text: &Option<String>| -> Result<Option<String>, SetupError> {
        let Some(text) = text else { return Ok(None) };
        let lookup = |name: &str| addresses.lookup(name, None);
        let (filled, used) = scenario_file::expand(text, lookup)
            .map_err(|missing| SetupError::new(missing.to_string()))?;
        secrets.environment("search", &used);
        Ok(Some(filled))
    };
    let named = filled(&retrieval.base_url)?;
    let key = filled(&retrieval.api_key)?;
    let mut over_http = targets.iter().filter_map(Target::origin);
    let base_url = named.or_else(|| over_http.next());
    let mut place = usual_place(base_url.as_deref(), key.as_deref());
    if let Ok(search) = search(retrieval) {
        for header in search.headers().filter(|it| it.contains("${")) {
            let lookup = |name: &str| addresses.lookup(name, None);
            let (filled, used) = scenario_file::expand(header, lookup)
                .map_err(|missing| SetupError::new(missing.to_string()))?;
            // What is sent in a header shows who asks.
            for name in &used {
                if let Some(value) = addresses.lookup(name, None) {
                    secrets.declare(name, "search", &value);
                }
            }
            place.headers.insert(header.clone(), filled);
        }
    }
    place_secrets(&place, secrets);
    Ok(place)
}

/// A variable of a `.env` file: `NAME=value`, in quotes or not, `export` before it or not.
fn variable(file: &str, name: &str) -> Option<String> {
    let mut lines = file.lines().rev().map(str::trim);
    lines.find_map(|line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (key, value) = line.split_once('=')?;
        if key.trim() != name {
            return None;
        }
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let rest = value.strip_prefix(quote)?;
            rest.split(quote).next()
        });
        let plain = || value.split(" #").next().unwrap_or_default().trim_end();
        Some(quoted.unwrap_or_else(plain).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn variables_stand_in_a_file() {
        let file = "# A=0\nA=1 # one\nexport B=\"two # 2\" # more\nC='3'\nA=4\nD=\n";
        let of = |name| variable(file, name);
        assert_eq!(of("A").as_deref(), Some("4"));
        assert_eq!(of("B").as_deref(), Some("two # 2"));
        assert_eq!(of("C").as_deref(), Some("3"));
        assert_eq!(of("D").as_deref(), Some(""));
        assert_eq!(of("E"), None);
    }
}
