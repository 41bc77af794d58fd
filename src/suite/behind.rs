//! Servers behind those under test, in one run: mocks of ours and real ones, each behind a gateway that hears what arrives there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::input;
use crate::mcp::{self, GatewayFrom, GatewayPlace, OnProgress, SentHeaders, Target};
use crate::model::{Redacted, Servers, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::{self, SetupError};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{HttpStyle, Start, Transport};
use crate::suite::addresses::{Addresses, is_started};
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::stack::{Log, Running};
use crate::suite::started::{Port, StartedServers};
use crate::suite::{SuiteContext, recorded};

/// How the names of the folders of filled files begin.
const FILLED: &str = "mcp-eval-config-";

/// Where the servers behind those of a scenario are reached: in all its runs alike, because its containers get the addresses once.
#[derive(Debug, Default)]
pub(crate) struct BehindPlace(OnceCell<Arc<Place>>);

/// Where they are reached.
#[derive(Debug)]
struct Place {
    gateway: GatewayPlace,
    /// Listens from the first run to the last, so that nobody else takes the port between two of them.
    listener: TcpListener,
    /// By the server behind.
    urls: BTreeMap<String, String>,
    /// The scenario's configuration file with these filled in.
    config: Option<Filled>,
}

/// A file that is removed when it is not needed any more.
#[derive(Debug)]
struct Filled {
    path: PathBuf,
    _folder: TempDir,
    /// See [`held_folder`].
    _held: Option<File>,
}

/// What listens behind the servers in one run. Dropping it ends all of it.
pub(crate) struct Behind {
    place: Arc<Place>,
    /// What the agent's side sends, once that is known.
    pub(crate) sent: SentHeaders,
    started: StartedServers,
    gateway: Box<dyn run::Gateway>,
}

/// The servers behind in one run: how each is asked, and those that were started for it. Dropping it kills the latter.
pub(crate) struct Upstreams {
    pub(crate) targets: Vec<Target>,
    pub(crate) started: StartedServers,
}

impl Behind {
    pub(crate) fn gateway(&self) -> &dyn run::Gateway {
        &*self.gateway
    }

    /// See [`StartedServers::examine`].
    pub(crate) async fn examine(&self, run: &mut Redacted<Trajectory>, redactor: &Redactor) {
        self.started.examine(run, redactor).await;
    }
}

impl Running for Behind {
    fn name(&self) -> &'static str {
        "the servers behind"
    }

    fn logs(&self, begun: Timestamp) -> BoxFuture<'_, Vec<Log>> {
        self.started.logs(begun)
    }

    /// Asks all of it to end, then forces it.
    fn tear_down<'a>(&'a self, tell: OnProgress<'a>) -> BoxFuture<'a, Vec<String>> {
        async move {
            self.gateway.close().await;
            self.started.tear_down(tell).await
        }
        .boxed()
    }
}

impl SuiteContext {
    /// Begins to listen behind the servers of a scenario; `None` where it declares nothing there, or what was recorded answers in their
    /// place. The secrets that the servers behind are given are added to `secrets`, with the addresses that nobody else is to know.
    pub(crate) async fn listen_behind(
        &self,
        scenario: &Scenario,
        place: &BehindPlace,
        secrets: &mut Secrets,
        tell: OnProgress<'_>,
    ) -> Result<Option<Behind>, SetupError> {
        if scenario.upstreams.is_empty() || recorded::servers(scenario) == Servers::Recorded {
            return Ok(None);
        }
        let place = place.0.get_or_try_init(|| self.place(scenario)).await?;
        let place = Arc::clone(place);
        declare(&place, secrets);
        let Upstreams { targets, started } = self.upstreams(scenario, secrets)?;
        let sent = SentHeaders::default();
        sent.are_those_of(&self.targets_anywhere(scenario));
        let opening = async {
            let listener = place.listener.try_clone();
            let listener = listener.and_then(tokio::net::TcpListener::from_std);
            let at = (place.gateway.clone(), listener.map_err(|it| no_port(&it))?);
            mcp::open_behind(&targets, at, sent.clone(), tell).await
        };
        let opened = started.during(opening);
        let opened = self.interrupt.run_until_cancelled(opened).await;
        let opened = opened.unwrap_or_else(|| Err(SetupError::new("interrupted")));
        let gateway = opened.map_err(|mut it| {
            it.message = format!("`upstreams`: {}", it.message);
            it
        })?;
        Ok(Some(Behind {
            place,
            sent,
            started,
            gateway,
        }))
    }

    /// Starts those of the servers behind that are started for each run, and says how all of them are asked; the secrets that they are given
    /// are added to `secrets`.
    pub(crate) fn upstreams(
        &self,
        scenario: &Scenario,
        secrets: &mut Secrets,
    ) -> Result<Upstreams, SetupError> {
        let mut servers = scenario.upstreams.clone();
        for server in &mut servers {
            if server.transport == Transport::Mock {
                server.transport = self.mock_over_http(scenario, &server.name);
            }
        }
        let started = servers.iter().filter(|it| is_started(it));
        let ports = started.map(|it| Ok((it.name.clone(), Port::free()?)));
        let ports = ports.collect::<Result<Vec<_>, SetupError>>()?;
        let numbers = ports
            .iter()
            .map(|(name, port)| (name.clone(), port.number()));
        let addresses = Addresses {
            ports: numbers.collect(),
            ..Addresses::default()
        };
        let printed = PrintedHeaders::default();
        let targets = self.targets_of(scenario, &servers, (&addresses, &printed), secrets)?;
        let started = StartedServers::start(self.programs(&servers, &addresses, ports)?)?;
        Ok(Upstreams { targets, started })
    }

    /// Chooses where the servers behind those of a scenario are reached.
    async fn place(&self, scenario: &Scenario) -> Result<Arc<Place>, SetupError> {
        let mut gateway = GatewayPlace::new(None)?;
        let mut listen = Ipv4Addr::LOCALHOST.into();
        if !scenario.containers.is_empty() {
            let Some(containers) = &self.containers else {
                return Err(SetupError::new(
                    "`upstreams` need servers that are started for the run, but `--no-docker` uses servers that already run and do not know them",
                ));
            };
            let host_address = containers.host_access().await?;
            listen = host_address.listen;
            gateway.from = GatewayFrom::Containers {
                host: host_address.host,
                listen,
            };
        }
        let listener = TcpListener::bind((listen, 0)).map_err(|it| no_port(&it))?;
        listener.set_nonblocking(true).map_err(|it| no_port(&it))?;
        let port = listener.local_addr().map_err(|it| no_port(&it))?;
        gateway.port = Some(port.port());
        let names = scenario.upstreams.iter().map(|it| it.name.clone());
        let urls = names.map(|name| {
            let url = gateway.url(port.port(), &name);
            (name, url)
        });
        let urls = urls.collect();
        Ok(Arc::new(Place {
            config: filled(scenario, &urls)?,
            gateway,
            listener,
            urls,
        }))
    }

    /// Our own program, serving a mock server of the scenario over HTTP: a server for all sessions.
    fn mock_over_http(&self, scenario: &Scenario, name: &str) -> Transport {
        let program = self.program.as_ref().map_or_else(
            || "mcp-eval".to_owned(),
            |it| it.to_string_lossy().into_owned(),
        );
        let path = |it: &Path| it.to_string_lossy().into_owned();
        let mut args = vec![
            "mock".to_owned(),
            "--transport".to_owned(),
            "http".to_owned(),
            "--port".to_owned(),
            format!("${{{}}}", scenario_file::PORT),
            "--server".to_owned(),
            name.to_owned(),
            "--defaults-from".to_owned(),
            path(&scenario.defaults_root),
        ];
        if let Some(text) = &scenario.text_at {
            args.extend(["--text-from".to_owned(), path(text)]);
        }
        args.extend(["--".to_owned(), path(&scenario.path)]);
        Transport::Http {
            style: HttpStyle::Streamable,
            url: format!("http://127.0.0.1:${{{}}}/mcp", scenario_file::PORT),
            headers: Vec::new(),
            bearer_token_env: None,
            start: Some(Start {
                command: program,
                args,
                env: Vec::new(),
                cwd: None,
            }),
            headers_command: Vec::new(),
        }
    }

    /// The servers of a scenario as far as they are known before any of them stands.
    fn targets_anywhere(&self, scenario: &Scenario) -> Vec<Target> {
        let addresses = Addresses::anywhere(scenario, &self.servers(scenario));
        let (printed, mut known) = (PrintedHeaders::default(), Secrets::default());
        let targets = self.targets(scenario, &addresses, &printed, &mut known);
        targets.unwrap_or_default()
    }
}

fn no_port(error: &io::Error) -> SetupError {
    SetupError::new(format!(
        "`upstreams` have no port to be reached at: {error}"
    ))
}

/// Where the servers behind those of a run are reached, and the configuration file that says so.
pub(crate) fn addresses(scenario: &Scenario, behind: Option<&Behind>) -> Addresses {
    let fallback = Addresses::without_listeners(scenario);
    let Some(Behind { place, .. }) = behind else {
        return fallback;
    };
    let filled = place.config.as_ref().map(|it| it.path.clone());
    Addresses {
        upstreams: place.urls.clone(),
        config_file: filled.or(fallback.config_file),
        ..Addresses::default()
    }
}

/// Addresses that a server may repeat, and that are others in each run.
fn declare(place: &Place, secrets: &mut Secrets) {
    for (name, url) in &place.urls {
        secrets.declare(&scenario_file::upstream_url_name(name), "", url);
    }
    secrets.declare("upstream.path", "", &place.gateway.secret);
    if let Some(port) = place.gateway.port {
        let authority = format!("{}:{port}", place.gateway.host());
        secrets.declare("upstream.address", "", &authority);
    }
}

/// A folder for a filled file that no other process sweeps away as long as the second value lives: its lock ends with whoever holds it, in
/// whichever container that is.
fn held_folder(within: &Path) -> io::Result<(TempDir, Option<File>)> {
    loop {
        let folder = tempfile::Builder::new()
            .prefix(FILLED)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(within)?;
        // Where folders cannot be locked, nobody can sweep them away either.
        let held = File::open(folder.path())
            .ok()
            .filter(|it| it.lock().is_ok());
        // Somebody who sweeps may have come first.
        if folder.path().is_dir() {
            return Ok((folder, held));
        }
    }
}

/// Removes what runs that were killed have left of such folders: nobody holds these any more. Those of other users stay.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = (entry.file_name().to_str()).is_some_and(|it| it.starts_with(FILLED))
            && entry.file_type().is_ok_and(|it| it.is_dir());
        if !is_ours {
            continue;
        }
        let Ok(left) = File::open(entry.path()) else {
            continue;
        };
        if left.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The scenario's configuration file with the addresses of the servers behind filled in; `None` where it has none, or names none of them.
fn filled(
    scenario: &Scenario,
    urls: &BTreeMap<String, String>,
) -> Result<Option<Filled>, SetupError> {
    let Some(path) = &scenario.config_file else {
        return Ok(None);
    };
    let failed = |why: String| SetupError::new(format!("{}: {why}", path.display()));
    let text = input::read_to_string(path).map_err(|it| failed(it.to_string()))?;
    let lookup = |asked: &str| {
        let mut urls = urls.iter();
        let url = urls.find(|(name, _)| scenario_file::upstream_url_name(name) == asked);
        url.map(|(_, url)| url.clone())
    };
    let new = scenario_file::fill_in_config(&text, lookup);
    if new == text {
        return Ok(None);
    }
    let io = |it: io::Error| failed(it.to_string());
    let temporary = std::env::temp_dir();
    sweep(&temporary);
    let (folder, held) = held_folder(&temporary).map_err(io)?;
    let name = path.file_name().unwrap_or("config".as_ref());
    let copy = folder.path().join(name);
    fs::write(&copy, new.as_bytes()).map_err(io)?;
    // Whoever may read the original may read the copy: in a container that may be somebody else.
    let permissions = fs::metadata(path).map_err(io)?.permissions();
    fs::set_permissions(&copy, permissions).map_err(io)?;
    Ok(Some(Filled {
        path: copy,
        _folder: folder,
        _held: held,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILLED, held_folder, sweep};

    #[test]
    fn only_folders_that_nobody_holds_are_swept_away() {
        let place = tempfile::tempdir().unwrap();
        let (used, held) = held_folder(place.path()).unwrap();
        let left = place.path().join(format!("{FILLED}left"));
        let other = place.path().join("other");
        for it in [used.path(), &left, &other] {
            fs::create_dir_all(it).unwrap();
            fs::write(it.join("proxy.json"), "{}").unwrap();
        }
        let there = || [used.path(), &left, &other].map(|it| it.join("proxy.json").exists());
        sweep(place.path());
        assert_eq!(there(), [true, false, true]);
        drop(held);
        sweep(place.path());
        assert_eq!(there(), [false, false, true], "who held it is gone");
    }
}
