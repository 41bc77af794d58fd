//! Catalogues in the places of those that nobody names any more, and what else is to be known of all baselines for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::baselines::Baselines;
use super::catalogues::{Catalogues, name_of, number, numbered};
use super::files::{Beside, Held, StoreError, cannot_read, cannot_write, check_links, folder_of};
use super::read::load;
use crate::input;
use crate::model::{Redacted, ServerCatalogue, Trajectory};
use crate::published::trajectory::{
    CATALOGUES, is_measured, is_of_earlier_version, named_catalogues, to_json, to_named_json,
};

/// A catalogue by its place among those of a server: the server's own name has 1, `NAME-2` has 2.
type Family = BTreeMap<usize, Vec<PathBuf>>;

impl Catalogues {
    /// Which of them are named, and by which files.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a baseline cannot be read, so that nobody knows what it names.
    pub(super) fn named(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, StoreError> {
        let mut named: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let has_its_own = |it: &Path| it != self.root && it.join(CATALOGUES).is_dir();
        let entries = WalkDir::new(&self.root)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|it| it.file_name() != CATALOGUES && !has_its_own(it.path()));
        for entry in entries {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(&self.root).to_owned();
                cannot_read(&path, error.into())
            })?;
            let path = entry.path();
            if !entry.file_type().is_file() || !Baselines::is_accepted(path) {
                continue;
            }
            let text = input::read(path).map_err(|source| cannot_read(path, source))?;
            let all = named_catalogues(&text).map_err(|error| StoreError::Invalid {
                path: path.to_owned(),
                problem: error.to_string(),
            })?;
            for name in all {
                let by = named.entry(name).or_default();
                if by.last().is_none_or(|it| it != path) {
                    by.push(path.to_owned());
                }
            }
        }
        Ok(named)
    }

    /// Gives catalogues the places of those that nobody names any more: of those of a server, the one that most baselines name comes first.
    /// What cannot be done now is done the next time.
    fn settle(&self) -> Result<(), StoreError> {
        let Some(held) = self.hold()? else {
            return Ok(());
        };
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let named = self.named()?;
        for (name, by) in &named {
            let Ok(catalogue) = self.read(name) else {
                continue;
            };
            let own = name_of(&catalogue.server);
            if let Some(number) = number(&own, name) {
                families.entry(own).or_default().insert(number, by.clone());
            }
        }
        for (own, mut family) in families {
            let mut place = 1;
            while family.keys().any(|it| *it > place) {
                // One that cannot be read keeps its place, too.
                if !family.contains_key(&place) && !named.contains_key(&numbered(&own, place)) {
                    let later = family.range(place + 1..);
                    // Of those that as many name, the one whose first baseline comes first.
                    let most = later.max_by_key(|(_, by)| (by.len(), Reverse(by.first().cloned())));
                    let Some(from) = most.map(|it| *it.0) else {
                        break;
                    };
                    let by = family.remove(&from).unwrap_or_default();
                    self.move_to(&held, [&numbered(&own, from), &numbered(&own, place)], &by)?;
                    family.insert(place, by);
                }
                place += 1;
            }
            self.join(&held, &own, &family)?;
        }
        Ok(())
    }

    /// Puts a catalogue, which these baselines name, in another place, in which is nothing that is named.
    fn move_to(
        &self,
        held: &Held,
        [from, to]: [&str; 2],
        by: &[PathBuf],
    ) -> Result<(), StoreError> {
        let Ok(catalogue) = self.read(from) else {
            return Ok(());
        };
        self.write(to, &catalogue)?;
        let mut all = true;
        for path in by {
            all &= self.name_again(held, path)?;
        }
        if all { self.remove(from) } else { Ok(()) }
    }

    /// Makes baselines name the first of several equal catalogues: whoever was killed while moving one has left two.
    fn join(&self, held: &Held, own: &str, family: &Family) -> Result<(), StoreError> {
        let mut seen: Vec<ServerCatalogue> = Vec::new();
        for (number, by) in family {
            let Ok(catalogue) = self.read(&numbered(own, *number)) else {
                continue;
            };
            if seen.contains(&catalogue) {
                for path in by {
                    self.name_again(held, path)?;
                }
            }
            seen.push(catalogue);
        }
        Ok(())
    }

    /// Writes a baseline with the names that its catalogues have now; `false` where another process is writing there.
    fn name_again(&self, held: &Held, path: &Path) -> Result<bool, StoreError> {
        let Some(_writing) = Held::try_hold(folder_of(path)) else {
            return Ok(false);
        };
        let text = to_named_json(&load(path)?, |it| self.name(held, it))?;
        check_links(path, &self.root)?;
        let written = Beside::new(path, text.as_bytes())?;
        written.sync()?;
        written.put()?;
        Ok(true)
    }
}

impl Baselines {
    /// Where catalogues lie that a scenario's baseline names; `None` where it holds them itself, because it lies alone.
    fn catalogues(&self, scenario: &str) -> Option<Catalogues> {
        let folder = self.folder(scenario);
        let above = Catalogues::above(&folder);
        let above = above.filter(|it| self.single || it.root.starts_with(self.root()));
        above.or_else(|| (!self.single).then(|| Catalogues::new(self.root())))
    }

    /// A trajectory as the file of a baseline has it, and what lets nobody move the catalogues that it names until it is in its place. Where
    /// another process is at them for too long, it holds them itself.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a catalogue cannot be written.
    pub(super) fn text_of(
        &self,
        scenario: &str,
        trajectory: &Redacted<Trajectory>,
    ) -> Result<(String, Option<Held>), StoreError> {
        let Some(catalogues) = self.catalogues(scenario) else {
            return Ok((to_json(trajectory), None));
        };
        let behind = trajectory.upstream.iter().map(|it| &it.catalogue);
        let mut all = behind.chain([&trajectory.catalogue]);
        if all.all(|it| it.servers.is_empty()) {
            let none = |_: &ServerCatalogue| Ok::<_, StoreError>(String::new());
            return Ok((to_named_json(trajectory, none)?, None));
        }
        Ok(match catalogues.hold()? {
            Some(held) => {
                let text = to_named_json(trajectory, |it| catalogues.name(&held, it))?;
                (text, Some(held))
            }
            None => (to_json(trajectory), None),
        })
    }

    /// Gives catalogues the places of those that no baseline names any more, so that a reworded description is one changed catalogue once all
    /// baselines were accepted with it. For the end of a command that has accepted something; nothing else of it fails where this does, and
    /// the next one does what is left.
    pub fn settle(&self) {
        let found = if self.single {
            Catalogues::above(self.root())
        } else {
            Some(Catalogues::new(self.root()))
        };
        if let Some(found) = found.filter(|it| it.folder().is_dir()) {
            let _ = found.settle();
        }
    }

    /// The files of the catalogues that a scenario's accepted trajectories name. What cannot be read names none.
    pub fn catalogue_files(&self, scenario: &str) -> Vec<PathBuf> {
        let accepted = (1..=self.variants(scenario)).map(|it| self.variant_path(scenario, it));
        let files = accepted.filter_map(|path| {
            let names = named_catalogues(&input::read(&path).ok()?).ok()?;
            let found = Catalogues::above(folder_of(&path))?;
            let path = move |it: String| found.path(&it);
            Some(names.into_iter().map(path))
        });
        files.flatten().collect()
    }

    /// The catalogues that no baseline names, by the file of each.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a baseline cannot be read, so that nobody knows what it names.
    pub fn unnamed_catalogues(&self) -> Result<Vec<PathBuf>, StoreError> {
        let catalogues = Catalogues::new(self.root());
        if !catalogues.folder().is_dir() {
            return Ok(Vec::new());
        }
        let named = catalogues.named()?;
        let all = catalogues.names()?.into_iter();
        let unnamed = all.filter(|it| !named.contains_key(it));
        Ok(unnamed.map(|it| catalogues.path(&it)).collect())
    }

    /// Removes the catalogues that no baseline names, and returns the file of each.
    ///
    /// # Errors
    ///
    /// As [`Self::unnamed_catalogues`], and when one cannot be removed, or another process is at them.
    pub fn remove_unnamed_catalogues(&self) -> Result<Vec<PathBuf>, StoreError> {
        let catalogues = Catalogues::new(self.root());
        if !catalogues.folder().is_dir() {
            return Ok(Vec::new());
        }
        let Some(_held) = catalogues.hold()? else {
            let why = "another process is writing there: try again";
            return Err(cannot_write(&catalogues.folder(), io::Error::other(why)));
        };
        let unnamed = self.unnamed_catalogues()?;
        for path in &unnamed {
            let name = path.file_stem().and_then(|it| it.to_str());
            catalogues.remove(name.unwrap_or_default())?;
        }
        Ok(unnamed)
    }

    /// Writes an accepted trajectory, or its dialogue, that is in an earlier form as it is written now; `false` where it is so already.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when it cannot be read or written.
    pub fn upgrade(&self, scenario: &str, variant: usize) -> Result<bool, StoreError> {
        let path = self.variant_path(scenario, variant);
        let held = self.hold(scenario)?;
        let text = input::read(&path).map_err(|source| cannot_read(&path, source))?;
        if is_measured(&text) {
            return Ok(false);
        }
        let trajectory = load(&path)?;
        if !is_of_earlier_version(&text) {
            return if variant > 1 {
                Ok(false)
            } else {
                self.renew_dialogue(scenario, &trajectory)
            };
        }
        self.save_under(Some(&held), scenario, variant, &trajectory)?;
        Ok(true)
    }
}
