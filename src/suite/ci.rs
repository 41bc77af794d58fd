//! CI systems, and what must not happen there.

use crate::model::Trajectory;
use crate::store::Baselines;

/// What runs CI jobs, as far as it is known by a variable of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    GitHub,
    GitLab,
    Buildkite,
    Jenkins,
    Azure,
    TeamCity,
}

impl System {
    pub(crate) const ALL: [Self; 6] = [
        Self::GitHub,
        Self::GitLab,
        Self::Buildkite,
        Self::Jenkins,
        Self::Azure,
        Self::TeamCity,
    ];

    /// The variable that it sets in every job.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::GitHub => "GITHUB_ACTIONS",
            Self::GitLab => "GITLAB_CI",
            Self::Buildkite => "BUILDKITE",
            Self::Jenkins => "JENKINS_URL",
            Self::Azure => "TF_BUILD",
            Self::TeamCity => "TEAMCITY_VERSION",
        }
    }

    /// The one whose job this is, by what its environment says.
    pub(crate) fn of(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| variable(it.variable()).is_some_and(|it| is_said(&it)))
    }
}

/// Whether the value of a variable says yes.
fn is_said(value: &str) -> bool {
    !value.is_empty() && !value.eq_ignore_ascii_case("false") && value != "0"
}

/// The variable by which this is known to be a CI job: `CI`, which most of them set and everybody may, else the one of a system that does
/// not set it. `None` where this is none, also where `CI` says so.
pub(crate) fn known_by() -> Option<&'static str> {
    job_known_by(&|name| std::env::var(name).ok())
}

fn job_known_by(variable: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    match variable("CI").filter(|it| !it.is_empty()) {
        Some(value) => is_said(&value).then_some("CI"),
        None => System::of(variable).map(System::variable),
    }
}

/// Whether this is a CI job.
pub(crate) fn is_ci() -> bool {
    known_by().is_some()
}

/// Puts right what a program that was killed has left beside a scenario's baseline, whose main trajectory was loaded.
///
/// Commands that only read do this too, because a `trajectory.txt` of another recording would mislead a reviewer; the accepted trajectory
/// itself is never changed. Nothing is done in CI, which must not change committed files. Failures are ignored, so that reading goes on.
pub(crate) fn mend(baselines: &Baselines, scenario: &str, main: Option<&Trajectory>) {
    if !is_ci() {
        let _ = baselines.mend(scenario, main);
    }
}

#[cfg(test)]
mod tests {
    use super::{System, job_known_by};

    fn job(set: &[(&str, &str)]) -> Option<&'static str> {
        job_known_by(&|name| {
            let found = set.iter().find(|it| it.0 == name);
            found.map(|it| it.1.to_owned())
        })
    }

    #[test]
    fn a_job_is_known_by_its_system_unless_ci_says_that_it_is_none() {
        assert_eq!(job(&[]), None);
        for value in ["true", "1", "yes"] {
            assert_eq!(job(&[("CI", value)]), Some("CI"));
        }
        for value in ["", "false", "False", "0"] {
            assert_eq!(job(&[("CI", value)]), None, "{value:?}");
        }
        for system in System::ALL {
            let variable = system.variable();
            assert_eq!(job(&[(variable, "yes")]), Some(variable));
            assert_eq!(job(&[(variable, "")]), None);
            assert_eq!(job(&[("CI", ""), (variable, "yes")]), Some(variable));
            assert_eq!(job(&[("CI", "false"), (variable, "yes")]), None);
        }
        assert_eq!(job(&[("TF_BUILD", "False")]), None);
    }
}
