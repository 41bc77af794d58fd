//! Which images scenarios need, and whether the engine has them.

use std::collections::HashMap;

use serde::Serialize;
use tokio::sync::OnceCell;

use crate::cli::failure::Failure;
use crate::docker::Engine;
use crate::model::container::Image;
use crate::model::scenario::Scenario;
use crate::suite::{containers, source};

/// The image of a scenario's container.
#[derive(Serialize, Clone)]
pub(super) struct ImageState {
    /// The image's name, or the folder it is built from.
    pub(super) image: String,
    /// `there`, `missing`, `built` (before the first run) or `unknown` (there is no engine to ask).
    pub(super) state: &'static str,
}

/// The images of the scenarios' containers, and whether the engine has them. No engine is asked when none is needed.
pub(super) fn images(scenarios: &[Scenario]) -> Result<Vec<Option<ImageState>>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    runtime.block_on(async {
        let engine = OnceCell::new();
        let mut known: HashMap<String, &'static str> = HashMap::new();
        let mut images = Vec::new();
        for scenario in scenarios {
            let scenario = source::settled(scenario);
            // Of several, the first one is shown.
            let container = scenario.containers.first();
            let container = container.map(|it| containers::expand_anywhere(&scenario, it));
            let image = match container {
                None => None,
                // Variables that are missing are reported when the scenario is run.
                Some(Err(_)) => scenario.containers.first().map(|it| it.image.clone()),
                Some(Ok(container)) => Some(container.image),
            };
            images.push(match image {
                None => None,
                Some(Image::Built(build) | Image::BuiltOrNamed(build, _)) => Some(ImageState {
                    image: build.context.display().to_string(),
                    state: "built",
                }),
                Some(Image::Named(name)) => {
                    let state = match known.get(&name) {
                        Some(state) => state,
                        None => state(&engine, &name).await,
                    };
                    known.insert(name.clone(), state);
                    Some(ImageState { image: name, state })
                }
            });
        }
        Ok(images)
    })
}

async fn state(engine: &OnceCell<Option<Engine>>, name: &str) -> &'static str {
    let variable = |name: &str| std::env::var(name).ok();
    let connect = async { Engine::connect(&variable).await.ok() };
    let Some(engine) = engine.get_or_init(|| connect).await else {
        return "unknown";
    };
    match engine.has_image(name).await {
        Ok(true) => "there",
        Ok(false) => "missing",
        Err(_) => "unknown",
    }
}
