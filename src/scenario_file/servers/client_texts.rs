//! What MCP clients write in the place of variables, as ours: `${NAME}`.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// How a client writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Codex: there are none, texts are taken as they are.
    Codex,
    /// Gemini CLI: `$NAME` and `${NAME}`.
    Gemini,
    /// Editors and all others: `${NAME}`, `${env:NAME}`, `${workspaceFolder}` and the like.
    Editor,
}

static DOLLAR_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$([A-Za-z_][A-Za-z0-9_]*)").ok());

/// What stands for something that only a running editor knows.
const OF_EDITORS: [&str; 14] = [
    "file",
    "fileBasename",
    "fileBasenameNoExtension",
    "fileExtname",
    "fileDirname",
    "fileDirnameBasename",
    "fileWorkspaceFolder",
    "relativeFile",
    "relativeFileDirname",
    "selectedText",
    "lineNumber",
    "columnNumber",
    "execPath",
    "defaultBuildTask",
];

impl Form {
    /// That of the client whose file this is.
    pub(super) fn of(path: &Path) -> Self {
        let folder = path.parent().and_then(Path::file_name);
        if path.extension().is_some_and(|it| it == "toml") {
            Self::Codex
        } else if folder.is_some_and(|it| it == ".gemini") {
            Self::Gemini
        } else {
            Self::Editor
        }
    }

    /// A text with what stands for variables written as ours.
    ///
    /// # Errors
    ///
    /// That something in it is known to the client alone.
    pub(super) fn as_ours(self, text: &str, project: &Path) -> Result<String, String> {
        match self {
            Self::Codex => Ok(text.replace("${", "$${")),
            Self::Gemini => Ok(DOLLAR_NAME.as_ref().map_or_else(
                || text.to_owned(),
                |it| it.replace_all(text, "$${${1}}").into_owned(),
            )),
            Self::Editor => of_editor(text, project),
        }
    }
}

fn of_editor(text: &str, project: &Path) -> Result<String, String> {
    let literal = |it: &str| it.replace("${", "$${");
    let mut ours = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((named, after)) = behind.split_once('}') else {
            break;
        };
        ours.push_str(before);
        let known = match named {
            _ if before.ends_with('$') => None,
            "workspaceFolder" | "cwd" => Some(literal(&project.to_string_lossy())),
            "workspaceFolderBasename" => {
                let name = project.file_name().unwrap_or_default();
                Some(literal(&name.to_string_lossy()))
            }
            "userHome" => Some("${HOME}".to_owned()),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
            _ if named.starts_with("input:") => {
                return Err(format!(
                    "`${{{named}}}` is something that an editor asks its user"
                ));
            }
            _ => named.strip_prefix("env:").map(|it| format!("${{{it}}}")),
        };
        let of_editor = ["config:", "command:", "workspaceFolder:"];
        let is_of_editor =
            OF_EDITORS.contains(&named) || of_editor.iter().any(|it| named.starts_with(it));
        if is_of_editor && !before.ends_with('$') {
            return Err(format!(
                "`${{{named}}}` is something that only a running editor knows"
            ));
        }
        ours.push_str(&known.unwrap_or_else(|| format!("${{{named}}}")));
        rest = after;
    }
    ours.push_str(rest);
    Ok(ours)
}
