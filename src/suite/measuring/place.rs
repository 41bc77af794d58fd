//! The address of a search over HTTP, and the key that it is asked with, either of which a `.env` file may have.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::data_sets::search;
use crate::discovery::search::Place;
use crate::input;
use crate::mcp::Target;
use crate::redact::Secrets;
use crate::run::SetupError;
use crate::scenario_file;
use crate::scenario_file::measured::Retrieval;
use crate::suite::addresses::Addresses;
use crate::text::dotenv::variables;

/// Where a proxy is, unless given.
const USUAL_ADDRESS: &str = "http://127.0.0.1:8080";

/// The variables that say it.
const ADDRESS: &str = "MCPPROXY_BASE_URL";
const KEY: &str = "MCPPROXY_API_KEY";

/// The file with variables that is read where the environment lacks one.
const DOTENV: &str = ".env";

/// Where a proxy is, and the key it is asked with: as given, else as the environment says, else `.env` in this folder.
///
/// # Errors
///
/// Why `.env` cannot be read, in a sentence, where it is needed.
pub fn usual_place(base_url: Option<&str>, api_key: Option<&str>) -> Result<Place, String> {
    let given = |value: Option<&str>, name: &str| -> Result<Option<String>, String> {
        let given = value.map(str::to_owned).filter(|it| !it.is_empty());
        let set = given.or_else(|| std::env::var(name).ok().filter(|it| !it.is_empty()));
        if set.is_some() {
            return Ok(set);
        }
        let file = read(Path::new(DOTENV))?;
        let of_name = variables(&file).filter(|it| it.0 == name);
        Ok(of_name.last().map(|it| it.1).filter(|it| !it.is_empty()))
    };
    let base_url = given(base_url, ADDRESS)?;
    let base_url = base_url.as_deref().unwrap_or(USUAL_ADDRESS);
    Ok(Place {
        base_url: base_url.trim_end_matches('/').to_owned(),
        api_key: given(api_key, KEY)?,
        headers: HashMap::new(),
    })
}

/// The secrets that a place has.
pub fn place_secrets(place: &Place, secrets: &mut Secrets) {
    if let Some(key) = &place.api_key {
        secrets.declare(KEY, "", key);
    }
    address_secrets(ADDRESS, &place.base_url, secrets);
}

/// The secrets that are written into the declaration of a search: in its addresses, headers, parameters and arguments.
pub fn search_secrets(declared: &Value, secrets: &mut Secrets) {
    match declared {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::Object(headers) if key == "headers" => {
                        let headers = headers.iter();
                        let headers = headers.filter_map(|(name, it)| Some((name, it.as_str()?)));
                        let plain = headers.filter(|(_, it)| is_plain(it));
                        secrets.headers("search", plain.map(|(name, it)| (name.as_str(), it)));
                    }
                    Value::String(text) => {
                        if is_plain(text) {
                            secrets.named("search", "", [(key.as_str(), text.as_str())]);
                        }
                        address_secrets(key, text, secrets);
                    }
                    other => search_secrets(other, secrets),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| search_secrets(it, secrets)),
        _ => {}
    }
}

/// Whether nothing is filled in: else it is known by what it is filled with.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains("{{") && !text.contains("${")
}

/// The secrets in an address: a name with a password, or a token in its place; and parameters whose names say that they are secret.
fn address_secrets(name: &str, address: &str, secrets: &mut Secrets) {
    let named = user_info(address).map(|it| it.split_once(':').map_or(it, |it| it.1));
    if let Some(word) = named.filter(|it| is_plain(it)) {
        secrets.declare(name, "", word);
    }
    let query = address.split_once('?').map_or("", |it| it.1);
    let query = query.split('#').next().unwrap_or_default();
    let parameters = query.split('&').filter_map(|it| it.split_once('='));
    secrets.named("search", "", parameters.filter(|(_, it)| is_plain(it)));
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
/// Which `${…}` has no value, or why `.env` cannot be read.
pub(crate) fn place_of(
    retrieval: &Retrieval,
    targets: &[Target],
    addresses: &Addresses,
    secrets: &mut Secrets,
) -> Result<Place, SetupError> {
    let mut filled = |text: &Option<String>| -> Result<Option<String>, SetupError> {
        let Some(text) = text else { return Ok(None) };
        let lookup = |name: &str| addresses.lookup(name, None);
        let (filled, used) = scenario_file::expand(text, lookup)?;
        secrets.environment("search", &used);
        Ok(Some(filled))
    };
    let named = filled(&retrieval.base_url)?;
    let key = filled(&retrieval.api_key)?;
    let mut over_http = targets.iter().filter_map(Target::origin);
    let base_url = named.or_else(|| over_http.next());
    let search = search(retrieval);
    let mut place = match usual_place(base_url.as_deref(), key.as_deref()) {
        Ok(place) => place,
        // Where nothing is asked there, it is of no matter.
        Err(_) if search.as_ref().is_ok_and(|it| !it.needs_place()) => Place::default(),
        Err(why) => return Err(SetupError::new(why)),
    };
    search_secrets(&retrieval.search, secrets);
    if let Ok(search) = search {
        for header in search.headers().filter(|it| it.contains("${")) {
            let lookup = |name: &str| addresses.lookup(name, None);
            let (filled, used) = scenario_file::expand(header, lookup)?;
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

/// The marks with which files begin that are written in two bytes a character.
const LITTLE: [u8; 2] = [0xff, 0xfe];
const BIG: [u8; 2] = [0xfe, 0xff];

/// The text of such a file; of none, nothing. A folder of that name is somebody else's.
///
/// # Errors
///
/// Why it cannot be read, in a sentence: what is set there would be silently missing.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    if path.is_dir() {
        return Ok(String::new());
    }
    let bytes = match input::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = rest.chunks(2).map(|it| match it {
            [a, b] => unit([*a, *b]),
            // Half a character is none.
            _ => 0xd800,
        });
        String::from_utf16(&units.collect::<Vec<_>>())
            .map_err(|_| format!("{shown} begins as UTF-16 does, and is not: save it as UTF-8"))
    };
    if let Some(rest) = bytes.strip_prefix(&LITTLE) {
        return wide(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&BIG) {
        return wide(rest, u16::from_be_bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => {
            let line = line_of(text.as_bytes(), text.find('\0').unwrap_or_default());
            Err(format!(
                "{shown}:{line}: this is not text in UTF-8: save the file as UTF-8"
            ))
        }
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
            Err(format!(
                "{shown}:{line}: this is not text in UTF-8: save the file as UTF-8"
            ))
        }
    }
}

/// The line of a place, counted from 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    let before = bytes.iter().take(at);
    before.filter(|it| **it == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Redaction;
    use crate::redact::Redactor;

    #[test]
    fn what_is_sent_to_show_who_asks_is_secret() {
        let declared = json!({ "http": {
            "url": "https://search.example/find?sig=Kd9f2LmQ7zX4tR1w&mode=plain",
            "headers": {
                "X-Tenant": "t9Kd2LmQ7zX4tRw8", "X-Workspace": "development", "Authorization": "Bearer word-of-2342",
                "X-Signature": "w8Rt4Xz7QmL2dK9t", "X-Filled": "${WHO_ASKS_9x8y7z}",
            },
            "query": { "signature": "pL5vB8nM3kJ6hG2f", "q": "{{query}}", "sig": "off" },
        } });
        let mut secrets = Secrets::default();
        search_secrets(&declared, &mut secrets);
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let hidden = |text: &str| !redactor.known(&format!("it said {text}.")).contains(text);
        for secret in [
            "Kd9f2LmQ7zX4tR1w",
            "t9Kd2LmQ7zX4tRw8",
            "word-of-2342",
            "w8Rt4Xz7QmL2dK9t",
            "pL5vB8nM3kJ6hG2f",
        ] {
            assert!(hidden(secret), "{secret}");
        }
        for word in [
            "development",
            "plain",
            "off",
            "{{query}}",
            "${WHO_ASKS_9x8y7z}",
        ] {
            assert!(!hidden(word), "{word}");
        }
    }
}
