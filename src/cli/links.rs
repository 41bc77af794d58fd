//! Pages elsewhere that belong to a run: what CI says of itself in its environment.

use crate::published::result::Link;
use crate::redact;
use crate::report::repository::Repository;
use crate::suite::ci::System;

/// The links of this command.
pub(super) fn links() -> Vec<Link> {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    let mut links = Vec::new();
    add(&mut links, &of_ci(&variable));
    links
}

/// Adds links without secrets; each takes the place of one of the same name.
pub(super) fn add(links: &mut Vec<Link>, new: &[Link]) {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    for link in new {
        let link = Link {
            name: clean(&link.name),
            url: clean(&link.url),
        };
        links.retain(|it| it.name != link.name);
        links.push(link);
    }
}

/// What the environment of a CI job says.
fn of_ci(variable: &dyn Fn(&str) -> Option<String>) -> Vec<Link> {
    let [commit, pull_request, job] = match System::of(variable) {
        Some(System::GitHub) => github(variable),
        Some(System::GitLab) => gitlab(variable),
        Some(System::Buildkite) => buildkite(variable),
        Some(System::Jenkins) => jenkins(variable),
        Some(System::Azure | System::TeamCity) | None => return Vec::new(),
    };
    let named = [
        ("commit", commit),
        ("pull request", pull_request),
        ("CI job", job),
    ];
    let links = named.into_iter().filter_map(|(name, url)| {
        Some(Link {
            name: name.to_owned(),
            url: url?,
        })
    });
    links.collect()
}

/// The pages of the commit, the pull request and the job, as far as there are such.
type Pages = [Option<String>; 3];

fn github(variable: &dyn Fn(&str) -> Option<String>) -> Pages {
    let repository = || {
        let server = variable("GITHUB_SERVER_URL");
        let server = server.unwrap_or_else(|| "https://github.com".to_owned());
        Some(format!("{server}/{}", variable("GITHUB_REPOSITORY")?))
    };
    // refs/pull/12/merge
    let number = || {
        let reference = variable("GITHUB_REF")?;
        let number = reference.strip_prefix("refs/pull/")?.split('/').next()?;
        Some(number.to_owned())
    };
    let job = || {
        let run = format!(
            "{}/actions/runs/{}",
            repository()?,
            variable("GITHUB_RUN_ID")?
        );
        Some(match variable("GITHUB_RUN_ATTEMPT") {
            Some(attempt) => format!("{run}/attempts/{attempt}"),
            None => run,
        })
    };
    let commit = || {
        Some(format!(
            "{}/commit/{}",
            repository()?,
            variable("GITHUB_SHA")?
        ))
    };
    let pull_request = || Some(format!("{}/pull/{}", repository()?, number()?));
    [commit(), pull_request(), job()]
}

fn gitlab(variable: &dyn Fn(&str) -> Option<String>) -> Pages {
    let project = || variable("CI_PROJECT_URL");
    let commit = || {
        Some(format!(
            "{}/-/commit/{}",
            project()?,
            variable("CI_COMMIT_SHA")?
        ))
    };
    let merge_request = || {
        let target = variable("CI_MERGE_REQUEST_PROJECT_URL").or_else(project)?;
        let number = variable("CI_MERGE_REQUEST_IID")?;
        Some(format!("{target}/-/merge_requests/{number}"))
    };
    [commit(), merge_request(), variable("CI_JOB_URL")]
}

fn buildkite(variable: &dyn Fn(&str) -> Option<String>) -> Pages {
    let repository = || Repository::of(&variable("BUILDKITE_REPO")?);
    let commit = || repository()?.commit(&variable("BUILDKITE_COMMIT")?);
    // It is `false` for a build of no pull request.
    let pull_request = || repository()?.pull_request(&variable("BUILDKITE_PULL_REQUEST")?);
    let job = || {
        let build = variable("BUILDKITE_BUILD_URL")?;
        Some(match variable("BUILDKITE_JOB_ID") {
            Some(job) => format!("{build}#{job}"),
            None => build,
        })
    };
    [commit(), pull_request(), job()]
}

fn jenkins(variable: &dyn Fn(&str) -> Option<String>) -> Pages {
    let commit = || Repository::of(&variable("GIT_URL")?)?.commit(&variable("GIT_COMMIT")?);
    let job = variable("RUN_DISPLAY_URL").or_else(|| variable("BUILD_URL"));
    [commit(), variable("CHANGE_URL"), job]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::of_ci;

    fn links(set: &[(&str, &str)]) -> Vec<String> {
        let set: HashMap<&str, &str> = set.iter().copied().collect();
        let links = of_ci(&|name| set.get(name).map(|it| (*it).to_owned()));
        links
            .iter()
            .map(|it| format!("{} {}", it.name, it.url))
            .collect()
    }

    #[test]
    fn the_usual_ci_says_where_its_commit_its_pull_request_and_its_job_are() {
        assert_eq!(
            links(&[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_REPOSITORY", "a/b"),
                ("GITHUB_SHA", "9d8e7f6"),
                ("GITHUB_REF", "refs/pull/12/merge"),
                ("GITHUB_RUN_ID", "77"),
                ("GITHUB_RUN_ATTEMPT", "2"),
            ]),
            [
                "commit https://github.com/a/b/commit/9d8e7f6",
                "pull request https://github.com/a/b/pull/12",
                "CI job https://github.com/a/b/actions/runs/77/attempts/2",
            ]
        );
        assert_eq!(
            links(&[
                ("GITLAB_CI", "true"),
                ("CI_PROJECT_URL", "https://gitlab.com/a/b"),
                ("CI_COMMIT_SHA", "9d8e7f6"),
                ("CI_MERGE_REQUEST_IID", "3"),
                ("CI_JOB_URL", "https://gitlab.com/a/b/-/jobs/4"),
            ]),
            [
                "commit https://gitlab.com/a/b/-/commit/9d8e7f6",
                "pull request https://gitlab.com/a/b/-/merge_requests/3",
                "CI job https://gitlab.com/a/b/-/jobs/4",
            ]
        );
        assert_eq!(
            links(&[
                ("BUILDKITE", "true"),
                ("BUILDKITE_REPO", "git@github.com:a/b.git"),
                ("BUILDKITE_COMMIT", "9d8e7f6"),
                ("BUILDKITE_PULL_REQUEST", "false"),
                ("BUILDKITE_BUILD_URL", "https://buildkite.com/a/b/builds/5"),
                ("BUILDKITE_JOB_ID", "x"),
            ]),
            [
                "commit https://github.com/a/b/commit/9d8e7f6",
                "CI job https://buildkite.com/a/b/builds/5#x",
            ]
        );
        assert_eq!(
            links(&[
                ("JENKINS_URL", "https://ci.example.org/"),
                ("GIT_URL", "https://gitlab.com/a/b.git"),
                ("GIT_COMMIT", "9d8e7f6"),
                ("CHANGE_URL", "https://gitlab.com/a/b/-/merge_requests/6"),
                ("BUILD_URL", "https://ci.example.org/job/b/7/"),
            ]),
            [
                "commit https://gitlab.com/a/b/-/commit/9d8e7f6",
                "pull request https://gitlab.com/a/b/-/merge_requests/6",
                "CI job https://ci.example.org/job/b/7/",
            ]
        );
        assert!(links(&[("GITHUB_SHA", "9d8e7f6")]).is_empty());
    }
}
