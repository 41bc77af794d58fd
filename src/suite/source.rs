//! The place of the source of the system under test.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::model::{DIRTY, Stamp};
use crate::run::SetupError;
use crate::scenario_file::agent::Agent;
use crate::scenario_file::servers::{Container, Image};
use crate::scenario_file::{self, SOURCE_DIR, Scenario};

/// Name the source of the system under test for scenarios without `source.repo`; the second as an earlier tool called it.
const VARIABLES: [&str; 2] = ["MCPPROXY_SOURCE_PATH", "MCPPROXY_SOURCE"];

/// The folder of a scenario's source, absolute; `None` where it has none, or only one in whose path an environment variable is not set.
pub(crate) fn folder(scenario: &Scenario) -> Option<PathBuf> {
    named(scenario).map(|(folder, _)| folder)
}

/// The same, with what names it.
fn named(scenario: &Scenario) -> Option<(PathBuf, String)> {
    let own = || {
        let repo = scenario.source.repo.as_ref()?;
        let (folder, _) = scenario_file::expand(repo, variable).ok()?;
        Some((folder, "`source.repo`".to_owned()))
    };
    let of_environment = |name: &str| {
        let folder = PathBuf::from(variable(name)?);
        Some((folder, format!("the environment variable {name}")))
    };
    let (folder, named_by) = own().or_else(|| VARIABLES.into_iter().find_map(of_environment))?;
    Some((std::path::absolute(&folder).unwrap_or(folder), named_by))
}

/// The same for what is made of it.
///
/// # Errors
///
/// When there is no such folder.
pub(crate) fn folder_that_is_there(scenario: &Scenario) -> Result<Option<PathBuf>, SetupError> {
    match named(scenario) {
        Some((folder, named_by)) if !folder.is_dir() => Err(SetupError::new(format!(
            "{named_by} names the folder of the source, but there is no folder {}",
            folder.display()
        ))),
        found => Ok(found.map(|(folder, _)| folder)),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

/// What a reader should know of an image that was made from another state of the source than the one that stands there; `None` where it
/// was not, or that is not known.
pub(crate) fn other_than_image(stamp: &Stamp) -> Option<String> {
    let image = stamp.image.as_ref()?;
    let source = stamp.source.as_ref()?.commit()?;
    let revision = image.revision.as_deref()?;
    let of_image = revision.strip_suffix(DIRTY).unwrap_or(revision);
    let is_id = of_image.len() >= 7 && of_image.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_id {
        return None;
    }
    let changed = source.dirty == Some(true);
    let words = if !source.commit.starts_with(of_image) {
        format!("is at {}", source.short)
    } else if changed && of_image == revision {
        "has changes that are not committed".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "the image {} was made from revision {}{}, and the source {words}: build it again to test that",
        image.name,
        of_image.get(..12).unwrap_or(of_image),
        &revision[of_image.len()..],
    ))
}

/// The scenario with the folder of its source in the place of `${source.dir}`, and with the image that its container is made from with
/// or without a source.
pub(crate) fn resolved(scenario: &Scenario) -> Cow<'_, Scenario> {
    let folder = folder(scenario);
    let is_choice = |it: &Container| matches!(it.image, Image::BuiltOrNamed(..));
    let has_choice = scenario.containers.iter().any(is_choice);
    if folder.is_none() && !has_choice {
        return Cow::Borrowed(scenario);
    }
    let mut resolved = scenario.clone();
    for container in &mut resolved.containers {
        container.image = container.image.clone().chosen(folder.is_some());
    }
    let Some(folder) = folder else {
        return Cow::Owned(resolved);
    };
    let folder = folder.to_string_lossy();
    scenario_file::fill_in(&mut resolved.servers, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.upstreams, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.before, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.after, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.evaluators, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.containers, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut resolved.source.prepare, SOURCE_DIR, &folder);
    if let Agent::Command { settings, .. } = &mut resolved.agent {
        scenario_file::fill_in(&mut **settings, SOURCE_DIR, &folder);
    }
    Cow::Owned(resolved)
}
