//! The slot that holds one scenario's container, from reset to release.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bollard::query_parameters::RenameContainerOptions;
use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::docker::container::{self, Probe, Reached, Started};
use crate::docker::engine::{Engine, EngineError};
use crate::docker::failure;
use crate::docker::leftovers::KEPT;
use crate::docker::resources::Found;
use crate::docker::session::{Held, OnProgress, Session};
use crate::model::ImageStamp;
use crate::run::SetupError;
use crate::scenario_file::servers::{Container, Keep, Reset};

/// Holds one scenario's container. Each reset puts in a fresh one, or one that may be shared.
pub struct Slot {
    session: Arc<Session>,
    container: Container,
    config: Option<PathBuf>,
    /// The id of the scenario.
    scenario: String,
    held: tokio::sync::Mutex<Option<Held>>,
}

/// A container that is ready to be asked.
#[derive(Debug, Clone)]
pub struct Standing {
    /// `None` where it publishes no port.
    pub reached: Option<Reached>,
    pub image: ImageStamp,
}

impl Slot {
    /// A slot for the container described, in which every `${…}` is filled in. `config` is the configuration file of the scenario that has
    /// this id.
    pub fn new(
        session: Arc<Session>,
        container: Container,
        (scenario, config): (&str, Option<PathBuf>),
    ) -> Self {
        Self {
            session,
            container,
            config,
            scenario: scenario.to_owned(),
            held: tokio::sync::Mutex::default(),
        }
    }

    /// Removes the container of the last run, so that none of several meets another one's.
    ///
    /// # Errors
    ///
    /// When the engine does not remove it.
    pub async fn clear(&self) -> Result<(), SetupError> {
        match self.held.lock().await.take() {
            Some(before) => removed(self.session.engine().await?, &before.started).await,
            None => Ok(()),
        }
    }

    /// Puts in a container that is ready to be asked: a fresh one, unless `reset` says otherwise. One
    /// of which nobody asks anything is ready when it is healthy.
    ///
    /// # Errors
    ///
    /// When there is no engine or no image, or the container does not get ready; with its state and its last lines.
    pub async fn reset(
        &self,
        probe: &dyn Probe,
        on_progress: OnProgress<'_>,
    ) -> Result<Standing, SetupError> {
        let mut held = self.held.lock().await;
        let session = &self.session;
        let engine = session.engine().await?;
        let image = &self.container.image;
        let image = session.image(image, &Mutex::default()).await?;
        let description = self.description();
        let shared = self.container.reset != Reset::Scenario;
        let before = held.take();
        let before = before.or_else(|| session.take_idle(&description).filter(|_| shared));
        if let Some(before) = before {
            if shared && is_running(engine, &before.started).await {
                return standing(engine, &self.container, held.insert(before)).await;
            }
            on_progress("removing the container of the last run");
            removed(engine, &before.started).await?;
        }
        let made_from = format!("{} {description}", image.stamp.id);
        if let Some(Some((first, why))) = session.failed.lock().get(&made_from)
            && *first != self.scenario
        {
            return Err(why.clone());
        }
        let port = session.port(self.container.host_port).await;
        on_progress(&format!("starting {}", image.stamp.name));
        let running = match self.container.reset {
            Reset::Never => self.left_running(engine, &image, &description).await?,
            Reset::Scenario | Reset::Suite => None,
        };
        let started = if let Some(running) = running {
            running
        } else {
            let config = self.config.as_deref();
            let names = (description.as_str(), self.whose());
            session
                .start(&self.container, config, &image, names)
                .await?
        };
        // Held from here on, so that it is released even if it does not get ready.
        let container: &Held = held.insert(Held {
            started,
            image: image.stamp,
            description,
            _port: port,
        });
        let id = &container.started.id;
        let proven = async {
            let standing = standing(engine, &self.container, container).await?;
            let ready = (&self.container.ready, image.has_health_check);
            container::wait(engine, id, ready, (probe, standing.reached.as_ref())).await?;
            Ok(standing)
        };
        let proven: Result<Standing, SetupError> = proven.await;
        let failed = match &proven {
            Err(why) if failure::fails_everybody(engine, id).await => {
                Some((self.scenario.clone(), why.clone()))
            }
            _ => None,
        };
        session.failed.lock().insert(made_from, failed);
        proven
    }

    /// Why the container is no longer running; `None` while it is, and where there is none.
    ///
    /// # Errors
    ///
    /// When the engine does not answer.
    pub async fn post_mortem(&self) -> Result<Option<SetupError>, SetupError> {
        let held = self.held.lock().await;
        let Some(held) = held.as_ref() else {
            return Ok(None);
        };
        failure::ended_by_now(self.session.engine().await?, &held.started.id).await
    }

    /// The output of the container, only since this moment if it may have been running before; `None` where there is no container.
    pub async fn log(&self, since: Timestamp) -> Option<String> {
        let held = self.held.lock().await;
        let started = &held.as_ref()?.started;
        let engine = self.session.engine().await.ok()?;
        let since = (self.container.reset != Reset::Scenario).then_some(since);
        engine.log(&started.id, since).await.ok()
    }

    /// The bytes of a file in the container, at most so many; `None` where there is none.
    ///
    /// # Errors
    ///
    /// In words that follow the file's name.
    pub async fn file(&self, path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
        let held = self.held.lock().await;
        let held = held.as_ref().ok_or("is in a container that is gone")?;
        let engine = self.session.engine().await;
        let engine = engine.map_err(|it| format!("cannot be read: {}", it.message))?;
        let mounts = &self.container.mounts;
        engine.file(&held.started.id, (path, mounts), most).await
    }

    /// Lets go of the container once the scenario is done: removes it or gives it back. With `look`, it is kept for inspection if the
    /// scenario asks for that. Returns a note for the reader.
    pub async fn release(&self, look: bool) -> Option<String> {
        let held = self.held.lock().await.take()?;
        let engine = self.session.engine().await.ok()?;
        let keep = self.container.keep == Keep::OnFailure && look;
        match self.container.reset {
            _ if keep => Some(self.keep_for_a_look(engine, &held.started).await),
            Reset::Scenario => removed(engine, &held.started)
                .await
                .err()
                .map(|it| it.message),
            Reset::Suite | Reset::Never => {
                self.session.put_idle(held);
                None
            }
        }
    }

    /// Keeps a container in the place of the one that was kept last of the same scenario, renamed so that later runs leave it alone.
    async fn keep_for_a_look(&self, engine: &Engine, started: &Started) -> String {
        let name = started.name.replacen("mcp-eval-", KEPT, 1);
        let options = RenameContainerOptions { name: name.clone() };
        let renamed = engine.api.rename_container(&started.id, options);
        match engine.ask(renamed).await {
            Ok(()) => {
                let owner = &self.session.owner;
                engine.forget_kept(owner, &self.whose(), &started.id).await;
                format!(
                    "the container is kept as {name}: look at it with `docker logs {name}` or `docker exec`; `mcp-eval clean` removes it"
                )
            }
            Err(error) => format!("the container could not be kept: {error}"),
        }
    }

    /// A container that an earlier run has left running; one of another version of the image is replaced.
    async fn left_running(
        &self,
        engine: &Engine,
        image: &Found,
        description: &str,
    ) -> Result<Option<Started>, SetupError> {
        while let Some((id, of)) = self.session.left_running(engine, description).await? {
            if of.as_ref() == Some(&image.stamp.id) {
                return engine.started(&id, &self.container).await.map(Some);
            }
            engine.remove(&id).await.map_err(|it| not_removed(&it))?;
        }
        Ok(None)
    }

    /// A name for all that the container is made from but the image's content.
    fn description(&self) -> String {
        let described = format!("{:?} {:?}", self.container, self.config);
        hash(&described)
    }

    /// A name for which container of which scenario this is, of the project that the program runs in.
    fn whose(&self) -> String {
        let project = std::env::current_dir().unwrap_or_default();
        hash(&format!(
            "{} {} {:?}",
            project.display(),
            self.scenario,
            self.container.name
        ))
    }
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))[..16].to_owned()
}

async fn standing(
    engine: &Engine,
    container: &Container,
    held: &Held,
) -> Result<Standing, SetupError> {
    let standing = |reached: Option<Reached>| Standing {
        reached,
        image: held.image.clone(),
    };
    match &held.started.reached {
        Some(reached) => Ok(standing(Some(reached.clone()))),
        None if container.port.is_none() => Ok(standing(None)),
        None => Err(failure::ended(engine, &held.started.id).await),
    }
}

async fn is_running(engine: &Engine, started: &Started) -> bool {
    let state = failure::state(engine, &started.id).await.ok().flatten();
    state.is_some_and(|it| it.running == Some(true))
}

async fn removed(engine: &Engine, started: &Started) -> Result<(), SetupError> {
    engine
        .remove(&started.id)
        .await
        .map_err(|it| not_removed(&it))
}

fn not_removed(error: &EngineError) -> SetupError {
    SetupError::new(format!(
        "the container of the last run cannot be removed: {error}"
    ))
}
