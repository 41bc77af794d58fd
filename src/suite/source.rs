//! Where the source of the system under test lies.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::model::scenario::{Agent, Scenario};
use crate::scenario_file::{self, SOURCE_DIR};

/// Name the source of the system under test for scenarios without `source.repo`; the second as an earlier tool called it.
const VARIABLES: [&str; 2] = ["MCPPROXY_SOURCE_PATH", "MCPPROXY_SOURCE"];

/// The folder of a scenario's source, absolute; `None` where it has none, or an environment variable in its path is not set.
pub(crate) fn folder(scenario: &Scenario) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    let own = scenario.source.repo.as_ref();
    let own = own.and_then(|it| Some(scenario_file::expand(it, variable).ok()?.0));
    let named = || VARIABLES.into_iter().find_map(variable).map(PathBuf::from);
    let folder = own.or_else(named)?;
    Some(std::path::absolute(&folder).unwrap_or(folder))
}

/// The scenario with the folder of its source in the place of `${source.dir}`.
pub(crate) fn settled(scenario: &Scenario) -> Cow<'_, Scenario> {
    let Some(folder) = folder(scenario) else {
        return Cow::Borrowed(scenario);
    };
    let folder = folder.to_string_lossy();
    let mut settled = scenario.clone();
    scenario_file::fill_in(&mut settled.servers, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut settled.before, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut settled.after, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut settled.container, SOURCE_DIR, &folder);
    scenario_file::fill_in(&mut settled.source.prepare, SOURCE_DIR, &folder);
    if let Agent::Command { settings, .. } = &mut settled.agent {
        scenario_file::fill_in(&mut **settings, SOURCE_DIR, &folder);
    }
    Cow::Owned(settled)
}
