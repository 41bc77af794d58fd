//! Secrets in the spellings that programs write, and texts that only look like secrets. All are made here, so that no scanner of this
//! repository finds one.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// A declared secret with all that is escaped somewhere.
pub(super) const DECLARED: &str = "s3cr3t-Tok3n \"é\" <&/+> 'x'";

/// A text, and what of it must be stored nowhere.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) canaries: Vec<String>,
}

/// Makes tokens that are all different and look random.
struct Tokens(u64);

impl Tokens {
    fn next(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
        let letters = (0..length).map(|_| {
            // A linear congruential generator, with the constants of Knuth's MMIX.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(self.0 >> 33).unwrap() % LETTERS.len();
            char::from(LETTERS[at])
        });
        let mut token: String = letters.collect();
        // Whatever comes by chance, some digits are among the letters.
        token.replace_range(1..2, "7");
        token.replace_range(3..4, "4");
        token
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Cases(Vec::new());
    cases.declared();
    cases.shapes();
    cases.keys();
    cases.places();
    cases.0
}

struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, name: &str, text: impl Into<String>, canaries: &[&str]) {
        self.0.push(Case {
            name: format!("{}-{name}", self.0.len()),
            text: text.into(),
            canaries: canaries.iter().map(|it| (*it).to_owned()).collect(),
        });
    }

    /// One declared value, as JSON, HTML, addresses, forms, base64 and hexadecimal write it.
    fn declared(&mut self) {
        let json = json!({ "a": DECLARED }).to_string();
        let ascii: String = json
            .chars()
            .map(|it| {
                if it.is_ascii() {
                    it.to_string()
                } else {
                    format!("\\u{:04x}", u32::from(it))
                }
            })
            .collect();
        let html = DECLARED
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let html = html.replace('"', "&quot;").replace('\'', "&#39;");
        let percent: String = DECLARED
            .bytes()
            .map(|it| {
                if it.is_ascii_alphanumeric() || it == b'-' {
                    char::from(it).to_string()
                } else {
                    format!("%{it:02X}")
                }
            })
            .collect();
        let base64 = |before: &str| STANDARD.encode(format!("{before}{DECLARED}{before}"));
        for (name, text) in [
            ("plain", format!("it is {DECLARED}.")),
            ("json", json.clone()),
            ("json in json", json!({ "b": json }).to_string()),
            (
                "json three deep",
                json!([json!({ "b": json }).to_string()]).to_string(),
            ),
            ("python", ascii.clone()),
            ("php", ascii.replace('/', "\\/")),
            (
                "go",
                json.replace('<', "\\u003c")
                    .replace('>', "\\u003e")
                    .replace('&', "\\u0026"),
            ),
            ("python in json", json!({ "b": ascii }).to_string()),
            ("html", format!("<p>{html}</p>")),
            ("percent", format!("https://h/x?q={percent}&b=1")),
            (
                "percent in small letters",
                format!(
                    "https://h/x?q={}",
                    percent
                        .replace("%C3%A9", "%c3%a9")
                        .replace("%3C", "%3c")
                        .replace("%2F", "%2f")
                        .replace("%2B", "%2b")
                        .replace("%3E", "%3e")
                ),
            ),
            ("form", format!("q={}&b=1", percent.replace("%20", "+"))),
            ("base64", base64("")),
            ("base64 behind one", base64("a")),
            ("base64 behind two", base64("ab")),
            (
                "name and password",
                STANDARD.encode(format!("me:{DECLARED}")),
            ),
            (
                "base64url",
                URL_SAFE_NO_PAD.encode(format!("me:{DECLARED}")),
            ),
            ("hex", hex::encode(DECLARED)),
            ("HEX", hex::encode_upper(DECLARED)),
        ] {
            self.add(name, text, &[]);
        }
        self.escaped_twice();
    }

    /// The declared value, escaped by one program and then by another.
    fn escaped_twice(&mut self) {
        let escaped = |style: &str, text: &str| {
            let json = || json!(text).to_string();
            let numbered = |number: &dyn Fn(char) -> String| {
                let number = |it: char| {
                    let stays = it.is_ascii_alphanumeric() || " -.".contains(it);
                    if stays { it.to_string() } else { number(it) }
                };
                text.chars().map(number).collect::<String>()
            };
            match style {
                "php" => json().replace('/', "\\/").replace('é', "\\u00E9"),
                "go" => json().replace('&', "\\u0026").replace('<', "\\u003c"),
                "python" => json().replace('é', "\\u00e9"),
                "mustache" => numbered(&|it| format!("&#x{:X};", u32::from(it))),
                "xml" => numbered(&|it| format!("&#{};", u32::from(it))),
                _ => {
                    let byte = |it: u8| match it {
                        it if it.is_ascii_alphanumeric() => char::from(it).to_string(),
                        it => format!("%{it:02x}"),
                    };
                    text.bytes().map(byte).collect()
                }
            }
        };
        let styles = ["php", "go", "python", "mustache", "xml", "percent"];
        for inner in styles {
            for outer in styles {
                // Spaces stay, so that only the value is in question.
                let text = escaped(outer, &escaped(inner, DECLARED));
                self.add(&format!("{inner} in {outer}"), text, &[]);
            }
        }
        for quoted in ["'\\''", "''", "\\'"] {
            let text = DECLARED.replace('\'', quoted);
            self.add(
                &format!("quoted as {quoted}"),
                format!("echo '{text}'"),
                &[],
            );
        }
    }

    /// Keys of known shapes, wherever they stand.
    fn shapes(&mut self) {
        let mut tokens = Tokens(1);
        let mut next = |length| tokens.next(length);
        let shapes = [
            format!("{}{}", "AKIA", next(16).to_uppercase()),
            format!("{}{}", "sk-", next(48)),
            format!("{}{}", "sk-proj-", next(60)),
            format!("{}{}", "sk-ant-", next(40)),
            format!("{}{}", "AIza", next(35)),
            format!("{}{}", "sk_live_", next(24)),
            format!("{}{}", "npm_", next(36)),
            format!(
                "{}{}.{}.{}",
                "eyJ",
                next(20),
                format_args!("eyJ{}", next(20)),
                next(43)
            ),
            format!("{}{}", "ghp_", next(36)),
            format!("{}{}", "github_pat_", next(40)),
            format!("{}{}", "glpat-", next(20)),
            format!("{}{}", "xoxb-", next(24)),
            format!("{}{}", "xapp-1-", next(24)),
            format!("{}{}", "hf_", next(34)),
            format!("{}{}", "hvs.", next(24)),
            format!("{}{}", "pypi-", next(60)),
            format!("{}{}.{}", "SG.", next(22), next(43)),
            format!("{}{}", "dop_v1_", "a1b2c3d4".repeat(8)),
            format!("{}{}", "dp.pt.", next(40)),
            format!("{}{}", "lin_api_", next(40)),
            format!("{}{}", "110201543:AA", next(33)),
            format!("{}{}.{}.{}", "MT", next(24), next(6), next(27)),
            format!("{}8Q~{}", &next(4)[..3], next(34)),
            format!("{}.atlasv1.{}", next(14), next(64)),
            format!("{}{}", "1//0", next(60)),
            format!("{}{}", "secret_", next(43)),
            format!("{}{}.{}", "pat", next(14), "a1b2c3d4".repeat(8)),
            format!("{}{}", "dapi", "a1b2c3d4".repeat(4)),
            format!("{}{}_{}", "glsa_", next(32), "a1b2c3d4"),
            format!("{}{}.{}", "sk.eyJ", next(60), next(22)),
        ];
        for key in shapes {
            for (name, text) in [
                ("alone", key.clone()),
                ("in a line", json!(format!("a\n{key}\nb")).to_string()),
                (
                    "behind a tab",
                    json!({ "t": format!("a\t{key}") }).to_string(),
                ),
                (
                    "quoted twice",
                    json!({ "t": json!({ "u": key }).to_string() }).to_string(),
                ),
                ("beside another alphabet", format!("ключ{key}ключ")),
                ("in an address", format!("https://h/p/{key}/x")),
                ("at the end of a sentence", format!("It is {key}.")),
            ] {
                self.add(name, text, &[&key]);
            }
        }
    }

    /// Values behind keys, as settings, command lines and JSON have them.
    fn keys(&mut self) {
        const KEYS: [&str; 20] = [
            "password",
            "pass",
            "pwd",
            "passphrase",
            "secrets",
            "tokens",
            "credentials",
            "auth",
            "session_token",
            "signing_key",
            "private_key",
            "connection_string",
            "cookie",
            "set-cookie",
            "api_key",
            "PASSWORD",
            "dbPassword",
            "client-secret",
            "refreshToken",
            "X-API-KEY",
        ];
        let mut tokens = Tokens(2);
        for key in KEYS {
            let mut with = |text: &dyn Fn(&str) -> String| {
                let value = tokens.next(12);
                self.add(key, text(&value), &[&value]);
            };
            with(&|it| json!({ key: it, "other": 1 }).to_string());
            with(&|it| json!({ key: { "value": it } }).to_string());
            with(&|it| json!({ key: [it] }).to_string());
            with(&|it| json!({ "text": json!({ key: it }).to_string() }).to_string());
            with(&|it| format!("a: 1\n{key}: {it}\nb: 2"));
            with(&|it| json!(format!("a: 1\n{key}: {it}\nb: 2")).to_string());
            with(&|it| format!("A=1\n{}={it}\n", key.to_uppercase().replace('-', "_")));
            with(&|it| format!("run --{key}={it} --x"));
            with(&|it| format!("run --{key} {it} --x"));
        }
    }

    /// What stands in the place of a secret.
    fn places(&mut self) {
        let mut tokens = Tokens(3);
        let mut with = |name: &str, text: &dyn Fn(&str) -> String| {
            let value = tokens.next(24);
            self.add(name, text(&value), &[&value]);
        };
        with("header", &|it| {
            format!("curl -H 'Authorization: Bearer {it}'")
        });
        with("bearer", &|it| format!("Bearer {it}"));
        with("bearer in a line", &|it| {
            json!(format!("x\nBearer {it}")).to_string()
        });
        with("token in an address", &|it| format!("https://{it}@host/x"));
        with("database", &|it| format!("postgres://u:{it}@db/x"));
        with("database in json", &|it| {
            json!({ "url": format!("mongodb+srv://u:{it}@db/x?y=1") }).to_string()
        });
        with("storage", &|it| {
            format!(
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={it}{it}==;EndpointSuffix=x"
            )
        });
        with("signature", &|it| {
            format!("https://a.blob.example.net/c?sv=2020&sig={it}{it}%3D&se=1")
        });
        with("registry", &|it| {
            json!({ "auths": { "r": { "auth": STANDARD.encode(format!("u:{it}")) } } }).to_string()
        });
        with("psql", &|it| format!("psql 'host=h password={it} user=u'"));
        with("curl", &|it| format!("curl -u alice:{it} https://h"));
        with("webhook", &|it| {
            format!("https://hooks.slack.com/services/T0/B0/{it}")
        });
        with("query", &|it| {
            format!("GET /x?page=2&access_token={it} HTTP/1.1")
        });
        with("user of an address", &|it| {
            format!("https://x-access-token:{it}@github.com/a/b.git")
        });
        with("block of yaml", &|it| {
            format!("a:\n  client_secret: |-\n    {it}\n  b: c\n")
        });
        with("xml", &|it| format!("<db><password>{it}</password></db>"));
        with("bytes of python", &|it| format!("{{'password': b'{it}'}}"));
        with("sql", &|it| format!("ALTER USER me WITH PASSWORD '{it}'"));
        with("netrc", &|it| format!("machine h login me password {it}"));
        with("prose", &|it| format!("Your new API key is {it}."));
        with("password in quotes", &|it| format!("run --password '{it}'"));
        with("env of kubernetes", &|it| {
            format!("env:\n- name: DB_PASSWORD\n  value: {it}\n")
        });
        with("base64", &|it| {
            format!(
                "file {} read",
                STANDARD.encode(format!("user: me\npassword: {it}\n"))
            )
        });
        with("secret of kubernetes", &|it| {
            json!({ "data": { "x": STANDARD.encode(it), "y": it }, "kind": "Secret" }).to_string()
        });
        with("manifest", &|it| {
            format!("data:\n  x: {it}\nkind: Secret\n")
        });
        with("output of terraform", &|it| {
            json!({ "db": { "sensitive": true, "value": it } }).to_string()
        });
        with("row", &|it| format!("| API_KEY | {it} |\n"));
        with("column", &|it| {
            format!("| a | password |\n|---|---|\n| b | `{it}` |\n")
        });
        with("attributes of xml", &|it| {
            format!("<add key=\"ApiKey\" value=\"{it}\"/>")
        });
        with("value before its name", &|it| {
            json!([{ "Value": it, "Name": "DB_PASSWORD" }]).to_string()
        });
        with("list of arguments", &|it| format!("args: [--token, {it}]"));
        for kind in ["RSA PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
            let line = tokens.next(64);
            let block = format!("-----BEGIN {kind}-----\n{line}\n{line}\n-----END {kind}-----\n");
            self.add(kind, block.clone(), &[&line]);
            self.add(kind, json!({ "key": block }).to_string(), &[&line]);
        }
    }
}

/// Texts that must be stored as they are.
pub(super) fn survivors() -> Vec<(&'static str, Value)> {
    [
        "{\"max_tokens\": 4096, \"input_tokens\": 12, \"tokens_used\": \"20\"}",
        "a token bucket of 5 tokens, and the tokenizer: bpe",
        "{\"password_policy\": \"strict\", \"author\": \"Jane Doe\", \"key\": \"name\"}",
        "{\"next_page_token\": \"2\", \"nextPageToken\": \"abc\"}",
        "commit cc9decf0e4ab43355b7ad66314ca1573b10cc9de",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "Bearer authentication is required",
        "sk-learn-pipeline, and sk-learn-pipeline-for-production-2024",
        "server postgres is up for customer 5 in test mode",
        "{\"properties\": {\"token\": {\"type\": \"string\", \"description\": \"The token to use\"}}}",
        "Use `--password` to give a password: it must be at least 8 characters.",
        "password = os.environ['DB_PASSWORD']",
        "export API_KEY=your-api-key-here TOKEN=${TOKEN}",
        "docker run -u 1000:1000 git@github.com ssh://git@github.com/x",
        "/srv/production-database/file",
        "{\"token\": \"valid\", \"password\": \"is too short (minimum is 8 characters)\", \"secret\": \"EXPIRED_TOKEN\"}",
        "{\"password\": \"too_short\", \"api_key\": \"configured via env\", \"credentials\": \"~/.aws/credentials\"}",
        "{\"cookie\": \"^0.7.1\", \"js-tokens\": \">=2.1.3 <3\", \"secret\": \"projects/p/secrets/db/versions/1\"}",
        "PWD=/home/bob/project PWD='/tmp' private_key: /etc/k.pem",
        "def login(user: str, password: bytes, auth: AuthTypes, cookies: CookieTypes) -> None",
        "connect(client_secret=client_secret, password=await ask(user), secret=Secret::new(value))",
        "passwords stay hidden and so do secrets: token: refreshToken",
        "existingSecret: my-release-2, secretName: tls-2024, secret: Buffer, token: ^[a-z]{8}$",
        "| password | string | of the user |\n| token | optional | of the API |",
        "aW1hZ2VzIGFuZCB0ZXh0cyB3aXRob3V0IGFueSBzZWNyZXQgaW4gdGhlbSBhcmUgbGVmdCBhbG9uZQ==",
        "{\"kind\": \"ConfigMap\", \"data\": {\"mode\": \"test\"}, \"sensitive\": false, \"value\": \"x\"}",
    ]
    .into_iter()
    .map(|it| (it, json!(it)))
    .collect()
}
