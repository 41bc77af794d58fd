//! The arguments of a call, in which texts may refer to earlier answers.

use crate::model::Object;
use crate::model::reference::Reference;
use crate::model::scenario::FilledText;
use crate::scenario_file::decode::{At, Decode, schema};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::Findings;

/// The arguments of a call, and where in them values of variables stand: what looks like a reference there is none.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Arguments {
    pub(in crate::scenario_file) object: Object,
    pub(in crate::scenario_file) filled: Vec<FilledText>,
    /// The calls that references in them lead to, counted from 0.
    pub(in crate::scenario_file) references: Vec<At<usize>>,
}

impl Decode for Arguments {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let mut arguments = Self {
            object: Object::decode(node, findings)?,
            ..Self::default()
        };
        find(node, &mut String::new(), findings, &mut arguments);
        Some(arguments)
    }
}

fn find(node: &Node, at: &mut String, findings: &Findings, arguments: &mut Arguments) {
    let mut step = |name: &str, node: &Node| {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        find(node, at, findings, arguments);
        at.truncate(length);
    };
    match &node.content {
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                step(&index.to_string(), item);
            }
        }
        Content::Map(entries) => entries.iter().for_each(|it| step(&it.key, &it.value)),
        Content::Text(text) => {
            let values = findings.filled(node.at);
            let references = Reference::all(text, values).into_iter();
            arguments.references.extend(references.map(|(_, it)| At {
                at: findings.find_word(node.at, &format!("calls.{}.", it.call)),
                value: it.call,
            }));
            if !values.is_empty() {
                arguments.filled.push(FilledText {
                    at: at.clone(),
                    values: values.to_vec(),
                });
            }
        }
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

schema!(Arguments, |generator| Object::json_schema(generator));
