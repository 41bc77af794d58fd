//! Times in the elements of a list that all moved alike: one change, judged as the one nearest to its call.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::text::clock::Moved;
use crate::text::excerpt;
use model::response::Edit;

use super::Walk;

impl<'a> Walk<'a> {
    /// Judges times at one place of the elements of two lists together where they moved alike; they are then excused one by one.
    pub(super) fn moved_alike(
        &mut self,
        (b, c): (&'a [Value], &'a [Value]),
        pairs: &[(usize, usize)],
        key: &str,
    ) {
        /// The times of one place on both sides.
        type Times<'v> = Vec<(&'v Value, &'v Value)>;
        let mut places: BTreeMap<&str, Times<'a>> = BTreeMap::new();
        for (i, j) in pairs {
            match (&b[*i], &c[*j]) {
                (Value::Object(of_b), Value::Object(of_c)) => {
                    let both = of_b
                        .iter()
                        .filter_map(|(key, it)| Some((key, it, of_c.get(key)?)));
                    for (key, was, is) in both.filter(|(_, was, _)| was.is_string()) {
                        places.entry(key).or_default().push((was, is));
                    }
                }
                (was @ Value::String(_), is) => places.entry(key).or_default().push((was, is)),
                _ => {}
            }
        }
        for (key, times) in places {
            let texts: Option<Vec<(&str, &str)>> = (times.iter())
                .map(|(was, is)| Some((was.as_str()?, is.as_str()?)))
                .collect();
            let Some(texts) =
                texts.filter(|it| it.len() > 1 && it.iter().all(|(was, is)| was != is))
            else {
                continue;
            };
            let edit = match self.spot.known.clock.judge_all(&texts, key) {
                None | Some(Moved::No) => continue,
                Some(Moved::Same | Moved::Quiet) => None,
                Some(Moved::WithTheClock) => Some(Edit::odd("moved with the clock")),
                Some(Moved::Otherwise) => Some(Edit::odd("another moment")),
            };
            self.excused
                .extend(times.iter().map(|(_, is)| std::ptr::from_ref::<Value>(is)));
            if let Some(edit) = edit {
                let both = excerpt::of_texts(texts[0].0, texts[0].1);
                self.notes.tolerate(&self.spot, edit, both);
            }
        }
    }
}
