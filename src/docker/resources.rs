//! Networks and volumes that containers need, made where they do not exist, and images.

use bollard::models::{ImageInspect, NetworkCreateRequest, VolumeCreateRequest};

use crate::docker::engine::{Engine, EngineError};
use crate::docker::leftovers::Labels;
use crate::model::ImageStamp;
use crate::run::SetupError;
use crate::scenario_file::servers::{Container, MountSource};

/// Networks every engine has.
const BUILT_IN: [&str; 4] = ["bridge", "host", "none", "default"];

impl Engine {
    /// Creates the network and the volumes that a container asks for, where they do not exist yet.
    ///
    /// # Errors
    ///
    /// When the engine refuses.
    pub(super) async fn ensure_resources(
        &self,
        container: &Container,
        labels: &Labels,
    ) -> Result<(), SetupError> {
        let network = container.network.as_deref();
        let network = network.filter(|it| !BUILT_IN.contains(it) && !it.starts_with("container:"));
        if let Some(name) = network {
            let there = self.ask(self.api.inspect_network(name, None)).await;
            let made = match there {
                Ok(_) => Ok(()),
                Err(EngineError::NotFound(_)) => self.make_network(name, labels).await,
                Err(error) => Err(error),
            };
            made.map_err(|error| {
                SetupError::new(format!("the network `{name}` cannot be had: {error}"))
            })?;
        }
        for mount in &container.mounts {
            let MountSource::Volume(name) = &mount.source else {
                continue;
            };
            let there = self.ask(self.api.inspect_volume(name)).await;
            let made = match there {
                Ok(_) => Ok(()),
                Err(EngineError::NotFound(_)) => self.make_volume(name, labels).await,
                Err(error) => Err(error),
            };
            made.map_err(|error| {
                SetupError::new(format!("the volume `{name}` cannot be had: {error}"))
            })?;
        }
        Ok(())
    }

    /// Removes a network of ours, if nothing is on it any more. That it is gone already is fine.
    pub(super) async fn remove_network(&self, name: &str) -> Result<(), EngineError> {
        match self.ask(self.api.remove_network(name)).await {
            Ok(()) | Err(EngineError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn make_network(&self, name: &str, labels: &Labels) -> Result<(), EngineError> {
        let request = NetworkCreateRequest {
            name: name.to_owned(),
            labels: Some(labels.clone()),
            ..NetworkCreateRequest::default()
        };
        self.ask(self.api.create_network(request)).await.map(drop)
    }

    async fn make_volume(&self, name: &str, labels: &Labels) -> Result<(), EngineError> {
        let request = VolumeCreateRequest {
            name: Some(name.to_owned()),
            labels: Some(labels.clone()),
            ..VolumeCreateRequest::default()
        };
        self.ask(self.api.create_volume(request)).await.map(drop)
    }
}

/// An image that containers can be made of.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) stamp: ImageStamp,
    /// It declares a health check.
    pub(super) has_health_check: bool,
}

impl Engine {
    /// Whether the engine has an image of this name.
    ///
    /// # Errors
    ///
    /// When the engine does not answer.
    pub async fn has_image(&self, name: &str) -> Result<bool, SetupError> {
        self.inspected(name).await.map(|it| it.is_some())
    }

    /// The image of this name.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub(super) async fn image(&self, name: &str) -> Result<Found, SetupError> {
        let image = self.inspected(name).await?;
        image.map_or_else(|| Err(missing(name)), |it| Ok(found(name, it)))
    }

    async fn inspected(&self, name: &str) -> Result<Option<ImageInspect>, SetupError> {
        match self.ask(self.api.inspect_image(name)).await {
            Ok(image) => Ok(Some(image)),
            Err(EngineError::NotFound(_)) => Ok(None),
            Err(error) => Err(SetupError::new(format!(
                "the image `{name}` cannot be looked at: {error}"
            ))),
        }
    }
}

/// What is wrong when an image is not there.
fn missing(name: &str) -> SetupError {
    SetupError::new(format!(
        "the image `{name}` is not there: get it with `docker pull {name}`, or have it built with `build:` in place of `image:`"
    ))
}

fn found(name: &str, image: ImageInspect) -> Found {
    let config = image.config.unwrap_or_default();
    let labels = config.labels.unwrap_or_default();
    let label = |key: &str| {
        let value = labels.get(&format!("org.opencontainers.image.{key}"));
        value.filter(|it| !it.is_empty()).cloned()
    };
    let test = config
        .healthcheck
        .and_then(|it| it.test)
        .unwrap_or_default();
    Found {
        stamp: ImageStamp {
            name: name.to_owned(),
            id: image.id.unwrap_or_default(),
            digest: image.repo_digests.unwrap_or_default().into_iter().next(),
            revision: label("revision"),
            source: label("source"),
            version: label("version"),
        },
        has_health_check: test.first().is_some_and(|it| it != "NONE"),
    }
}
