//! The cells of a matrix: the same scenarios, each run with every combination of some settings.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario that was run with one of several combinations of settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The id of the scenario without the cell, which is the same in all cells.
    pub scenario: String,
    pub settings: Vec<Setting>,
}

/// What one axis of the matrix has in a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// `agent` or `model`.
    pub name: String,
    pub value: String,
}

impl Cell {
    /// `model=a, agent=replay`.
    pub fn words(&self) -> String {
        let settings = self.settings.iter();
        let words = settings.map(|it| format!("{}={}", it.name, it.value));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The name of its folder beneath that of the scenario's baseline, which is the end of its id: `model=a,agent=replay`, with what is
    /// no part of a name, or would part it otherwise, written as `%2F`.
    pub fn folder(&self) -> String {
        let mut folder = String::new();
        for (index, it) in self.settings.iter().enumerate() {
            if index > 0 {
                folder.push(',');
            }
            let _ = write!(folder, "{}={}", it.name, escaped(&it.value));
        }
        folder
    }

    /// The cell that has this id; `None` where it does not end as one of a cell.
    pub fn of_id(id: &str) -> Option<Self> {
        let (scenario, folder) = id.rsplit_once('/')?;
        let settings = folder.split(',').map(|it| {
            let (name, value) = it.split_once('=')?;
            let is_name = !name.is_empty() && name.bytes().all(|it| it.is_ascii_lowercase());
            is_name.then(|| {
                Some(Setting {
                    name: name.to_owned(),
                    value: unescaped(value)?,
                })
            })?
        });
        let settings: Option<Vec<Setting>> = settings.collect();
        let cell = Self {
            scenario: scenario.to_owned(),
            settings: settings?,
        };
        // Two spellings of one id would be two baselines.
        (cell.folder() == folder).then_some(cell)
    }
}

fn is_plain(it: char) -> bool {
    it.is_alphanumeric() || "-_.:+@ ".contains(it)
}

fn escaped(value: &str) -> String {
    let mut text = String::new();
    for (at, it) in value.char_indices() {
        let is_edge = at == 0 || at + it.len_utf8() == value.len();
        if is_plain(it) && it != ':' && !(is_edge && " .".contains(it)) {
            text.push(it);
        } else {
            let mut bytes = [0; 4];
            for byte in it.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = rest.get(..2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Cell, Setting};

    fn cell(values: &[(&str, &str)]) -> Cell {
        let settings = values.iter().map(|(name, value)| Setting {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
        Cell {
            scenario: "shop/pay".to_owned(),
            settings: settings.collect(),
        }
    }

    #[test]
    fn an_id_tells_its_cell() {
        let values = [
            "a",
            "gpt-5.1",
            "openai/gpt",
            "a,b=c",
            "100%",
            "..",
            ".",
            " x ",
            "ü",
            "q:4",
            "",
        ];
        for value in values {
            let of = cell(&[("model", value), ("agent", "ollama")]);
            let id = format!("{}/{}", of.scenario, of.folder());
            assert_eq!(Cell::of_id(&id), Some(of), "{id}");
        }
        assert_eq!(
            cell(&[("model", "openai/a,b")]).folder(),
            "model=openai%2Fa%2Cb"
        );
    }

    #[test]
    fn other_ids_are_of_no_cell() {
        for id in [
            "pay",
            "shop/pay",
            "shop/a=b,c",
            "x/=a",
            "x/model=%4",
            "x/model=%61",
            "model=a",
        ] {
            assert_eq!(Cell::of_id(id), None, "{id}");
        }
    }
}
