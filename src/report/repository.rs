//! Web addresses of a repository's commits: pages of GitHub and GitLab.
//!
//! Remotes and labels of images say anything. Only what has exactly the form of a repository there becomes an address.

use model::DIRTY;

/// The fewest and most letters of a commit's id.
const ID: std::ops::RangeInclusive<usize> = 7..=64;

/// A repository that can be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Repository {
    /// `https://github.com/owner/name`.
    base: String,
    is_gitlab: bool,
}

impl Repository {
    /// Of a remote or an address: `git@github.com:owner/name.git`, `ssh://…`, `https://…`. `None` where it is not on GitHub or GitLab.
    pub fn of(remote: &str) -> Option<Self> {
        let (scheme, address) = remote.split_once("://").unwrap_or(("", remote));
        // `git@github.com:owner/name`, as git writes it.
        let separator = if scheme.is_empty() { ':' } else { '/' };
        let (authority, path) = address.split_once(separator)?;
        if !matches!(scheme, "" | "https" | "ssh" | "git+ssh") {
            return None;
        }
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let is_host =
            |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || ".-".contains(it);
        let is_port =
            |it: &str| (1..=5).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit());
        if !host.chars().all(is_host) || !host.contains('.') || !port.is_none_or(is_port) {
            return None;
        }
        let is_gitlab = is_of("gitlab", host);
        if !is_gitlab && !is_of("github", host) {
            return None;
        }
        // The port of ssh says nothing about that of the pages.
        let port = port.filter(|_| scheme == "https");
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let steps: Vec<&str> = path.split('/').collect();
        let is_deep_enough = if is_gitlab {
            steps.len() >= 2
        } else {
            steps.len() == 2
        };
        if !is_deep_enough || !steps.iter().all(|it| is_step(it)) {
            return None;
        }
        let port = port.map_or_else(String::new, |it| format!(":{it}"));
        Some(Self {
            base: format!("https://{host}{port}/{path}"),
            is_gitlab,
        })
    }

    /// The page of a commit; `None` where this is no id of one.
    pub fn commit(&self, id: &str) -> Option<String> {
        Some(format!("{}/commit/{}", self.pages(), known(id)?))
    }

    /// The page of what lies between two commits; `None` where they are one and the same, or no ids of commits.
    pub fn between(&self, before: &str, now: &str) -> Option<String> {
        let (before, now) = (known(before)?, known(now)?);
        (before != now).then(|| format!("{}/compare/{before}...{now}", self.pages()))
    }

    /// The page of a pull request or merge request.
    pub fn pull_request(&self, number: &str) -> Option<String> {
        let is_number =
            (1..=10).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit());
        let kind = if self.is_gitlab {
            "merge_requests"
        } else {
            "pull"
        };
        is_number.then(|| format!("{}/{kind}/{number}", self.pages()))
    }

    fn pages(&self) -> String {
        let dash = if self.is_gitlab { "/-" } else { "" };
        format!("{}{dash}", self.base)
    }
}

/// `github.com`, or a host of one's own that is called so: `github.example.org`.
fn is_of(name: &str, host: &str) -> bool {
    host.split('.').next() == Some(name)
}

fn is_step(step: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    !matches!(step, "" | "." | "..") && step != "-" && step.chars().all(is_plain)
}

/// The id of a commit, without the remark that files differed from it.
fn known(id: &str) -> Option<&str> {
    let id = id.strip_suffix(DIRTY).unwrap_or(id);
    (ID.contains(&id.len()) && id.bytes().all(|it| it.is_ascii_hexdigit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::Repository;

    const BEFORE: &str = "3f2c1ab000000000000000000000000000000000";
    const NOW: &str = "9d8e7f6000000000000000000000000000000000";

    #[test]
    fn repositories_of_github_and_gitlab_have_pages() {
        for (remote, between) in [
            ("git@github.com:a/b.git", "https://github.com/a/b/compare/"),
            (
                "ssh://git@github.com/a/b",
                "https://github.com/a/b/compare/",
            ),
            (
                "https://github.com/a/b.git/",
                "https://github.com/a/b/compare/",
            ),
            (
                "ssh://git@gitlab.example.org:2222/group/sub/b.git",
                "https://gitlab.example.org/group/sub/b/-/compare/",
            ),
            (
                "https://gitlab.com:8443/a/b",
                "https://gitlab.com:8443/a/b/-/compare/",
            ),
        ] {
            let repository = Repository::of(remote).unwrap_or_else(|| panic!("{remote}"));
            let expected = format!("{between}{BEFORE}...{NOW}");
            assert_eq!(repository.between(BEFORE, NOW), Some(expected), "{remote}");
        }
        let github = Repository::of("git@github.com:a/b.git").expect("it is one");
        assert_eq!(
            github.commit("9d8e7f6-dirty").as_deref(),
            Some("https://github.com/a/b/commit/9d8e7f6")
        );
        assert_eq!(
            github.pull_request("12").as_deref(),
            Some("https://github.com/a/b/pull/12")
        );
    }

    #[test]
    fn nothing_else_becomes_an_address() {
        for remote in [
            "javascript://github.com/a/b",
            "http://github.com/a/b",
            "https://github.com.evil.org:x/a/b",
            "https://evil.org/github.com/a",
            "https://github.com/a",
            "https://github.com/a/b/c",
            "https://github.com/a/../b",
            "https://github.com/a/b\"onclick=x",
            "https://github.com/a/b?x=1",
            "https://github/a/b",
            "https://bitbucket.org/a/b",
            "/srv/git/b",
            "",
        ] {
            assert_eq!(Repository::of(remote), None, "{remote}");
        }
        let github = Repository::of("https://github.com/a/b").expect("it is one");
        for id in ["main", "../..", "9d8e7f", "9d8e7f6\"", ""] {
            assert_eq!(github.commit(id), None, "{id}");
        }
        assert_eq!(github.between(NOW, NOW), None);
        assert_eq!(github.pull_request("1/../2"), None);
    }
}
