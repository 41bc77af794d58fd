//! The dashboard: who is let in, what its pages show, what its forms do.

use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde_json::{Value, json};

use super::desk::{Events, Server, answer};
use crate::common::Project;

const PRICE: &str = "name: Price\nservers: { shop: { type: mock } }\n\
    expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n";

/// A scenario that asks a mock server for a price.
pub(super) fn price(text: &str) -> String {
    format!("{PRICE}{}", super::desk::SHOP.replace("4 euros", text))
}

/// As browsers send forms.
fn form(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let coded = Url::parse_with_params("http://form", fields).unwrap();
    request
        .header("content-type", "application/x-www-form-urlencoded")
        .body(coded.query().unwrap_or_default().to_owned())
}

/// A browser without a screen: it keeps cookies, and says of forms where they come from.
pub(super) struct Visitor {
    url: String,
    client: Client,
    pub(super) cookie: Option<String>,
}

impl Visitor {
    pub(super) fn new(server: &Server) -> Self {
        let client = Client::builder().no_proxy().redirect(Policy::none());
        Self {
            url: server.url.clone(),
            client: client.build().unwrap(),
            cookie: None,
        }
    }

    /// One that has signed in.
    pub(super) async fn signed_in(server: &Server) -> Self {
        let mut visitor = Self::new(server);
        let token = server.token.clone().unwrap();
        let response = visitor.sign_in(&token).await;
        assert_eq!(response.status(), 303);
        visitor
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }

    async fn sign_in(&mut self, token: &str) -> Response {
        let request = self.request(Method::POST, "/session");
        let request = request.header("origin", &self.url);
        let response = form(request, &[("token", token)]).send().await.unwrap();
        self.keep(&response);
        response
    }

    fn keep(&mut self, response: &Response) {
        if let Some(cookie) = response.headers().get("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
                assert!(cookie.contains(part), "{cookie}");
            }
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        }
    }

    /// A page, as it is after all redirections.
    pub(super) async fn page(&self, path: &str) -> (u16, String) {
        let mut path = path.to_owned();
        for _ in 0..5 {
            let response = self.request(Method::GET, &path).send().await.unwrap();
            if response.status() != 303 {
                let headers = response.headers();
                for (name, part) in [
                    ("content-security-policy", "default-src 'none'"),
                    ("content-security-policy", "frame-ancestors 'none'"),
                    ("x-content-type-options", "nosniff"),
                    ("cache-control", "no-store"),
                    ("referrer-policy", "same-origin"),
                ] {
                    let value = headers[name].to_str().unwrap();
                    assert!(value.contains(part), "{path}: {name}: {value}");
                }
                let status = response.status().as_u16();
                return (status, response.text().await.unwrap());
            }
            path = response.headers()["location"].to_str().unwrap().to_owned();
        }
        panic!("{path} leads in a circle")
    }

    /// What forms bring with them.
    pub(super) async fn csrf(&self) -> String {
        let (_, page) = self.page("/").await;
        let value = page.split_once("name=\"csrf\" value=\"");
        let value = value.unwrap_or_else(|| panic!("{page}")).1;
        value.split('"').next().unwrap().to_owned()
    }

    /// Sends a form of ours.
    pub(super) async fn send(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let csrf = self.csrf().await;
        let fields = [fields, &[("csrf", csrf.as_str())]].concat();
        let request = self.request(Method::POST, path).header("origin", &self.url);
        let response = form(request, &fields).send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.text().await.unwrap())
    }
}

/// Waits until there are so many results.
async fn results(server: &Server, number: usize) -> Value {
    loop {
        let (status, results) = server.get("results").await;
        // A database that nothing was written to yet.
        if status == 200 && results["results"].as_array().unwrap().len() >= number {
            return results;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_shows_the_token_once_is_let_in_to_the_pages_alone() {
    let project = Project::new();
    project.file("scenarios/price.yaml", price("4 euros"));
    let server = Server::start(&project, &[]);
    let mut visitor = Visitor::new(&server);
    for path in [
        "/",
        "/history",
        "/history/price",
        "/results/x",
        "/runs/a/b",
        "/pending/x",
        "/live",
    ] {
        let (status, page) = visitor.page(path).await;
        assert_eq!(status, 401, "{path}");
        assert!(
            page.contains("Sign in to the test server"),
            "{path}: {page}"
        );
        assert!(!page.contains("price"), "{path}: {page}");
    }
    for wrong in ["", "nonsense-nonsense", "<script>alert(1)</script>"] {
        let response = visitor.sign_in(wrong).await;
        assert_eq!(response.status(), 401);
        assert!(!response.headers().contains_key("set-cookie"));
        let page = response.text().await.unwrap();
        assert!(
            page.contains("That is not the token of this server."),
            "{page}"
        );
        assert!(wrong.is_empty() || !page.contains(wrong), "{page}");
        assert!(!page.contains("nonsense"), "{page}");
    }
    let token = server.token.clone().unwrap();
    let response = visitor.sign_in(&token).await;
    assert_eq!(response.status(), 303);
    assert_eq!(response.headers()["location"], "/");
    let cookie = visitor.cookie.clone().unwrap();
    assert!(!cookie.contains(&token), "{cookie}");
    let port = server.url.rsplit(':').next().unwrap();
    assert!(cookie.starts_with(&format!("mcp_eval_{port}=")), "{cookie}");
    let (status, page) = visitor.page("/").await;
    assert_eq!(status, 200);
    assert!(page.contains("Price") && !page.contains(&token), "{page}");

    // The cookie opens nothing of the API, and that of another server nothing at all.
    for path in ["status", "results", "events", "cases"] {
        let request = server.bare(Method::GET, path).header("cookie", &cookie);
        assert_eq!(answer(request).await.0, 401, "{path}");
    }
    let (_, run) = answer(
        server
            .bare(Method::POST, "run")
            .header("cookie", &cookie)
            .json(&json!({ "scenario": "price" })),
    )
    .await;
    assert!(
        run["error"].as_str().unwrap().contains("Authorization"),
        "{run}"
    );
    let other = Server::start(&project, &[]);
    let mut elsewhere = Visitor::new(&other);
    elsewhere.cookie = Some(cookie.clone());
    assert_eq!(elsewhere.page("/").await.0, 401);
    // Nor under the name that the other one looks for.
    let renamed = cookie.replacen(port, other.url.rsplit(':').next().unwrap(), 1);
    elsewhere.cookie = Some(renamed);
    assert_eq!(elsewhere.page("/").await.0, 401);

    let mut live = Events::open(visitor.request(Method::GET, "/live")).await;
    live.until(|it| it.kind == "now").await;
    let (status, _) = visitor.send("/sign-out", &[]).await;
    assert_eq!(status, 303);
    // What is looked at ends with the session, although nothing more is asked.
    while live.next().await.is_some() {}
    assert_eq!(visitor.page("/").await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_that_is_printed_at_the_start_signs_in_once() {
    let project = Project::new();
    let mut server = Server::start(&project, &[]);
    let url = server.url.clone();
    let mut visitor = Visitor::new(&server);
    let (status, page) = visitor.page("/sign-in/nonsense").await;
    assert_eq!(status, 401, "{page}");
    // What it says on stderr is read at its end: a second server tells it at once.
    let chosen = Server::with(&project, &[], &[("MCP_EVAL_TOKEN", "chosen-by-somebody")]);
    chosen.signal("-TERM");
    let (_, said) = chosen.end();
    assert!(said.contains("dashboard: http://127.0.0.1:"), "{said}");
    assert!(
        !said.contains("sign-in") && !said.contains("chosen-by"),
        "{said}"
    );
    let link = server.first_line_with("/sign-in/");
    let path = link.split_once(&url).unwrap().1.split(' ').next().unwrap();
    // Whoever looks whether it leads anywhere has not used it.
    let response = visitor.request(Method::HEAD, path).send().await.unwrap();
    assert!(response.headers().get("set-cookie").is_none());
    let response = visitor.request(Method::GET, path).send().await.unwrap();
    assert_eq!(response.status(), 303);
    visitor.keep(&response);
    assert_eq!(visitor.page("/").await.0, 200);
    let (status, page) = Visitor::new(&server).page(path).await;
    assert_eq!(status, 401);
    assert!(page.contains("this one has been used"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_of_others_do_nothing() {
    let project = Project::new();
    project.file("scenarios/price.yaml", price("4 euros"));
    let server = Server::start(&project, &["--allow-write"]);
    let visitor = Visitor::signed_in(&server).await;
    let own_value = visitor.csrf().await;
    let csrf = own_value.as_str();
    let other = Visitor::signed_in(&server).await;
    let others = other.csrf().await;
    let own = server.url.as_str();
    let cases = [
        ("origin", "http://evil.example", csrf),
        ("origin", "null", csrf),
        ("sec-fetch-site", "cross-site", csrf),
        ("sec-fetch-site", "same-site", csrf),
        ("host", "evil.example", csrf),
        ("origin", own, ""),
        ("origin", own, "nonsense"),
        ("origin", own, others.as_str()),
    ];
    for (name, value, csrf) in cases {
        for path in ["/run", "/review", "/sign-out"] {
            let request = visitor.request(Method::POST, path).header(name, value);
            let fields = [("csrf", csrf), ("scenario", "price"), ("command", "run")];
            let response = form(request, &fields).send().await.unwrap();
            assert_eq!(response.status(), 403, "{name}: {value} {path}");
        }
    }
    // Without a cookie, the right value is worth nothing; and forms are sent, not gone to.
    let nobody = Visitor::new(&server);
    let fields = [("csrf", csrf), ("scenario", "price"), ("command", "run")];
    let request = form(nobody.request(Method::POST, "/run"), &fields);
    assert_eq!(request.send().await.unwrap().status(), 401);
    let got = visitor.request(Method::GET, "/run").send().await.unwrap();
    assert_eq!(got.status(), 303);
    assert_eq!(got.headers()["location"], "/");
    let (_, results) = server.get("results").await;
    assert_eq!(results["total"], 0, "{results}");
    assert_eq!(visitor.page("/").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_is_run_by_a_form_and_its_result_has_a_page() {
    let project = Project::new();
    project
        .file("scenarios/price.yaml", price("4 euros"))
        .file("scenarios/broken.yaml", "name: Broken\nservrs: {}\n")
        .file(
            "scenarios/program.yaml",
            "name: Program\nservers: { s: { command: ./server } }\nexpected_trajectory: [{ tool: mcp__s__x }]\n",
        )
        .file(
            "scenarios/hostile.yaml",
            price("x").replace("name: Price", r#"name: "<script>alert(1)</script> \u202Eevil""#),
        );
    let server = Server::start(&project, &[]);
    let visitor = Visitor::signed_in(&server).await;
    let (_, page) = visitor.page("/").await;
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; \\u{202e}evil"),
        "{page}"
    );
    assert!(
        page.contains("broken.yaml:2:1") && page.contains("servers"),
        "{page}"
    );
    // What cannot be run says why in the place of a button, and how it could be is said once.
    assert!(page.contains("is a program"), "{page}");
    assert_eq!(page.matches("--allow-programs").count(), 1, "{page}");
    assert!(!page.contains("Run Program"), "{page}");
    assert!(page.contains("There are none yet."), "{page}");
    assert!(!page.contains("href=\"/history/"), "{page}");
    let (status, page) = visitor.page("/history").await;
    assert_eq!(status, 404, "{page}");
    assert!(page.contains("run a scenario"), "{page}");

    for (command, scenario, wanted) in [
        ("run", "price", 303),
        ("run", "hostile", 303),
        ("run", "program", 403),
        ("run", "../outside", 404),
        ("run", "broken", 400),
        ("dance", "price", 400),
    ] {
        let fields = [("scenario", scenario), ("command", command)];
        let (status, page) = visitor.send("/run", &fields).await;
        assert_eq!(status, wanted, "{scenario}: {page}");
        assert!(
            wanted == 303 || page.contains("Back to the dashboard"),
            "{page}"
        );
    }
    let kept = results(&server, 2).await;
    let (_, page) = visitor.page("/").await;
    assert!(page.contains("href=\"/history/price\""), "{page}");
    let of = |scenario: &str| {
        let mut all = kept["results"].as_array().unwrap().iter();
        all.find(|it| it["scenario"] == scenario).unwrap().clone()
    };
    let result = of("price");
    assert_eq!(result["status"], "passed", "{result:#}");
    let id = result["resultId"].as_str().unwrap();
    let (_, page) = visitor.page("/").await;
    assert!(page.contains(&format!("href=\"/results/{id}\"")), "{page}");
    // As in the report, once its run has come to its end.
    let page = loop {
        let (status, page) = visitor.page(&format!("/results/{id}")).await;
        assert_eq!(status, 200);
        if !page.contains("goes on: its page is there") {
            break page;
        }
    };
    for shown in [
        "<h1>Price</h1>",
        "4 euros for tea",
        "All scenarios",
        "href=\"/history/price\"",
        "mcp-eval run scenarios/price.yaml",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // No command finds what a request has brought.
    let brought = server.run(&json!({ "yaml": price("4 euros") })).await;
    let brought = brought["resultId"].as_str().unwrap();
    let (_, page) = visitor.page(&format!("/results/{brought}")).await;
    assert!(page.contains("4 euros for tea"), "{page}");
    assert!(!page.contains("mcp-eval run"), "{page}");
    let run = result["runId"].as_str().unwrap();
    let (status, index) = visitor.page(&format!("/runs/{run}/index.html")).await;
    assert_eq!(status, 200);
    assert!(index.contains("href=\"price.html\""), "{index}");
    for nowhere in [
        "/results/none",
        "/runs/none/index.html",
        "/history/none",
        "/pending/none.html",
    ] {
        let (status, page) = visitor.page(nowhere).await;
        assert_eq!(status, 404, "{nowhere}");
        assert!(page.contains("Back to the dashboard"), "{nowhere}: {page}");
    }
    for outside in [
        "..%2F..%2Fserve.json",
        "%2Fetc%2Fpasswd",
        "current/..%2F..%2F..%2Fserve.json",
    ] {
        let (status, page) = visitor.page(&format!("/runs/{run}/{outside}")).await;
        assert_eq!(status, 404, "{outside}: {page}");
    }
    let hostile = of("hostile")["resultId"].as_str().unwrap().to_owned();
    for path in [
        "/history".to_owned(),
        "/history/hostile".to_owned(),
        format!("/results/{hostile}"),
    ] {
        let (status, page) = visitor.page(&path).await;
        assert_eq!(status, 200, "{path}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{path}: {page}");
        assert!(!page.contains("<script>alert"), "{path}: {page}");
    }

    // When the files of the run are gone, the page has what the database knows.
    std::fs::remove_dir_all(project.path(".mcp-eval/runs")).unwrap();
    let (status, page) = visitor.page(&format!("/results/{id}")).await;
    assert_eq!(status, 200);
    assert!(page.contains("The files of its run are gone"), "{page}");
    assert!(
        page.contains("<h1>Price</h1>") && page.contains("get_price"),
        "{page}"
    );
    let (status, page) = visitor.page(&format!("/runs/{run}/price.html")).await;
    assert_eq!(status, 404, "{page}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn what_changed_is_looked_at_and_accepted_where_that_is_allowed() {
    let project = Project::new();
    let second = |text: &str| price(text).replace("name: Price", "name: Second");
    project.file("scenarios/price.yaml", price("4 euros"));
    project.file("scenarios/second.yaml", second("4 euros"));
    project.expect(0, &["record"]);
    project.file("scenarios/price.yaml", price("5 euros"));
    project.file("scenarios/second.yaml", second("5 euros"));
    project.expect(1, &["compare", "scenarios/second.yaml"]);
    let before = project.read("baselines/price/baseline.json");
    let server = Server::start(&project, &["--allow-write"]);
    let visitor = Visitor::signed_in(&server).await;
    let fields = [("scenario", "price"), ("command", "compare")];
    assert_eq!(visitor.send("/run", &fields).await.0, 303);
    results(&server, 1).await;
    let pending = project.path("baselines/price/pending.json");
    while !pending.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let (_, page) = visitor.page("/").await;
    assert!(page.contains("Pending review"), "{page}");
    assert!(page.contains("href=\"/pending/price.html\""), "{page}");
    // Both wait for one cause.
    assert!(page.contains("href=\"/pending/second.html\""), "{page}");
    assert!(page.contains("<p class=\"meta\">2 scenarios</p>"), "{page}");
    let (_, cards) = page.split_once("Pending review").unwrap();
    let (cards, _) = cards.split_once("</section>").unwrap();
    assert_eq!(cards.matches("<li class=\"card").count(), 1, "{cards}");
    let (status, shown) = visitor.page("/pending/price.html").await;
    assert_eq!(status, 200);
    for text in [
        "Pending review",
        "Accept as the new baseline",
        "<mark>4</mark> euros",
        "<mark>5</mark> euros",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let run = page.split_once("name=\"run\" value=\"").unwrap().1;
    let run = run.split('"').next().unwrap();

    // Where it is not allowed, it is said how it would be.
    let reader = Server::start(&project, &[]);
    let looking = Visitor::signed_in(&reader).await;
    for path in ["/", "/pending/price.html"] {
        let (_, page) = looking.page(path).await;
        assert!(page.contains("--allow-write"), "{path}: {page}");
        assert!(!page.contains("value=\"accept\""), "{path}: {page}");
    }
    let decide = |run, decision| [("scenario", "price"), ("run", run), ("decision", decision)];
    let (status, page) = looking.send("/review", &decide(run, "accept")).await;
    assert_eq!(status, 403, "{page}");
    assert_eq!(project.read("baselines/price/baseline.json"), before);

    // Nobody accepts another run than the one they have seen.
    let (status, page) = visitor.send("/review", &decide("another", "accept")).await;
    assert_eq!(status, 409, "{page}");
    assert!(page.contains("Another run"), "{page}");
    assert_eq!(project.read("baselines/price/baseline.json"), before);
    let (status, page) = visitor.send("/review", &decide(run, "accept")).await;
    assert_eq!(status, 303, "{page}");
    let after = project.read("baselines/price/baseline.json");
    assert!(after.contains("5 euros") && !pending.exists());
    let (_, page) = visitor.page("/").await;
    assert!(page.contains("price was accepted"), "{page}");
    assert!(!page.contains("/pending/price.html"), "{page}");
    // It is said once.
    assert!(!visitor.page("/").await.1.contains("was accepted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_database_a_token_or_files_that_can_be_read_pages_say_so() {
    let project = Project::new();
    project.file("scenarios/price.yaml", price("4 euros"));
    let server = Server::start(&project, &["--no-token", "--no-db"]);
    let visitor = Visitor::new(&server);
    let (status, page) = visitor.page("/").await;
    assert_eq!(status, 200);
    assert!(
        page.contains("<code>--no-db</code>") && !page.contains("Sign out"),
        "{page}"
    );
    for path in ["/history", "/results/x"] {
        let (status, page) = visitor.page(path).await;
        assert_eq!(status, 404, "{path}");
        assert!(page.contains("--no-db"), "{path}: {page}");
    }
    // Forms want their value here, too.
    let fields = [("scenario", "price"), ("command", "run")];
    let request = form(visitor.request(Method::POST, "/run"), &fields);
    assert_eq!(request.send().await.unwrap().status(), 403);
    assert_eq!(visitor.send("/run", &fields).await.0, 303);

    // A database that nobody answers for.
    let nobody = "postgres://nobody@127.0.0.1:9/nothing";
    let server = Server::start(&project, &["--no-token", "--db", nobody]);
    let visitor = Visitor::new(&server);
    let (status, page) = visitor.page("/").await;
    assert_eq!(status, 200, "{page}");
    assert!(
        page.contains("Price")
            && (page.contains("127.0.0.1:9") || page.contains("has not answered")),
        "{page}"
    );
    let (status, page) = visitor.page("/history").await;
    assert_eq!(status, 503, "{page}");
    assert!(page.contains("Back to the dashboard"), "{page}");
}
