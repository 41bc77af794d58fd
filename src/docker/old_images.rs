//! Images that the program has built and needs no more, and the space they take.

use std::collections::{HashMap, HashSet};

use bollard::models::ImageSummary;
use bollard::query_parameters::ListImagesOptions;
use jiff::Timestamp;

use crate::docker::build::PREFIX;
use crate::docker::engine::{Engine, EngineError};
use crate::docker::leftovers::{BUILT, Kind, Left, Why, name};
use crate::run::SetupError;

/// Which of the images that we have built are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those whose name has gone to a newer build.
    Replaced,
    /// Those, too, that were built of another state of what they are made of than the one that was built or used last: of this name, or of
    /// all names.
    Old(Option<String>),
}

/// Images of ours, and how much space they take.
#[derive(Debug)]
pub struct OldImages {
    /// An image that has several tags is there once for each.
    pub left: Vec<Left>,
    /// The image that each of `left` names, by its id.
    named: Vec<String>,
    /// Every image of the engine.
    all: HashMap<String, Image>,
}

#[derive(Debug)]
struct Image {
    /// How many tags it has; 1 where it has none.
    names: usize,
    layers: Vec<Layer>,
}

/// A layer of an image, as its history tells it: when it was made, by what, and how many bytes it has. What two images have in common of
/// this, they have in common.
type Layer = (i64, String, u64);

impl OldImages {
    /// How many images are gone, and how many bytes are free, when those of `left` are removed that are at these places. What images that
    /// stay have in common with them stays.
    pub fn without(&self, places: &[usize]) -> (usize, u64) {
        let mut removed: HashMap<&str, usize> = HashMap::new();
        for id in places.iter().filter_map(|it| self.named.get(*it)) {
            *removed.entry(id).or_default() += 1;
        }
        let is_gone =
            |id: &str| (self.all.get(id)).is_some_and(|it| removed.get(id) == Some(&it.names));
        let layers = |gone: bool| -> HashSet<&Layer> {
            let images = self.all.iter().filter(|(id, _)| is_gone(id) == gone);
            images.flat_map(|(_, it)| &it.layers).collect()
        };
        let images = self.all.keys().filter(|it| is_gone(it)).count();
        let (gone, staying) = (layers(true), layers(false));
        (images, gone.difference(&staying).map(|it| it.2).sum())
    }
}

impl Engine {
    /// Images that we have built and that are needed no more. `going` are containers that are removed before them.
    ///
    /// # Errors
    ///
    /// When the engine does not answer.
    pub async fn old_images(&self, which: &Which, going: &[Left]) -> Result<OldImages, SetupError> {
        self.find_old_images(which, going).await.map_err(|error| {
            SetupError::new(format!("the engine's images cannot be listed: {error}"))
        })
    }

    async fn find_old_images(
        &self,
        which: &Which,
        going: &[Left],
    ) -> Result<OldImages, EngineError> {
        let ours = self.images(Some(BUILT)).await?;
        let used = self.used_images(going).await?;
        let left = |image: &ImageSummary, (id, name): (&str, String), why: Why| {
            let container = used.get(&image.id);
            let why = container.map_or(why, |it| Why::UsedBy(it.clone()));
            let (kind, id) = (Kind::Image, id.to_owned());
            let left = Left {
                kind,
                id,
                name,
                why,
            };
            (left, image.id.clone())
        };
        let mut found: Vec<(Left, String)> = Vec::new();
        for image in ours.iter().filter(|it| is_untagged(it)) {
            let short = image.id.chars().take(19).collect();
            found.push(left(image, (image.id.as_str(), short), Why::Replaced));
        }
        if let Which::Old(name) = which {
            let wanted = |it: &str| {
                (name.as_ref())
                    .is_none_or(|name| it == name || it.strip_prefix(PREFIX) == Some(name))
            };
            let mut tagged: Vec<(&str, &str, &ImageSummary)> = Vec::new();
            for image in &ours {
                // A name that somebody else gave it is not ours to take.
                let names = image
                    .repo_tags
                    .iter()
                    .filter_map(|it| Some((it.as_str(), it.rsplit_once(':')?.0)));
                let names = names.filter(|(_, it)| it.starts_with(PREFIX) && wanted(it));
                tagged.extend(names.map(|(tag, name)| (tag, name, image)));
            }
            let newest = self.newest(&tagged).await?;
            for (tag, name, image) in tagged {
                if newest.get(name).is_some_and(|it| it == &image.id) {
                    continue;
                }
                found.push(left(image, (tag, tag.to_owned()), Why::Older));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        let all = if found.is_empty() {
            HashMap::new()
        } else {
            self.layers().await?
        };
        let (left, named) = found.into_iter().unzip();
        Ok(OldImages { left, named, all })
    }

    /// The image of each name that was built or used last.
    async fn newest(
        &self,
        tagged: &[(&str, &str, &ImageSummary)],
    ) -> Result<HashMap<String, String>, EngineError> {
        let mut newest: HashMap<String, ((Option<Timestamp>, i64), String)> = HashMap::new();
        for (tag, name, image) in tagged {
            let inspected = match self.ask(self.api.inspect_image(tag)).await {
                Ok(it) => it,
                // Somebody has removed it meanwhile.
                Err(EngineError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            // What is built of nothing but what the engine has in its cache was made long ago, and got its name now.
            let named = inspected.metadata.and_then(|it| it.last_tag_time);
            let named = named.and_then(|it| it.parse::<Timestamp>().ok());
            let time = (named, image.created);
            if newest.get(*name).is_none_or(|(best, _)| *best < time) {
                newest.insert((*name).to_owned(), (time, image.id.clone()));
            }
        }
        Ok(newest
            .into_iter()
            .map(|(name, (_, id))| (name, id))
            .collect())
    }

    /// The images that containers are made of, running or not, each with the name of one of them.
    async fn used_images(&self, going: &[Left]) -> Result<HashMap<String, String>, EngineError> {
        let containers = self.containers(Vec::new()).await?.into_iter();
        let staying =
            containers.filter(|it| !going.iter().any(|left| Some(&left.id) == it.id.as_ref()));
        let used = staying.map(|it| (it.image_id.clone().unwrap_or_default(), name(&it)));
        Ok(used.collect())
    }

    async fn images(&self, label: Option<&str>) -> Result<Vec<ImageSummary>, EngineError> {
        let filters = label.map(|it| HashMap::from([("label".to_owned(), vec![it.to_owned()])]));
        let options = ListImagesOptions {
            filters,
            ..ListImagesOptions::default()
        };
        self.ask(self.api.list_images(Some(options))).await
    }

    /// The layers of every image.
    async fn layers(&self) -> Result<HashMap<String, Image>, EngineError> {
        let mut all = HashMap::new();
        for image in self.images(None).await? {
            let history = match self.ask(self.api.image_history(&image.id)).await {
                Ok(it) => it,
                Err(EngineError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            let layers = history
                .into_iter()
                .filter_map(|it| Some((it.created, it.created_by, u64::try_from(it.size).ok()?)));
            let names = if is_untagged(&image) {
                1
            } else {
                image.repo_tags.len()
            };
            let layers = layers.collect();
            all.insert(image.id, Image { names, layers });
        }
        Ok(all)
    }
}

/// Whether an image has no name; engines of old say so by a tag of that meaning.
fn is_untagged(image: &ImageSummary) -> bool {
    image.repo_tags.iter().all(|it| it == "<none>:<none>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(names: usize, layers: &[(&str, u64)]) -> Image {
        let layers = layers.iter().map(|(by, size)| (1, (*by).to_owned(), *size));
        Image {
            names,
            layers: layers.collect(),
        }
    }

    #[test]
    fn freed_is_what_no_image_that_stays_has() {
        let base = ("base", 1_000);
        let images = OldImages {
            left: Vec::new(),
            named: ["old", "twice", "twice", "gone"].map(str::to_owned).into(),
            all: HashMap::from([
                (
                    "old".to_owned(),
                    image(1, &[base, ("both", 20), ("old", 3)]),
                ),
                (
                    "twice".to_owned(),
                    image(2, &[base, ("both", 20), ("twice", 5)]),
                ),
                ("stays".to_owned(), image(1, &[base, ("stays", 7)])),
            ]),
        };
        assert_eq!(images.without(&[]), (0, 0));
        // What `twice` has in common with it stays.
        assert_eq!(images.without(&[0]), (1, 3));
        // One of its two names is gone: the image is still there.
        assert_eq!(images.without(&[1]), (0, 0));
        assert_eq!(images.without(&[1, 2]), (1, 5));
        // What both have is freed once.
        assert_eq!(images.without(&[0, 1, 2]), (2, 28));
        // Somebody else was faster.
        assert_eq!(images.without(&[3]), (0, 0));
    }
}
