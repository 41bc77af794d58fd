//! All containers of one run of the program: made, shared, and always removed in the end.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bollard::models::ContainerSummaryStateEnum;
use parking_lot::Mutex;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::docker::container::{Plan, Started};
use crate::docker::engine::{Engine, OnWait, Variable};
use crate::docker::leftovers::{OUTLIVES, Owner, SCENARIO, unlisted};
use crate::docker::resources::Found;
use crate::model::ImageStamp;
use crate::run::SetupError;
use crate::scenario_file::servers::{Container, Image, Reset};

/// How long removing everything may take in the end.
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// Says which description a container was made from, for `reset: never` to find it again.
const DESCRIPTION: &str = "dev.mcp-eval.description";

/// Called with a description of each step under way.
pub type OnProgress<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// The result of building an image.
type Built = Result<Found, SetupError>;

/// The containers of one run of the program. The engine is first connected when one is needed.
pub struct Session {
    variable: Box<Variable>,
    pub(super) owner: Owner,
    engine: OnceCell<Result<Engine, SetupError>>,
    /// Images that are built, each once, by their description.
    pub(super) built: Mutex<HashMap<String, Arc<OnceCell<Built>>>>,
    /// Why containers fail whoever needs them, and which scenario showed it, by the image and the description they are made from.
    pub(super) failed: Mutex<HashMap<String, Option<(String, SetupError)>>>,
    /// Containers that may be shared and are not in use now.
    idle: Mutex<Vec<Held>>,
    /// Containers of earlier runs that this one has taken over.
    taken: Mutex<HashSet<String>>,
    /// One permit for each fixed port of this machine.
    ports: Mutex<HashMap<u16, Arc<Semaphore>>>,
    /// Networks and volumes are made by one at a time, so that none is made twice.
    resource_lock: tokio::sync::Mutex<()>,
    /// Starts under way. The clean-up waits for them, because the engine would finish an abandoned start after the clean-up.
    starting: TaskTracker,
    number: AtomicUsize,
}

/// A container in use, or ready to be.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) started: Started,
    pub(super) image: ImageStamp,
    /// Names the description it was made from.
    pub(super) description: String,
    /// Reserves its fixed port meanwhile.
    pub(super) _port: Option<OwnedSemaphorePermit>,
}

impl Session {
    /// `variable` gives the values of environment variables.
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            variable: Box::new(variable),
            owner: Owner::another(),
            engine: OnceCell::new(),
            built: Mutex::default(),
            failed: Mutex::default(),
            idle: Mutex::default(),
            taken: Mutex::default(),
            ports: Mutex::default(),
            resource_lock: tokio::sync::Mutex::default(),
            starting: TaskTracker::new(),
            number: AtomicUsize::new(1),
        }
    }

    /// Why a scenario that can do without its image is not to be run; `None` when it is to be.
    pub async fn why_not(&self, container: &Container) -> Option<String> {
        let (Some(how), Image::Named(name)) = (&container.optional, &container.image) else {
            return None;
        };
        let has = match self.engine().await {
            Ok(engine) => engine.has_image(name).await,
            Err(error) => Err(error),
        };
        match has {
            Ok(true) => None,
            Ok(false) => Some(format!("its image `{name}` is not there: {how}")),
            Err(error) => Some(format!("its image `{name}` cannot be used: {error}")),
        }
    }

    /// The engine, connected first where that has not been tried yet; what killed runs have left in it is removed before it is used.
    /// `on_wait` is called while it takes long to answer.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn connected(&self, on_wait: OnWait<'_>) -> Result<&Engine, SetupError> {
        let connect = async {
            let engine = Engine::connect(&*self.variable, on_wait).await?;
            engine.sweep().await;
            Ok(engine)
        };
        let engine = self.engine.get_or_init(|| connect).await;
        engine.as_ref().map_err(Clone::clone)
    }

    pub(super) async fn engine(&self) -> Result<&Engine, SetupError> {
        self.connected(&|_, _| true).await
    }

    /// The image of a container, built first where it has `build`. The same image is built only once.
    pub(super) async fn image(
        &self,
        image: &Image,
        said: &Mutex<String>,
    ) -> Result<Found, SetupError> {
        let engine = self.engine().await?;
        let build = match image {
            Image::Named(name) => return engine.image(name).await,
            Image::Built(build) | Image::BuiltOrNamed(build, _) => build,
        };
        let cell = {
            let mut images = self.built.lock();
            Arc::clone(images.entry(format!("{build:?}")).or_default())
        };
        cell.get_or_init(|| engine.build(build, said)).await.clone()
    }

    /// The name of a network for the containers of one scenario, made when the first of them is.
    pub fn network(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        format!("mcp-eval-{}-{number}", self.owner.session)
    }

    /// Removes such a network. One that a kept container is on stays as long as that.
    pub async fn remove_network(&self, name: &str) {
        if let Ok(engine) = self.engine().await {
            let _ = engine.remove_network(name).await;
        }
    }

    /// Removes everything this run has made, but for what it kept on purpose, and waits for that.
    pub async fn end(&self) {
        let Some(Ok(engine)) = self.engine.get() else {
            return;
        };
        self.starting.close();
        let end = async {
            self.starting.wait().await;
            engine.remove_all_of(&self.owner).await;
        };
        // What is not removed in time is removed by the next run.
        let _ = tokio::time::timeout(END_TIMEOUT, end).await;
    }

    pub(super) async fn port(&self, port: Option<u16>) -> Option<OwnedSemaphorePermit> {
        let semaphore = {
            let mut ports = self.ports.lock();
            let semaphore = ports.entry(port?);
            Arc::clone(semaphore.or_insert_with(|| Arc::new(Semaphore::new(1))))
        };
        // An error is impossible, because the semaphore is never closed.
        semaphore.acquire_owned().await.ok()
    }

    /// Makes a container and starts it. It goes on if the caller drops the future, so that [`Self::end`] finds what was made.
    pub(super) async fn start(
        self: &Arc<Self>,
        container: &Container,
        config: Option<&Path>,
        image: &Found,
        (description, whose): (&str, String),
    ) -> Result<Started, SetupError> {
        let session = Arc::clone(self);
        let (container, image) = (container.clone(), image.clone());
        let (config, description) = (config.map(Path::to_owned), description.to_owned());
        let task = async move {
            let engine = session.engine().await?;
            let mut labels = session.owner.labels(container.reset == Reset::Never);
            {
                let _one_at_a_time = session.resource_lock.lock().await;
                engine.ensure_resources(&container, &labels).await?;
            }
            labels.insert(DESCRIPTION.to_owned(), description);
            labels.insert(SCENARIO.to_owned(), whose);
            let number = session.number.fetch_add(1, Ordering::Relaxed);
            let plan = Plan {
                container: &container,
                config: config.as_deref(),
                image: &image,
                name: &format!("mcp-eval-{}-{number}", session.owner.session),
                labels,
            };
            engine.start(&plan).await
        };
        let started = self.starting.spawn(task).await;
        started.unwrap_or_else(|error| {
            Err(SetupError::new(format!(
                "starting the container failed: {error}"
            )))
        })
    }

    /// Gives back a container that others may use.
    pub(super) fn put_idle(&self, held: Held) {
        let mut idle = self.idle.lock();
        idle.push(held);
    }

    /// The container that an earlier run has left running for this one.
    pub(super) async fn left_running(
        &self,
        engine: &Engine,
        description: &str,
    ) -> Result<Option<(String, Option<String>)>, SetupError> {
        let labels = vec![format!("{DESCRIPTION}={description}"), OUTLIVES.to_owned()];
        let listed = engine
            .containers(labels)
            .await
            .map_err(|it| unlisted(&it))?;
        let mut taken = self.taken.lock();
        let free = listed
            .into_iter()
            .filter(|it| it.state == Some(ContainerSummaryStateEnum::RUNNING))
            .filter_map(|it| Some((it.id?, it.image_id)))
            .find(|(id, _)| taken.insert(id.clone()));
        Ok(free)
    }

    /// A container made from the same description that is not in use now.
    pub(super) fn take_idle(&self, description: &str) -> Option<Held> {
        let mut idle = self.idle.lock();
        let position = idle.iter().position(|it| it.description == description)?;
        Some(idle.swap_remove(position))
    }
}

/// Removes a session's containers when the thread that holds it panics, so that [`Session::end`] is not reached.
pub struct Guard(pub Arc<Session>);

impl Drop for Guard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let session = Arc::clone(&self.0);
        // On a thread of its own, because the current one may be running a runtime already.
        let removing = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(session.end());
            }
        });
        let _ = removing.join();
    }
}
