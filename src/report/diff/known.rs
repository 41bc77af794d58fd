//! Parts of an answer that are known to vary, and so are no news.

/// The places of an answer that are known to vary.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Nothing of what differs in the answer counts: all of it is known to vary, or is not compared.
    pub all: bool,
    /// The places, step by step; `*` stands for any one step. What lies beneath varies, too.
    pub places: Vec<Vec<String>>,
    /// Words of texts that were something else each time they were received.
    pub words: Vec<String>,
}

impl Known {
    /// The steps of a place as reports write it: `/content/0/json/servers/3/id`.
    pub fn steps(path: &str) -> Vec<String> {
        let step = |it: &str| match it {
            "~2" => "**".to_owned(),
            it => it.replace("~1", "/").replace("~0", "~"),
        };
        path.split('/').skip(1).map(step).collect()
    }

    /// Whether what stands at a place is known to vary.
    pub(super) fn varies(&self, place: &[String]) -> bool {
        let covers = |known: &Vec<String>| {
            known.len() <= place.len()
                && (known.iter().zip(place)).all(|(known, step)| match known.as_str() {
                    "*" => true,
                    "**" => step == "*",
                    known => known == step,
                })
        };
        self.all || self.places.iter().any(covers)
    }

    /// Whether all these words of a text are known to vary.
    pub(super) fn vary<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> bool {
        if self.all {
            return true;
        }
        let mut words = words.into_iter().peekable();
        // Words that only came, or only went, have nothing to be recognized by.
        words.peek().is_some() && words.all(|it| self.has_word(it))
    }

    /// Whether a word is one that is known to vary.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|known| known.trim() == word.trim())
    }
}
