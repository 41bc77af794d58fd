//! The `docker` section: the container a server under test runs in.

use std::path::PathBuf;

use schemars::JsonSchema;

use super::container::{Keep, Mount, MountSource, Reset};
use super::ready::{Ready, ReadySection};
use super::source::{PREPARE_TIMEOUT, Prepare, check_folder, check_prepare, commands};
use crate::scenario_file::decode::{
    At, Count, Decode, Given, NO_HINT, Named, Place, Plain, Port, Positive, SOURCE_DIR, Size,
    Template, Templates, Timeout, Word, choice, mentions, section, shapes, wrong_kind,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

choice! {
    /// When the container is replaced by a fresh one: `scenario` (before every run), `suite` (once for all scenarios with the same container) or `never` (it is left running).
    ResetWord for Reset {
        "scenario" => Reset::Scenario,
        "suite" => Reset::Suite,
        "never" => Reset::Never,
    }
}

choice! {
    /// Whether the container of a scenario that has not passed is kept for a look at it: `never` or `on-failure`.
    KeepWord for Keep {
        "never" => Keep::Never,
        "on-failure" => Keep::OnFailure,
    }
}

section! {
    /// The container a server under test runs in, reset before each run. `${NAME}` is an environment variable.
    ContainerSection => Container, checked by check {
        /// The name of an image the engine has. Beside a `build` that needs `${source.dir}`: the image that is used where there is no source.
        image: Option<Template<Word>>,
        /// The folder an image is built from, or more about how.
        build: Option<At<BuildSection>>,
        /// Whether the scenario is skipped, and no error, where the image is not there; a text that says how to get it means yes.
        optional: Option<At<OptionalSection>> as Option<String> = None,
        /// The port the server listens on in the container; published on this machine as `${docker.port}`, and `${docker.url}` leads to it. Of several containers, `${containers.NAME.port}` and `${containers.NAME.url}`; one of them may have none.
        port: Option<At<Port>> as Option<u16>,
        /// The port of this machine it is published on; a free one unless given.
        host_port: Option<Port> as Option<u16>,
        /// Environment variables of the container.
        env: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// What is run in the container, after the image's entry point; the image's own command unless given.
        command: Option<Vec<Template>> as Option<Vec<String>>,
        /// What is mounted: `SOURCE:TARGET` or `SOURCE:TARGET:ro`, where a source with `/` is a path and one without a volume; or a map.
        mounts: Option<Vec<At<MountEntry>>> as Vec<Mount> = Vec::new(),
        /// Where the scenario's `config_file` is mounted, read-only. The file then gives no servers.
        config_target: Option<Template<Word>> as Option<String>,
        /// The network the container joins; one that is not there is made, and removed in the end.
        network: Option<Template<Word>> as Option<String>,
        /// How much memory it may use, such as `512m`.
        memory: Option<Size> as Option<u64>,
        /// How many processors it may use, such as `1.5`.
        cpus: Option<Positive> as Option<f64>,
        /// How many processes it may have.
        pids: Option<Count> as Option<u32>,
        /// The user it runs as, such as `1000:1000`.
        user: Option<Template<Word>> as Option<String>,
        /// Whether its own file system is read-only.
        read_only: Option<bool> as bool = false,
        /// Whether the engine's socket is mounted as `/var/run/docker.sock`, for servers that start containers themselves.
        docker_socket: Option<At<bool>> as bool = false,
        /// What proves that the server can be asked, besides the image's health check and an MCP `initialize`.
        ready: Option<ReadySection>,
        /// When the container is replaced by a fresh one; `scenario` unless given.
        reset: Option<ResetWord> as Reset = Reset::Scenario,
        /// Whether the container of a scenario that has not passed is kept for a look at it; `never` unless given.
        keep: Option<At<KeepWord>> as Keep = Keep::Never,
    } and {
        /// What the others call it; `None` for the only one, of `docker`.
        name: Option<String> = None,
        /// Where its image comes from.
        image: Image,
        /// What proves that the server can be asked, with `${…}` that is filled in when it is.
        ready: Ready = Ready::default(),
    }
}

section! {
    /// How an image is built.
    BuildFields => Build(Eq), with default, checked by check_build {
        /// The folder whose files the build may use, relative to this file.
        context: Template<Word> as PathBuf,
        /// The Dockerfile, relative to the context; `Dockerfile` unless given.
        dockerfile: Option<Template<Word>> as String = "Dockerfile".to_owned(),
        /// Values for the Dockerfile's `ARG`s.
        args: Option<Named<Template>> as Vec<(String, String)> = Vec::new(),
        /// Commands that make what the build needs, each a program with its arguments; run in order, and again when `inputs` have changed.
        prepare: Option<Vec<At<Vec<Template>>>>,
        /// The folder these commands run in, relative to this file; the context unless given.
        cwd: Option<Template<Word>>,
        /// Environment variables for these commands, besides all of ours.
        env: Option<Named<Given>>,
        /// How long each of these commands may take; 10m unless given.
        timeout: Option<Timeout>,
        /// Files, folders and patterns of what the commands and the build depend on, relative to this file; the state of the repository of `source`, and the files of the context that git does not ignore, unless given.
        inputs: Option<Vec<Template<Word>>>,
    } and {
        /// Labels of the image that say what source it was made from, where the Dockerfile does not say so itself.
        labels: Vec<(String, String)> = Vec::new(),
        /// What is done before.
        prepare: Option<Prepare>,
        /// What the image is made of, as a hash: one that was built of the same is used again. `None` where that is not known, and the engine
        /// finds out while it builds.
        state: Option<String> = None,
    }
}

shapes! {
    /// Whether a scenario can do without its image, or how to get it.
    OptionalSection, "true, false or how to get the image" {
        Bool => Whether(bool),
        Text => How(Word),
    }
}

impl OptionalSection {
    fn how(&self) -> Option<String> {
        match self {
            Self::Whether(false) => None,
            Self::Whether(true) => Some("get it with `docker pull`, or build it".to_owned()),
            Self::How(how) => Some(how.0.clone()),
        }
    }
}

shapes! {
    /// The folder an image is built from, or more about how.
    BuildSection, "a folder or a map" {
        Text => Context(Template<Word>),
        Map => Fields(Box<BuildFields>),
    }
}

impl Plain<Option<String>> for OptionalSection {
    fn plain(&self, _: &Findings) -> Option<String> {
        self.how()
    }
}

impl ContainerSection {
    /// The container; `None` where a check has found it incomplete.
    pub(in crate::scenario_file) fn container(
        &self,
        name: Option<&str>,
        findings: &Findings,
    ) -> Option<Container> {
        let has_image = self.image.is_some() || self.build.is_some();
        has_image.then(|| Container {
            name: name.map(str::to_owned),
            ready: self.ready.plain(findings).unwrap_or_default(),
            ..self.plain(findings)
        })
    }
}

impl Plain<Image> for ContainerSection {
    fn plain(&self, findings: &Findings) -> Image {
        let name = self.image.plain(findings);
        match self.build.plain(findings) {
            None => Image::Named(name.unwrap_or_default()),
            Some(build) => match name {
                Some(name) => Image::BuiltOrNamed(build, name),
                None => Image::Built(build),
            },
        }
    }

    fn places(value: &mut Image, visit: &mut dyn FnMut(Place<'_>)) {
        value.templates(visit);
    }
}

impl Plain<Build> for BuildSection {
    fn plain(&self, findings: &Findings) -> Build {
        match self {
            Self::Context(context) => Build {
                context: context.plain(findings),
                ..Build::default()
            },
            Self::Fields(fields) => fields.plain(findings),
        }
    }
}

impl Plain<Option<Prepare>> for BuildFields {
    fn plain(&self, findings: &Findings) -> Option<Prepare> {
        let prepare = Prepare {
            commands: commands(self.prepare.as_deref(), findings),
            cwd: self.cwd.plain(findings),
            env: self.env.plain(findings).unwrap_or_default(),
            timeout: self.timeout.plain(findings).unwrap_or(PREPARE_TIMEOUT),
            inputs: self.inputs.plain(findings).unwrap_or_default(),
        };
        prepare.unless_idle(self.prepare.is_some())
    }

    fn places(value: &mut Option<Prepare>, visit: &mut dyn FnMut(Place<'_>)) {
        value.templates(visit);
    }
}

/// Where the container's image comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// One the engine has.
    Named(String),
    /// One that is built before the first run.
    Built(Build),
    /// One that is built where the source of the system under test is at hand, and else one the engine has.
    BuiltOrNamed(Build, String),
}

impl Image {
    /// The image in words: its name, or the folder it is built from.
    pub fn words(&self) -> String {
        match self {
            Self::Named(name) => format!("`{name}`"),
            Self::Built(build) | Self::BuiltOrNamed(build, _) => {
                format!("built from {}", build.context.display())
            }
        }
    }

    /// The image that is used: built where there is a source to build it from.
    #[must_use]
    pub fn chosen(self, has_source: bool) -> Self {
        match self {
            Self::BuiltOrNamed(build, _) if has_source => Self::Built(build),
            Self::BuiltOrNamed(_, name) => Self::Named(name),
            chosen => chosen,
        }
    }
}

impl Templates for Image {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        if let Self::Built(build) | Self::BuiltOrNamed(build, _) = self {
            build.templates(visit);
        }
        if let Self::Named(name) | Self::BuiltOrNamed(_, name) = self {
            visit(Place::Text(name));
        }
    }
}

impl At<ContainerSection> {
    /// Says what is wrong with the only container, or with one of several that has a name.
    pub(in crate::scenario_file) fn check_among(
        &self,
        name: Option<&str>,
        findings: &mut Findings,
    ) {
        let Some(name) = name else {
            if self.port.is_none() {
                let hint = "give `port`: where the server listens in the container";
                findings.error(self.at, "does not say which port to publish", Some(hint));
            }
            return;
        };
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
        if name.is_empty() || !name.chars().all(is_plain) {
            let message = "is not a name that the others could reach it by";
            let hint = "use letters, digits, `-` and `_`";
            findings.error(self.at, message, Some(hint));
        }
        let beside_others = [
            (
                self.network.is_some(),
                "network",
                "they share a network of their own",
            ),
            (
                self.reset.is_some(),
                "reset",
                "all are replaced before every run",
            ),
        ];
        for (is_given, key, why) in beside_others {
            if is_given {
                let message = format!("`{key}` means nothing under `containers`: {why}");
                findings.error(self.at, message, NO_HINT);
            }
        }
        let needs_port = [
            (self.ready.is_some(), "ready"),
            (self.host_port.is_some(), "host_port"),
        ];
        for (is_given, key) in needs_port {
            if is_given && self.port.is_none() {
                let message = format!("`{key}` means nothing without `port`");
                findings.error(self.at, message, NO_HINT);
            }
        }
    }
}

/// Whether an image can be built only where the source of the system under test is at hand.
fn needs_source(build: &BuildSection) -> bool {
    let mut needs = false;
    build.templates(&mut |_, text| needs |= mentions(text, SOURCE_DIR));
    needs
}

fn check_build(build: &BuildFields, at: Mark, findings: &mut Findings) {
    check_folder(&build.context, findings);
    let is_given = [
        ("cwd", build.cwd.is_some()),
        ("env", build.env.is_some()),
        ("timeout", build.timeout.is_some()),
    ];
    check_prepare(build.prepare.as_deref(), &is_given, at, findings);
}

fn check(section: &ContainerSection, at: Mark, findings: &mut Findings) {
    match (&section.image, &section.build) {
        (None, None) => {
            let hint = "give `image` with its name, or `build` with the folder to build it from";
            findings.error(at, "does not say which image to use", Some(hint));
        }
        (Some(_), Some(build)) if !needs_source(&build.value) => {
            let hint = "`image: null` or `build: null` drops what a file of defaults says; a `build` that contains `${source.dir}` can have an `image` beside it, for those without the source";
            findings.error(
                build.at,
                "`image` and `build` exclude each other",
                Some(hint),
            );
        }
        _ => {}
    }
    if let Some(BuildSection::Context(context)) = section.build.as_ref().map(|it| &it.value) {
        check_folder(context, findings);
    }
    if let (Some(optional), Some(build)) = (&section.optional, &section.build)
        && optional.how().is_some()
        && section.image.is_none()
    {
        let hint = "an image that is built here can always be there";
        findings.error(
            build.at,
            "`optional` means nothing beside `build`",
            Some(hint),
        );
    }
    if let (Some(ResetWord(Reset::Never)), Some(keep)) = (section.reset, &section.keep)
        && keep.value.0 == Keep::OnFailure
    {
        let message =
            "`keep` means nothing beside `reset: never`, which always keeps the container";
        findings.error(keep.at, message, NO_HINT);
    }
    if let Some(socket) = section.docker_socket.as_ref().filter(|it| it.value) {
        let message =
            "`docker_socket` gives the container the engine, and with it this whole machine";
        let hint = "leave it out unless the server starts containers itself and you trust it";
        findings.warning(socket.at, message, Some(hint));
    }
    if let Some(target) = &section.config_target {
        check_absolute(target, findings);
    }
}

section! {
    /// Something mounted into the container. One of `source`, `volume` and `tmpfs` says what.
    MountFields, checked by check_mount {
        /// A file or folder of this machine, relative to this file.
        source: Option<Template<Word>>,
        /// A volume; one that is not there is made, and removed in the end.
        volume: Option<Template<Word>>,
        /// `true` for a file system in memory.
        tmpfs: Option<At<bool>>,
        /// An absolute path in the container.
        target: Template<Word>,
        /// Whether the container may not write to it.
        read_only: Option<bool>,
    }
}

/// A mount in one text, or in parts.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub(in crate::scenario_file) enum MountEntry {
    Text(Template<Word>),
    Fields(MountFields),
}

impl Decode for MountEntry {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = match &node.content {
            Content::Text(_) => Template::<Word>::decode(node, findings)?,
            Content::Map(_) => return Decode::decode(node, findings).map(Self::Fields),
            _ => return wrong_kind(node, "`SOURCE:TARGET` or a map", findings),
        };
        if parts(&text.0).is_none() {
            let hint = "write SOURCE:TARGET or SOURCE:TARGET:ro, with an absolute path as TARGET";
            return findings.refuse(node.at, "is not a mount", Some(hint));
        }
        Some(Self::Text(text))
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        match self {
            Self::Text(text) => text.templates(visit),
            Self::Fields(fields) => fields.templates(visit),
        }
    }
}

/// Source, target and whether it is read-only. A source may hold `${NAME:-default}`, so the colons are looked for from the end.
fn parts(text: &str) -> Option<(&str, &str, bool)> {
    let (text, read_only) = match text.strip_suffix(":ro") {
        Some(text) => (text, true),
        None => (text.strip_suffix(":rw").unwrap_or(text), false),
    };
    let (source, target) = text.rsplit_once(":/")?;
    let target = &text[text.len() - target.len() - 1..];
    (!source.is_empty() && !target.contains(':')).then_some((source, target, read_only))
}

/// Whether a source is a path of this machine, and no volume.
fn is_path(source: &str) -> bool {
    source.contains(['/', '$']) || source.starts_with('.')
}

/// The path at the start of `SOURCE:TARGET`, where it is one.
pub(in crate::scenario_file) fn source_of(text: &str) -> Option<&str> {
    parts(text).map(|it| it.0).filter(|it| is_path(it))
}

impl Plain<Mount> for MountEntry {
    fn plain(&self, findings: &Findings) -> Mount {
        let path = |at: Mark, path: &str| MountSource::Path(findings.folder(at).join(path));
        match self {
            Self::Text(text) => {
                // It had these parts when it was read.
                let (source, target, read_only) = parts(&text.0).unwrap_or((&text.0, "", false));
                Mount {
                    source: if is_path(source) {
                        path(text.at, source)
                    } else {
                        MountSource::Volume(source.to_owned())
                    },
                    target: target.to_owned(),
                    read_only,
                }
            }
            Self::Fields(fields) => Mount {
                source: match (&fields.source, &fields.volume) {
                    (Some(source), _) => path(source.at, &source.0),
                    (None, Some(volume)) => MountSource::Volume(volume.0.clone()),
                    (None, None) => MountSource::Memory,
                },
                target: fields.target.0.clone(),
                read_only: fields.read_only.unwrap_or(false),
            },
        }
    }

    fn places(value: &mut Mount, visit: &mut dyn FnMut(Place<'_>)) {
        match &mut value.source {
            MountSource::Path(path) => visit(Place::Path(path)),
            MountSource::Volume(name) => visit(Place::Text(name)),
            MountSource::Memory => {}
        }
        visit(Place::Text(&mut value.target));
    }
}

fn check_mount(mount: &MountFields, at: Mark, findings: &mut Findings) {
    let memory = mount.tmpfs.as_ref().is_some_and(|it| it.value);
    let kinds = [mount.source.is_some(), mount.volume.is_some(), memory];
    if kinds.into_iter().filter(|it| *it).count() != 1 {
        let message = "a mount needs exactly one of `source`, `volume` and `tmpfs: true`";
        findings.error(at, message, NO_HINT);
    }
    check_absolute(&mount.target, findings);
}

/// A path in the container is absolute.
pub(in crate::scenario_file) fn check_absolute(target: &At<Word>, findings: &mut Findings) {
    if !target.0.starts_with('/') && !target.0.starts_with('$') {
        let hint = "a path in the container starts with `/`";
        findings.error(target.at, "is not an absolute path", Some(hint));
    }
}
