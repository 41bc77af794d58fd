//! The published form of an image's stamp.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::stamp::ImageStamp;

/// The image of the container the server under test ran in.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ImageV1 {
    /// The name it was asked for by.
    name: String,
    /// What the engine knows it by.
    id: String,
    /// What registries know it by, or null for one that was never pushed or pulled.
    digest: Option<String>,
    /// Its label `org.opencontainers.image.revision`, or null.
    revision: Option<String>,
    /// Its label `org.opencontainers.image.source`, or null.
    source: Option<String>,
    /// Its label `org.opencontainers.image.version`, or null.
    version: Option<String>,
}

impl From<&ImageStamp> for ImageV1 {
    fn from(it: &ImageStamp) -> Self {
        let ImageStamp {
            name,
            id,
            digest,
            revision,
            source,
            version,
        } = it.clone();
        Self {
            name,
            id,
            digest,
            revision,
            source,
            version,
        }
    }
}

impl From<ImageV1> for ImageStamp {
    fn from(it: ImageV1) -> Self {
        Self {
            name: it.name,
            id: it.id,
            digest: it.digest,
            revision: it.revision,
            source: it.source,
            version: it.version,
        }
    }
}
