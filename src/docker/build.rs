//! Images built from a folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bollard::body_full;
use bollard::query_parameters::{BuildImageOptions, TagImageOptions};
use futures_util::StreamExt;
use glob::{MatchOptions, Pattern};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::docker::engine::{Engine, EngineError};
use crate::docker::leftovers::BUILT;
use crate::docker::resources::Found;
use crate::docker::session::Session;
use crate::input;
use crate::run::SetupError;
use crate::scenario_file::servers::{Build, Image};
use crate::text;

/// How the names of all images begin that we build.
pub(super) const PREFIX: &str = "mcp-eval/";

impl Engine {
    /// Builds an image; the engine takes what has not changed from its cache. What the build writes is added to `said`.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or the build fails, with the last lines of its output.
    pub(super) async fn build(
        &self,
        build: &Build,
        said: &Mutex<String>,
    ) -> Result<Found, SetupError> {
        let name = name(build);
        // What was built of the same is the same.
        if build.state.is_some() && self.has_image(&name).await.unwrap_or(false) {
            self.mark_used(&name).await;
            return self.image(&name).await;
        }
        let owned = build.clone();
        let packed = tokio::task::spawn_blocking(move || pack(&owned)).await;
        let packed = packed
            .map_err(|error| error.to_string())
            .and_then(|it| it)
            .map_err(|why| SetupError::new(format!("the image cannot be built: {why}")))?;
        let options = BuildImageOptions {
            dockerfile: build.dockerfile.clone(),
            t: Some(name.clone()),
            rm: true,
            forcerm: true,
            buildargs: Some(build.args.iter().cloned().collect()),
            labels: Some(labels(build)),
            ..BuildImageOptions::default()
        };
        let mut output = std::pin::pin!(self.api.build_image(
            options,
            None,
            Some(body_full(packed.into()))
        ));
        while let Some(news) = output.next().await {
            let news =
                news.map_err(|error| failed(build, &EngineError::from(&error), &said.lock()))?;
            for line in news.stream.iter().flat_map(|it| it.lines()) {
                if !line.trim().is_empty() {
                    said.lock().extend([line, "\n"]);
                }
            }
        }
        let mut found = self.image(&name).await?;
        found.stamp.name = name;
        Ok(found)
    }

    /// Gives an image the name that it has, so that the engine knows it as the one that was used last of its kind.
    async fn mark_used(&self, name: &str) {
        let Some((repo, tag)) = name.rsplit_once(':') else {
            return;
        };
        let options = TagImageOptions {
            repo: Some(repo.to_owned()),
            tag: Some(tag.to_owned()),
        };
        // Without it, no more is lost than that it may be built again one day.
        let _ = self.ask(self.api.tag_image(name, Some(options))).await;
    }
}

impl Session {
    /// Whether there is an image that was built of the same, by this run of the program or, where that is known, before.
    ///
    /// # Errors
    ///
    /// When there is no engine, or building it has failed for a scenario, be it another one than this.
    pub async fn has_built(&self, build: &Build) -> Result<bool, SetupError> {
        let cell = self.built.lock().get(&format!("{build:?}")).cloned();
        if let Some(image) = cell.as_ref().and_then(|it| it.get()) {
            return image.as_ref().map(|_| true).map_err(Clone::clone);
        }
        let engine = self.engine().await?;
        Ok(build.state.is_some() && engine.has_image(&name(build)).await.unwrap_or(false))
    }

    /// Builds an image for a scenario, unless the engine has one that was built of the same. What the build writes is added to
    /// `said`.
    ///
    /// # Errors
    ///
    /// When there is no engine, or the build fails, with the last lines of its output.
    pub async fn build(&self, build: &Build, said: &Mutex<String>) -> Result<(), SetupError> {
        let image = Image::Built(build.clone());
        self.image(&image, said).await.map(drop)
    }
}

/// The labels an image is built with: ours, and those of its source that its Dockerfile does not set itself.
fn labels(build: &Build) -> HashMap<String, String> {
    let dockerfile = build.context.join(&build.dockerfile);
    // One that cannot be read fails the build, too.
    let dockerfile = input::read_to_string(&dockerfile).unwrap_or_default();
    let of_source = build.labels.iter().cloned();
    let of_source = of_source.filter(|(name, _)| !dockerfile.contains(name.as_str()));
    std::iter::once((BUILT.to_owned(), "true".to_owned()))
        .chain(of_source)
        .collect()
}

fn failed(build: &Build, error: &EngineError, output: &str) -> SetupError {
    let text = error.to_string();
    let hint = match &text {
        it if it.contains("BuildKit") => {
            ": what needs BuildKit must be built by hand, with `docker build -t NAME`, and named by `image:`"
        }
        it if it.contains("dockerfile") || it.contains("Dockerfile") => {
            ": `build: { context, dockerfile }` names another"
        }
        _ => "",
    };
    SetupError {
        message: format!("building {} failed: {text}{hint}", build.context.display()),
        details: text::last_words(output),
        trouble: None,
    }
}

/// The name of a built image: readable, the same for the same folder and arguments, or for what it is made of where that is known, and
/// different for others.
fn name(build: &Build) -> String {
    let context = std::path::absolute(&build.context).unwrap_or_else(|_| build.context.clone());
    let folder = plain(&context);
    let identity = format!(
        "{} {} {:?}",
        context.display(),
        build.dockerfile,
        build.args
    );
    let identity = build.state.as_ref().unwrap_or(&identity);
    let hash = hex::encode(Sha256::digest(identity.as_bytes()));
    format!("{PREFIX}{folder}:{}", &hash[..12])
}

/// The last part of a path in the letters that names of images may have.
fn plain(path: &Path) -> String {
    let name = path.components().rev().find_map(|it| match it {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
        _ => None,
    });
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    if name.is_empty() {
        "image".to_owned()
    } else {
        name
    }
}

/// The most that is sent, in bytes. A larger folder is refused, because it most likely lacks a `.dockerignore`.
const MOST: u64 = 2 * 1024 * 1024 * 1024;

/// As a shell matches: `*` stays within a folder.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The folder as a tar archive.
///
/// # Errors
///
/// A sentence: there is no such folder or Dockerfile, or a file cannot be read.
pub(super) fn pack(build: &Build) -> Result<Vec<u8>, String> {
    let root = &build.context;
    if !root.is_dir() {
        return Err(format!("there is no folder {}", root.display()));
    }
    if !root.join(&build.dockerfile).is_file() {
        return Err(format!(
            "there is no file {}: `build: {{ context, dockerfile }}` names another",
            root.join(&build.dockerfile).display()
        ));
    }
    let ignored = Ignored::read(root)?;
    let mut archive = tar::Builder::new(Vec::new());
    archive.follow_symlinks(false);
    let mut size = 0;
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        format!("{} cannot be read: {error}", path.display())
    };
    for entry in WalkDir::new(root).min_depth(1).sort_by_file_name() {
        let entry = entry.map_err(|error| error.to_string())?;
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap_or(path);
        // The engine needs these two whatever the patterns say.
        let needed = name == Path::new(&build.dockerfile) || name == Path::new(".dockerignore");
        if ignored.has(name) && !needed {
            continue;
        }
        let about = entry.metadata().map_err(|error| cannot(path, &error))?;
        let kind = about.file_type();
        if kind.is_file() {
            size += about.len();
        } else if !kind.is_dir() && !kind.is_symlink() {
            // Sockets and devices have no content to send.
            continue;
        }
        if size > MOST {
            return Err(format!(
                "{} holds more than 2 GiB: name what is not needed in its .dockerignore",
                root.display()
            ));
        }
        archive
            .append_path_with_name(path, name)
            .map_err(|error| cannot(path, &error))?;
    }
    archive.into_inner().map_err(|error| error.to_string())
}

/// The patterns of a `.dockerignore`, and for each whether it takes back what an earlier one named.
struct Ignored(Vec<(Pattern, bool)>);

impl Ignored {
    fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(".dockerignore");
        let text = match input::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
        let patterns = lines.map(|line| {
            let (line, back) = line
                .strip_prefix('!')
                .map_or((line, false), |it| (it, true));
            let plain: PathBuf = Path::new(line.trim_start_matches('/'))
                .components()
                .filter(|it| !matches!(it, std::path::Component::CurDir))
                .collect();
            let pattern = Pattern::new(&plain.to_string_lossy());
            pattern
                .map(|it| (it, back))
                .map_err(|error| format!("{}: `{line}` is not a pattern: {error}", path.display()))
        });
        Ok(Self(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether a path is left out: the last pattern that matches it, or a folder it lies in, decides.
    fn has(&self, path: &Path) -> bool {
        let named = |pattern: &Pattern| {
            path.ancestors()
                .filter(|it| !it.as_os_str().is_empty())
                .any(|it| pattern.matches_path_with(it, MATCHING))
        };
        let deciding = self.0.iter().rev().find(|(pattern, _)| named(pattern));
        deciding.is_some_and(|(_, back)| !back)
    }
}
