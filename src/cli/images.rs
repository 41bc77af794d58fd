//! The images that scenarios need, and whether the engine has them.

use std::collections::HashMap;

use serde::Serialize;
use tokio::sync::OnceCell;

use crate::cli::failure::Failure;
use crate::cli::runtime;
use crate::docker::Engine;
use crate::model::container::Image;
use crate::model::scenario::Scenario;
use crate::suite::{containers, source};

/// The image of a container of a scenario.
#[derive(Serialize, Clone)]
pub(super) struct ImageState {
    /// What the scenario calls the container; absent where it has only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<String>,
    /// The image's name, or the folder it is built from.
    pub(super) image: String,
    /// `there`, `missing`, `built` (before the first run) or `unknown` (there is no engine to ask).
    pub(super) state: &'static str,
}

/// The images of each scenario's containers, and whether the engine has them. No engine is asked when none is needed.
pub(super) fn images(scenarios: &[Scenario]) -> Result<Vec<Vec<ImageState>>, Failure> {
    let runtime = runtime::here()?;
    runtime.block_on(async {
        let engine = OnceCell::new();
        let mut known: HashMap<String, &'static str> = HashMap::new();
        let mut images = Vec::new();
        for scenario in scenarios {
            let scenario = source::resolved(scenario);
            let mut of_scenario = Vec::new();
            for declared in &scenario.containers {
                let container = containers::expand_anywhere(&scenario, declared);
                // Variables that are missing are reported when the scenario is run.
                let image = container.map_or_else(|_| declared.image.clone(), |it| it.image);
                let (image, state) = match image {
                    Image::Built(build) | Image::BuiltOrNamed(build, _) => {
                        (build.context.display().to_string(), "built")
                    }
                    Image::Named(name) => {
                        let state = match known.get(&name) {
                            Some(state) => state,
                            None => state(&engine, &name).await,
                        };
                        known.insert(name.clone(), state);
                        (name, state)
                    }
                };
                of_scenario.push(ImageState {
                    container: declared.name.clone(),
                    image,
                    state,
                });
            }
            images.push(of_scenario);
        }
        Ok(images)
    })
}

async fn state(engine: &OnceCell<Option<Engine>>, name: &str) -> &'static str {
    let variable = |name: &str| std::env::var(name).ok();
    // It is not waited for an engine of which no more is wanted than what it has.
    let connect = async { Engine::connect(&variable, &|_, _| false).await.ok() };
    let Some(engine) = engine.get_or_init(|| connect).await else {
        return "unknown";
    };
    match engine.has_image(name).await {
        Ok(true) => "there",
        Ok(false) => "missing",
        Err(_) => "unknown",
    }
}
