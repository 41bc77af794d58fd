//! Images: whether the engine has them, and whether they declare a health check.

use bollard::models::ImageInspect;

use crate::docker::engine::{Engine, EngineError};
use crate::model::stamp::ImageStamp;
use crate::run::SetupError;

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
