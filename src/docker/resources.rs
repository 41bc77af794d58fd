//! Networks and volumes that containers need, made where they do not exist.

use bollard::models::{NetworkCreateRequest, VolumeCreateRequest};

use crate::docker::engine::{Engine, EngineError};
use crate::docker::owner::Labels;
use crate::model::container::{Container, MountSource};
use crate::run::SetupError;

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
