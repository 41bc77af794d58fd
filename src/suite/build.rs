//! What is made of the source of a system under test before a run, and what it is made of.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::git;
use crate::model::container::{Build, Image};
use crate::model::scenario::Scenario;
use crate::model::source::Prepare;
use crate::model::stamp::Servers;
use crate::redact::{Redactor, Secrets};
use crate::run::SetupError;
use crate::scenario_file;
use crate::suite::prepare::Wanted;
use crate::suite::recorded;
use crate::suite::secrets::pairs;
use crate::suite::source::folder;
use crate::suite::suite_context::SuiteContext;

impl SuiteContext {
    /// Does what must be done before the servers of a scenario, and its image, can be; the secrets that this is given are added to
    /// `secrets`. Without containers, no image is thought of.
    pub(crate) async fn prepare_source(
        &self,
        scenario: &Scenario,
        secrets: &mut Secrets,
        tell: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<(), SetupError> {
        if recorded::servers(scenario) == Servers::Recorded {
            return Ok(());
        }
        let source = folder(scenario);
        if let Some(prepare) = &scenario.source.prepare {
            let state = |prepare: &Prepare| match &prepare.inputs[..] {
                [] => self.state(source.as_deref()?),
                inputs => Some(of_files(inputs)),
            };
            let folder = source.as_deref().unwrap_or(Path::new("."));
            let lookup = |name: &str| std::env::var(name).ok();
            let (prepare, variables) = scenario_file::expand(prepare, lookup)
                .map_err(|missing| SetupError::new(format!("`source.prepare`: {missing}")))?;
            secrets.environment("source", &variables);
            self.do_before(&prepare, folder, scenario, secrets, &state, tell)
                .await?;
        }
        Ok(())
    }

    /// The same for the image of a scenario's container, in which every `${…}` is filled in: returns it with what it is made of.
    pub(crate) async fn prepare_image(
        &self,
        image: &Image,
        scenario: &Scenario,
        secrets: &mut Secrets,
        tell: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Image, SetupError> {
        let Image::Built(build) = image else {
            return Ok(image.clone());
        };
        let source = folder(scenario);
        let state = |inputs: &[PathBuf]| match inputs {
            [] => {
                let of_source = self.state(source.as_deref()?)?;
                let of_context = self.state(&build.context);
                let of_context =
                    of_context.unwrap_or_else(|| of_files(std::slice::from_ref(&build.context)));
                Some(of_source + &of_context)
            }
            inputs => Some(of_files(inputs)),
        };
        // Only who says what a build depends on can have it left out.
        let Some(prepare) = &build.prepare else {
            return Ok(image.clone());
        };
        let made_of = state(&prepare.inputs).map(|it| {
            let all = format!("{it} {prepare:?} {} {:?}", build.dockerfile, build.args);
            // The same version may lie in another folder next time.
            let folder = source.as_ref().map(|it| it.to_string_lossy());
            let all = folder.map_or(all.clone(), |it| all.replace(&*it, "${source.dir}"));
            hex::encode(Sha256::digest(all.as_bytes()))
        });
        let made = Build {
            state: made_of,
            ..build.clone()
        };
        if !self.has_built(&made).await {
            let state = |prepare: &Prepare| state(&prepare.inputs);
            self.do_before(prepare, &build.context, scenario, secrets, &state, tell)
                .await?;
        }
        Ok(Image::Built(made))
    }

    /// Does what is wanted, in which every `${…}` is filled in.
    async fn do_before(
        &self,
        prepare: &Prepare,
        folder: &Path,
        scenario: &Scenario,
        secrets: &mut Secrets,
        state: &(dyn Fn(&Prepare) -> Option<String> + Sync),
        tell: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<(), SetupError> {
        secrets.named("env", "source", pairs(&prepare.env));
        let redactor = Redactor::new(secrets, &scenario.redaction);
        let wanted = Wanted {
            prepare,
            folder,
            state: &|| state(prepare),
            lasts: scenario.source.version.is_none(),
            supervisor: self.program.as_deref(),
            redactor: &redactor,
        };
        tokio::select! {
            biased;
            // The run notices it for itself.
            () = self.interrupt.cancelled() => Ok(()),
            done = self.prepared.prepare(&wanted, tell) => done,
        }
    }

    /// What a folder of a repository holds; `None` where it is in none.
    fn state(&self, folder: &Path) -> Option<String> {
        let ours: Vec<&Path> = self.ours.iter().map(PathBuf::as_path).collect();
        let state = git::state(folder, &ours).ok()?;
        Some(state.tracked + &state.untracked)
    }

    /// Whether the engine has an image that was built of the same.
    async fn has_built(&self, build: &Build) -> bool {
        match &self.containers {
            Some(session) => session.has_built(build).await,
            None => false,
        }
    }
}

/// What files, folders and patterns of them hold, as a hash.
fn of_files(inputs: &[PathBuf]) -> String {
    let mut hash = Sha256::new();
    let mut add = |path: &Path| {
        hash.update(path.to_string_lossy().as_bytes());
        hash.update([0]);
        let content = std::fs::read(path).unwrap_or_default();
        hash.update(Sha256::digest(content));
    };
    for input in inputs {
        let pattern = input.to_string_lossy();
        let found: Vec<PathBuf> = if input.exists() {
            vec![input.clone()]
        } else {
            let found = glob::glob(&pattern).into_iter().flatten().flatten();
            found.collect()
        };
        for path in found {
            let files = walkdir::WalkDir::new(&path).sort_by_file_name().into_iter();
            let files = files.flatten().filter(|it| it.file_type().is_file());
            for file in
                files.filter(|it| !it.path().components().any(|it| it.as_os_str() == ".git"))
            {
                add(file.path());
            }
        }
    }
    hex::encode(hash.finalize())
}
