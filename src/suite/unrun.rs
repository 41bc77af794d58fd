//! A scenario that is looked at and not run, without its secrets.

use super::addresses::Addresses;
use super::{agents, source};
use crate::model::redacted::Redacted;
use crate::model::scenario::{Scenario, Server};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file;

/// Takes what a scenario declares to be secret out of texts.
pub fn redactor_of(scenario: &Scenario) -> Redactor {
    let mut secrets = Secrets::default();
    let _ = redacted(scenario, &mut secrets);
    Redactor::new(&secrets, &scenario.redaction)
}

/// A scenario that is not run, without the secrets that it declares, or that its servers and its agent are given, which
/// are added to `all`.
pub(super) fn redacted(scenario: &Scenario, all: &mut Secrets) -> Redacted<Scenario> {
    let mut secrets = Secrets::given_to(&scenario.redaction);
    let scenario = &*source::resolved(scenario);
    let addresses = Addresses::anywhere(scenario, &scenario.servers);
    let lookup = |server: &Server, name: &str| addresses.lookup(name, Some(&server.name));
    // A name that cannot be resolved has no value, so no secret.
    let expanded = scenario_file::expand_servers(&scenario.servers, lookup);
    for (_, variables) in expanded.into_iter().flatten() {
        secrets.environment("", &variables);
    }
    let _ = agents::reach(scenario, &mut secrets);
    all.extend(&secrets);
    all.of_scenario(&scenario.redaction);
    Redactor::new(&secrets, &scenario.redaction).scenario(scenario)
}
