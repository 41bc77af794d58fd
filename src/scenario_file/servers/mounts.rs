//! What is mounted into a container.

use schemars::JsonSchema;

use crate::model::container::{Mount, MountSource};

use crate::scenario_file::decode::template::Template;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, NO_HINT, section, wrong_kind};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// Something mounted into the container. One of `source`, `volume` and `tmpfs` says what.
    MountFields, checked by check_mount {
        /// A file or folder of this machine, relative to this file.
        source: Option<Template<Word>>,
        /// A volume; one that is not there is made, and removed in the end.
        volume: Option<Template<Word>>,
        /// `true` for a file system in memory.
        tmpfs: Option<At<bool>>,
        /// An absolute path in the container.
        target: Template<Word>,
        /// Whether the container may not write to it.
        read_only: Option<bool>,
    }
}

/// A mount in one text, or in parts.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub(in crate::scenario_file) enum MountEntry {
    Text(Template<Word>),
    Fields(MountFields),
}

impl Decode for MountEntry {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = match &node.content {
            Content::Text(_) => Template::<Word>::decode(node, findings)?,
            Content::Map(_) => return Decode::decode(node, findings).map(Self::Fields),
            _ => return wrong_kind(node, "`SOURCE:TARGET` or a map", findings),
        };
        if parts(&text.0).is_none() {
            let hint = "write SOURCE:TARGET or SOURCE:TARGET:ro, with an absolute path as TARGET";
            return findings.refuse(node.at, "is not a mount", Some(hint));
        }
        Some(Self::Text(text))
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        match self {
            Self::Text(text) => text.templates(visit),
            Self::Fields(fields) => fields.templates(visit),
        }
    }
}

/// Source, target and whether it is read-only. A source may hold `${NAME:-default}`, so the colons are looked for from the end.
fn parts(text: &str) -> Option<(&str, &str, bool)> {
    let (text, read_only) = match text.strip_suffix(":ro") {
        Some(text) => (text, true),
        None => (text.strip_suffix(":rw").unwrap_or(text), false),
    };
    let (source, target) = text.rsplit_once(":/")?;
    let target = &text[text.len() - target.len() - 1..];
    (!source.is_empty() && !target.contains(':')).then_some((source, target, read_only))
}

/// Whether a source is a path of this machine, and no volume.
fn is_path(source: &str) -> bool {
    source.contains(['/', '$']) || source.starts_with('.')
}

/// The path at the start of `SOURCE:TARGET`, where it is one.
pub(in crate::scenario_file) fn source_of(text: &str) -> Option<&str> {
    parts(text).map(|it| it.0).filter(|it| is_path(it))
}

impl MountEntry {
    pub(in crate::scenario_file) fn mount(&self, findings: &Findings) -> Option<Mount> {
        let path = |at: Mark, path: &str| MountSource::Path(findings.folder(at).join(path));
        Some(match self {
            Self::Text(text) => {
                let (source, target, read_only) = parts(&text.0)?;
                Mount {
                    source: if is_path(source) {
                        path(text.at, source)
                    } else {
                        MountSource::Volume(source.to_owned())
                    },
                    target: target.to_owned(),
                    read_only,
                }
            }
            Self::Fields(fields) => Mount {
                source: match (&fields.source, &fields.volume) {
                    (Some(source), _) => path(source.at, &source.0),
                    (None, Some(volume)) => MountSource::Volume(volume.0.clone()),
                    (None, None) => MountSource::Memory,
                },
                target: fields.target.0.clone(),
                read_only: fields.read_only.unwrap_or(false),
            },
        })
    }
}

fn check_mount(mount: &MountFields, at: Mark, findings: &mut Findings) {
    let memory = mount.tmpfs.as_ref().is_some_and(|it| it.value);
    let kinds = [mount.source.is_some(), mount.volume.is_some(), memory];
    if kinds.into_iter().filter(|it| *it).count() != 1 {
        let message = "a mount needs exactly one of `source`, `volume` and `tmpfs: true`";
        findings.error(at, message, NO_HINT);
    }
    check_absolute(&mount.target, findings);
}

/// A path in the container is absolute.
pub(in crate::scenario_file) fn check_absolute(target: &At<Word>, findings: &mut Findings) {
    if !target.0.starts_with('/') && !target.0.starts_with('$') {
        let hint = "a path in the container starts with `/`";
        findings.error(target.at, "is not an absolute path", Some(hint));
    }
}
