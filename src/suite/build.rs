//! Builds of the source of a system under test before a run, and what they are made of.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::docker::Session;
use crate::git;
use crate::model::{DIRTY, Git, Servers};
use crate::redact::{Redactor, Secrets};
use crate::run::{Observer, SetupError};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Build, Image, Prepare};
use crate::suite::prepare::{Held, State, Wanted, building, log_of_image};
use crate::suite::secrets::pairs;
use crate::suite::source::folder_that_is_there;
use crate::suite::{SuiteContext, recorded};

impl SuiteContext {
    /// Does what must be done before the servers of a scenario, and its image, can be; the secrets that this is given are added to
    /// `secrets`. Without containers, no image is thought of.
    pub(crate) async fn prepare_source(
        &self,
        scenario: &Scenario,
        secrets: &mut Secrets,
        observer: &dyn Observer,
    ) -> Result<(), SetupError> {
        if recorded::servers(scenario) == Servers::Recorded {
            return Ok(());
        }
        // Who names a folder means it, whatever is made of it.
        let source = match (&scenario.source.repo, &scenario.source.prepare) {
            (None, None) => return Ok(()),
            _ => folder_that_is_there(scenario)?,
        };
        let Some(prepare) = &scenario.source.prepare else {
            return Ok(());
        };
        let lookup = |name: &str| std::env::var(name).ok();
        let (prepare, variables) = scenario_file::expand(prepare, lookup)
            .map_err(|missing| SetupError::new(format!("`source.prepare`: {missing}")))?;
        secrets.environment("source", &variables);
        let inputs = files_of(&prepare.inputs)?;
        let state = |made: &[PathBuf]| {
            Ok(match (&prepare.inputs[..], source.as_deref()) {
                ([], None) => None,
                ([], Some(source)) => self.state(git::state_around, source, made),
                _ => Some(of_files(&files_of(&prepare.inputs)?)),
            })
        };
        let folder = source.as_deref().unwrap_or(Path::new("."));
        let wanted = (&prepare, folder, &inputs[..]);
        let held = self.do_before(wanted, scenario, secrets, &state, observer);
        held.await.map(drop)
    }

    /// The same for the image of a scenario's container, in which every `${…}` is filled in: builds it, and returns it with what it is made
    /// of.
    pub(crate) async fn prepare_image(
        &self,
        session: &Session,
        image: &Image,
        scenario: &Scenario,
        secrets: &mut Secrets,
        observer: &dyn Observer,
    ) -> Result<Image, SetupError> {
        let Image::Built(build) = image else {
            return Ok(image.clone());
        };
        let source = folder_that_is_there(scenario)?;
        let build = Build {
            labels: source
                .as_ref()
                .map_or_else(Vec::new, |it| labels(&self.git(it))),
            ..build.clone()
        };
        let mut made = build.clone();
        let mut held = None;
        // Only who says what a build depends on can have it left out.
        if let Some(prepare) = &build.prepare {
            let inputs = files_of(&prepare.inputs)?;
            let state = |made: &[PathBuf]| {
                if !prepare.inputs.is_empty() {
                    return Ok(Some(of_files(&files_of(&prepare.inputs)?)));
                }
                let of_source = source
                    .as_deref()
                    .and_then(|it| self.state(git::state_around, it, made));
                let of_context = self.state(git::state, &build.context, made);
                let of_context = of_context.map_or_else(
                    || files_of(std::slice::from_ref(&build.context)).map(|it| of_files(&it)),
                    Ok,
                )?;
                Ok(of_source.map(|it| git::State {
                    tracked: it.tracked + &of_context.tracked,
                    untracked: it.untracked + &of_context.untracked,
                }))
            };
            made.state = state(&[])?.map(|it| {
                let parts = (&it, prepare, &build.dockerfile, &build.args, &build.labels);
                let all = format!("{parts:?}");
                // The same version may lie in another folder next time.
                let folder = source.as_ref().map(|it| it.to_string_lossy());
                let all = folder.map_or(all.clone(), |it| all.replace(&*it, "${source.dir}"));
                hex::encode(Sha256::digest(all.as_bytes()))
            });
            if session.has_built(&made).await? {
                return Ok(Image::Built(made));
            }
            let wanted = (prepare, build.context.as_path(), &inputs[..]);
            let preparing = self.do_before(wanted, scenario, secrets, &state, observer);
            // What was made for it stays as it is until it is built.
            held = preparing.await?;
        }
        let redactor = Redactor::new(secrets, &scenario.redaction);
        let version = scenario.source.version.as_ref();
        let what = format!("the image of {}", made.context.display());
        let said = Mutex::default();
        let work = async {
            let _one_at_a_time = self.prepared.building.lock().await;
            if session.has_built(&made).await? {
                return Ok(());
            }
            let log = log_of_image(&made, version);
            let place = (&*what, version, &*log);
            let work = session.build(&made, &said);
            let output = || said.lock().clone();
            Box::pin(building(place, (observer, &redactor), output, work)).await
        };
        // The run notices for itself that it is interrupted.
        let done = Box::pin(self.interrupt.run_until_cancelled(work));
        done.await.transpose()?;
        drop(held);
        Ok(Image::Built(made))
    }

    /// Does what is wanted, in which every `${…}` is filled in; `None` when the program is asked to stop meanwhile.
    async fn do_before(
        &self,
        (prepare, folder, inputs): (&Prepare, &Path, &[PathBuf]),
        scenario: &Scenario,
        secrets: &mut Secrets,
        state: State<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<Held>, SetupError> {
        if prepare.commands.is_empty() {
            return Ok(None);
        }
        secrets.named("env", "source", pairs(&prepare.env));
        // The commands are given all of the environment.
        secrets.extend(&Secrets::of_environment());
        let redactor = Redactor::new(secrets, &scenario.redaction);
        let wanted = Wanted {
            prepare,
            folder,
            state,
            inputs,
            version: scenario.source.version.as_ref(),
            supervisor: self.program.as_deref(),
            redactor: &redactor,
        };
        let done = self.prepared.prepare(&wanted, observer);
        // The run notices for itself that it is interrupted.
        self.interrupt.run_until_cancelled(done).await.transpose()
    }

    /// What a folder, or the repository around it, holds besides what commands made; `None` where it is in no repository.
    fn state(
        &self,
        of: fn(&Path, &[&Path]) -> Result<git::State, String>,
        folder: &Path,
        made: &[PathBuf],
    ) -> Option<git::State> {
        let ours: Vec<&Path> = self.ours.iter().chain(made).map(PathBuf::as_path).collect();
        of(folder, &ours).ok()
    }
}

/// What the labels of an image say of the source it is made from.
fn labels(source: &Git) -> Vec<(String, String)> {
    let Git::Known(commit) = source else {
        return Vec::new();
    };
    let dirty = if commit.dirty == Some(true) {
        DIRTY
    } else {
        ""
    };
    let revision = Some(("revision", &commit.commit));
    let version = commit.describe.as_ref().map(|it| ("version", it));
    let labels = revision.into_iter().chain(version);
    labels
        .map(|(name, value)| {
            let name = format!("org.opencontainers.image.{name}");
            (name, format!("{value}{dirty}"))
        })
        .collect()
}

/// The files that are named by files, folders and patterns of them.
///
/// # Errors
///
/// When one of these names none: what cannot change would never be prepared again.
fn files_of(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, SetupError> {
    let mut all = Vec::new();
    for input in inputs {
        let before = all.len();
        let found: Vec<PathBuf> = if input.exists() {
            vec![input.clone()]
        } else {
            let found = glob::glob(&input.to_string_lossy()).into_iter();
            found.flatten().flatten().collect()
        };
        for path in found {
            let files = WalkDir::new(&path).sort_by_file_name().into_iter();
            let files = files.filter_entry(|it| it.file_name() != ".git").flatten();
            let files = files.filter(|it| it.file_type().is_file());
            all.extend(files.map(walkdir::DirEntry::into_path));
        }
        if all.len() == before {
            return Err(SetupError::new(format!(
                "`inputs`: {} matches no file",
                input.display()
            )));
        }
    }
    Ok(all)
}

/// What files hold, as a hash.
fn of_files(files: &[PathBuf]) -> git::State {
    let mut hash = Sha256::new();
    for path in files {
        hash.update(path.to_string_lossy().as_bytes());
        hash.update([0]);
        let content = std::fs::read(path).unwrap_or_default();
        hash.update(Sha256::digest(content));
    }
    git::State {
        tracked: hex::encode(hash.finalize()),
        untracked: String::new(),
    }
}
