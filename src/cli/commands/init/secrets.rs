//! Secrets that a server is given stay out of its scenario: references to environment variables stand in their place.

use crate::model::Redaction;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::servers::{Server, Transport};

/// A server as it may be written to a file.
pub(super) struct Written {
    pub(super) server: Server,
    /// The variables that stand for secrets, and whether this program's environment has them already.
    pub(super) variables: Vec<(String, bool)>,
}

/// Puts references in the place of everything that is secret.
pub(super) fn without_secrets(server: &Server) -> Written {
    let mut hiding = Hiding {
        server: &server.name,
        redactor: Redactor::new(&Secrets::default(), &Redaction::default()),
        hidden: Vec::new(),
    };
    let mut written = server.clone();
    match &mut written.transport {
        Transport::Stdio(start) => {
            for (name, value) in &mut start.env {
                hiding.named(name, value);
            }
            hiding.arguments(&mut start.args);
        }
        Transport::Http { url, headers, .. } => {
            for (name, value) in headers {
                hiding.header(name, value);
            }
            hiding.address(url);
        }
        Transport::Mock | Transport::Recorded { .. } => {}
    }
    Written {
        server: written,
        variables: (hiding.hidden.into_iter())
            .map(|(variable, secret)| {
                let is_set = std::env::var(&variable).is_ok_and(|it| it == secret);
                (variable, is_set)
            })
            .collect(),
    }
}

struct Hiding<'a> {
    server: &'a str,
    redactor: Redactor,
    /// Each variable with what it stands for.
    hidden: Vec<(String, String)>,
}

impl Hiding<'_> {
    /// A value that is given under a name.
    fn named(&mut self, name: &str, value: &mut String) {
        if self.is_secret(name, value) {
            *value = self.reference(name, value);
        }
    }

    /// A header: of `Bearer abc`, the second word is the secret.
    fn header(&mut self, name: &str, value: &mut String) {
        let is_authorization = name.to_ascii_lowercase().contains("authorization");
        if !(is_authorization && !value.contains("${") || self.is_secret(name, value)) {
            return;
        }
        let (scheme, secret) = match value.split_once(' ') {
            Some((scheme, secret)) if is_authorization => (format!("{scheme} "), secret.trim()),
            _ => (String::new(), value.as_str()),
        };
        let own = format!(
            "{}_{}",
            self.server,
            if is_authorization { "token" } else { name }
        );
        *value = format!("{scheme}{}", self.reference(&variable(&own), secret));
    }

    /// The arguments of a program: `--token abc`, `--token=abc`, and whatever has the shape of a secret.
    fn arguments(&mut self, args: &mut [String]) {
        let mut option: Option<String> = None;
        for (index, arg) in args.iter_mut().enumerate() {
            let before = option.take();
            if let Some((name, value)) = arg.split_once('=').filter(|_| arg.starts_with('-')) {
                let (name, mut value) = (name.to_owned(), value.to_owned());
                if self.is_secret(name.trim_start_matches('-'), &value) {
                    let own = format!("{}_{}", self.server, name.trim_start_matches('-'));
                    value = self.reference(&variable(&own), &value);
                }
                *arg = format!("{name}={value}");
            } else if arg.starts_with('-') {
                option = Some(arg.trim_start_matches('-').to_owned());
                continue;
            } else if let Some(name) = before.filter(|it| self.is_secret(it, arg)) {
                let own = format!("{}_{name}", self.server);
                *arg = self.reference(&variable(&own), arg);
            }
            if self.shows_secret(arg) {
                let own = format!("{}_argument_{}", self.server, index + 1);
                *arg = self.reference(&variable(&own), arg);
            }
        }
    }

    /// An address: its parameters, and where that is not all, the whole of it.
    fn address(&mut self, url: &mut String) {
        if let Some((start, query)) = url.clone().split_once('?') {
            let (query, fragment) = match query.split_once('#') {
                Some((query, fragment)) => (query, format!("#{fragment}")),
                None => (query, String::new()),
            };
            let parameters = query
                .split('&')
                .map(|parameter| match parameter.split_once('=') {
                    Some((name, value)) if self.is_secret(name, value) => {
                        let own = format!("{}_{name}", self.server);
                        format!("{name}={}", self.reference(&variable(&own), value))
                    }
                    _ => parameter.to_owned(),
                });
            let parameters = parameters.collect::<Vec<_>>().join("&");
            *url = format!("{start}?{parameters}{fragment}");
        }
        if self.shows_secret(url) {
            let own = format!("{}_url", self.server);
            *url = self.reference(&variable(&own), url);
        }
    }

    fn is_secret(&self, name: &str, value: &str) -> bool {
        if value.contains("${") {
            return false;
        }
        let mut secrets = Secrets::default();
        secrets.named("env", "", [(name, value)]);
        !secrets.is_empty() || self.shows_secret(value)
    }

    /// Whether a text is changed by taking out what looks like a secret.
    fn shows_secret(&self, text: &str) -> bool {
        !text.contains("${") && *self.redactor.text(text) != *text
    }

    /// A reference that stands for a secret: to a variable that holds it already, or to one of this name.
    fn reference(&mut self, wanted: &str, secret: &str) -> String {
        if let Some((variable, _)) = self.hidden.iter().find(|(_, it)| it == secret) {
            return format!("${{{variable}}}");
        }
        let mut here: Vec<String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, value)| value == secret && is_variable(name))
            .map(|(name, _)| name)
            .collect();
        here.sort_unstable();
        let wanted = if is_variable(wanted) {
            wanted.to_owned()
        } else {
            variable(wanted)
        };
        let mut variable = if here.contains(&wanted) {
            wanted
        } else {
            here.into_iter().next().unwrap_or(wanted)
        };
        while self.hidden.iter().any(|(it, _)| *it == variable) {
            variable.push_str("_2");
        }
        self.hidden.push((variable.clone(), secret.to_owned()));
        format!("${{{variable}}}")
    }
}

fn is_variable(name: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    name.starts_with(|it: char| is_word(it) && !it.is_ascii_digit()) && name.chars().all(is_word)
}

/// The name of an environment variable, from a name of any kind: `my-server_api-key` becomes `MY_SERVER_API_KEY`.
fn variable(name: &str) -> String {
    let mut variable = String::new();
    for it in name.chars() {
        if it.is_ascii_alphanumeric() {
            variable.push(it.to_ascii_uppercase());
        } else if !variable.is_empty() && !variable.ends_with('_') {
            variable.push('_');
        }
    }
    if variable.starts_with(|it: char| it.is_ascii_digit()) || variable.is_empty() {
        variable.insert_str(0, "SECRET_");
    }
    variable
}

#[cfg(test)]
mod tests {
    use super::without_secrets;
    use crate::scenario_file::servers::HttpStyle;
    use crate::scenario_file::servers::Server;
    use crate::scenario_file::servers::Start;
    use crate::scenario_file::servers::Transport;

    fn server(transport: Transport) -> Server {
        Server::new("my-hub".to_owned(), transport)
    }

    #[test]
    fn what_a_program_is_given_is_named_and_not_written() {
        let text = |it: &str| it.to_owned();
        let github = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let database = "postgres://me:hunter-2-and-more@db/x";
        let program = server(Transport::Stdio(Start {
            command: text("hub"),
            args: [
                "--token",
                "s3cr3t-0001",
                "--api-key=s3cr3t-0002",
                "--level",
                "info",
                &github,
                database,
            ]
            .map(text)
            .to_vec(),
            env: vec![
                (text("HUB_PASSWORD"), text("s3cr3t-0003")),
                (text("MODE"), text("test")),
                (text("OTHER_TOKEN"), text("${MINE}")),
            ],
            cwd: None,
        }));
        let written = without_secrets(&program);
        let Transport::Stdio(Start { args, env, .. }) = written.server.transport else {
            unreachable!("a program stays one");
        };
        assert_eq!(
            args,
            [
                "--token",
                "${MY_HUB_TOKEN}",
                "--api-key=${MY_HUB_API_KEY}",
                "--level",
                "info",
                "${MY_HUB_ARGUMENT_6}",
                "${MY_HUB_ARGUMENT_7}"
            ]
        );
        let values: Vec<_> = env.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["${HUB_PASSWORD}", "test", "${MINE}"]);
        assert_eq!(written.variables.len(), 5);
        assert!(written.variables.iter().all(|(_, is_set)| !is_set));
    }

    #[test]
    fn what_an_address_is_asked_with_is_named_and_not_written() {
        let text = |it: &str| it.to_owned();
        let http = server(Transport::http(
            HttpStyle::Streamable,
            "https://example.org/mcp?team=blue&api_key=s3cr3t-0001#top",
            vec![
                (text("Authorization"), text("Bearer s3cr3t-0002")),
                (text("X-Team"), text("blue")),
            ],
        ));
        let written = without_secrets(&http);
        let Transport::Http { url, headers, .. } = written.server.transport else {
            unreachable!("an address stays one");
        };
        assert_eq!(
            url,
            "https://example.org/mcp?team=blue&api_key=${MY_HUB_API_KEY}#top"
        );
        assert_eq!(headers[0].1, "Bearer ${MY_HUB_TOKEN}");
        assert_eq!(headers[1].1, "blue");
    }
}
