//! The versions that the two sides ran on, in a line each: `baseline 3f2c1ab (v1.4.2, 12 Nov) → this run 9d8e7f6 (main, dirty)`.

use std::collections::HashMap;

use crate::moment;
use crate::repository::Repository;
use model::published::result::{ResultDocument, Side};
use model::{DIRTY, Git, ImageStamp};

/// How many different lines of one subject the index shows.
const LINES: usize = 4;

/// What is added to a version that a server tells of itself.
const SAID: &str = "self-reported";

/// The letters of a commit's id that are shown where git has not shortened it.
const SHORT: usize = 7;

/// One subject on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VersionLine {
    pub(super) subject: &'static str,
    pub(super) baseline: Option<Version>,
    pub(super) current: Option<Version>,
    /// Which of the two there are, known or not.
    pub(super) there: [bool; 2],
    /// Leads to what lies between the two commits.
    pub(super) between: Option<String>,
    /// How many scenarios have it; 0 where it is that of a single one.
    pub(super) scenarios: usize,
}

/// One version, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Version {
    /// `3f2c1ab`, or the name of an image or a server.
    pub(super) id: String,
    /// `v1.4.2, 12 Nov`; empty where there is nothing to add.
    pub(super) notes: String,
    /// Leads to the commit.
    pub(super) link: Option<String>,
    /// The commit as a whole, and where it is looked at.
    commit: Option<(String, Repository)>,
}

impl Version {
    fn new(id: String, notes: impl IntoIterator<Item = Option<String>>) -> Self {
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        Self {
            id,
            notes: notes.join(", "),
            link: None,
            commit: None,
        }
    }

    /// The same version, which is a commit and may be looked at somewhere.
    fn of_commit(self, commit: &str, repository: Option<Repository>) -> Self {
        Self {
            link: repository.as_ref().and_then(|it| it.commit(commit)),
            commit: repository.map(|it| (commit.to_owned(), it)),
            ..self
        }
    }
}

impl VersionLine {
    fn new(
        subject: &'static str,
        there: [bool; 2],
        [baseline, current]: [Option<Version>; 2],
    ) -> Option<Self> {
        let between = || {
            let (before, of) = baseline.as_ref()?.commit.as_ref()?;
            let (now, repository) = current.as_ref()?.commit.as_ref()?;
            // Of another repository, the two have no common history.
            (of == repository).then(|| repository.between(before, now))?
        };
        let between = between();
        (baseline.is_some() || current.is_some()).then_some(Self {
            subject,
            baseline,
            current,
            there,
            between,
            scenarios: 0,
        })
    }

    /// There is a baseline, and which version it was recorded on is not known.
    pub(super) fn has_unknown_baseline(&self) -> bool {
        self.there[0] && self.baseline.is_none()
    }

    /// The same of the run.
    pub(super) fn has_unknown_current(&self) -> bool {
        self.there[1] && self.current.is_none()
    }

    /// Both sides ran on the same.
    pub(super) fn is_same(&self) -> bool {
        self.baseline.is_some() && self.baseline == self.current
    }
}

/// The lines of one scenario, of which either side may be missing. `now` tells which year needs no mention.
pub(super) fn of_sides(
    baseline: Option<&Side>,
    current: Option<&Side>,
    now: &str,
) -> Vec<VersionLine> {
    let system = |side: Option<&Side>| side.and_then(|it| system(it, now));
    let scenarios = |side: Option<&Side>| side.and_then(|it| of_git(&it.stamp.scenarios, now));
    let sides = [baseline, current];
    let there = sides.map(|it| it.is_some());
    let lines = [
        VersionLine::new("System under test", there, sides.map(system)),
        VersionLine::new("Scenarios", there, sides.map(scenarios)),
    ];
    lines.into_iter().flatten().collect()
}

/// What tells one line from another: its subject, both versions, and which side there is.
type Sides = (&'static str, [Option<Version>; 2], [bool; 2]);

/// The lines of all scenarios, each once, those of most scenarios first, and how many more there are.
pub(super) fn of_all(result: &ResultDocument) -> (Vec<VersionLine>, usize) {
    let mut found: Vec<VersionLine> = Vec::new();
    let mut known: HashMap<Sides, usize> = HashMap::new();
    for scenario in &result.scenarios {
        let baseline = scenario.recorded_baseline(&result.command);
        for line in of_sides(baseline, scenario.current.as_ref(), &result.started_at) {
            let versions = [line.baseline.clone(), line.current.clone()];
            let key = (line.subject, versions, line.there);
            let at = *known.entry(key).or_insert_with(|| {
                found.push(line);
                found.len() - 1
            });
            found[at].scenarios += 1;
        }
    }
    let order = |it: &VersionLine| {
        (
            it.subject != "System under test",
            std::cmp::Reverse(it.scenarios),
        )
    };
    found.sort_by_key(order);
    let mut shown: HashMap<&'static str, usize> = HashMap::new();
    let all = found.len();
    found.retain(|it| {
        let count = shown.entry(it.subject).or_default();
        *count += 1;
        *count <= LINES
    });
    let more = all - found.len();
    (found, more)
}

/// The system under test: the commit of its repository, else what its image says of itself, else what its servers do.
fn system(side: &Side, now: &str) -> Option<Version> {
    let stamp = &side.stamp;
    let source = stamp.source.as_ref().and_then(|it| of_git(it, now));
    source
        .or_else(|| stamp.image.as_ref().map(of_image))
        .or_else(|| of_servers(side))
}

fn of_git(stamp: &Git, now: &str) -> Option<Version> {
    let it = stamp.commit()?;
    let describe = it.describe.as_ref();
    // A tag on an earlier commit says less than the branch.
    let tag = describe.filter(|tag| !is_after_tag(tag, &it.commit));
    let name = tag.or(it.branch.as_ref()).or(describe);
    let dirty = (it.dirty == Some(true)).then(|| "dirty".to_owned());
    let notes = [name.cloned(), moment::day(&it.committed_at, now), dirty];
    let repository = it.remote.as_deref().and_then(Repository::of);
    Some(Version::new(it.short.clone(), notes).of_commit(&it.commit, repository))
}

/// Whether a description is of a commit behind a tag, as `v1.4.2-3-g3f2c1ab` is of the third one; `v2.0-gamma` is a tag itself.
fn is_after_tag(describe: &str, commit: &str) -> bool {
    describe.rsplit_once("-g").is_some_and(|(tag, id)| {
        let count = tag.rsplit_once('-').map_or("", |it| it.1);
        let is_counted = !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit());
        is_counted && !id.is_empty() && commit.starts_with(id)
    })
}

fn of_image(image: &ImageStamp) -> Version {
    let is_id = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit());
    let revision = image.revision.as_deref();
    let (commit, is_dirty) = match revision.map(|it| (it, it.strip_suffix(DIRTY))) {
        Some((_, Some(commit))) => (Some(commit), true),
        Some((commit, None)) => (Some(commit), false),
        None => (None, false),
    };
    let Some(commit) = commit else {
        let id = image.id.strip_prefix("sha256:").unwrap_or(&image.id);
        let id = id.chars().take(12).collect::<String>();
        return Version::new(image.name.clone(), [image.version.clone(), Some(id)]);
    };
    let short = if is_id(commit) {
        commit.chars().take(SHORT).collect()
    } else {
        commit.to_owned()
    };
    let dirty = is_dirty.then(|| "dirty".to_owned());
    let notes = [
        image.version.clone(),
        Some(format!("image {}", image.name)),
        dirty,
    ];
    let repository = image.source.as_deref().and_then(Repository::of);
    Version::new(short, notes).of_commit(commit, repository)
}

/// What servers call themselves, where they have a version; our own mocks have none to speak of.
fn of_servers(side: &Side) -> Option<Version> {
    let named = side.servers.iter().filter_map(|it| {
        let (name, version) = (it.name.as_ref()?, it.version.as_ref()?);
        Some(format!("{name} {version}"))
    });
    let mut named: Vec<String> = named.collect();
    named.dedup();
    (!named.is_empty()).then(|| Version::new(named.join(", "), [Some(SAID.to_owned())]))
}

#[cfg(test)]
mod tests {
    use super::is_after_tag;

    #[test]
    fn a_tag_is_distinguished_from_what_comes_after_it() {
        let commit = "a3f2c1ab00000000000000000000000000000000";
        for tag in [
            "v1.4.2",
            "v2.0-gamma",
            "release-ga",
            "v1-2-gbeef",
            "v2-g",
            "x-1-g",
        ] {
            assert!(!is_after_tag(tag, commit), "{tag}");
        }
        for after in [
            "v1.4.2-3-ga3f2c1a",
            "release-ga-1-ga3f2c1ab0",
            "v2.0-gamma-12-ga3f2",
        ] {
            assert!(is_after_tag(after, commit), "{after}");
        }
    }
}
