//! The folder an agent's program works in: made for a run, removed with it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::model::agent::CommandFormat;

/// A temporary folder with the agent's configuration and an empty folder to work in.
#[derive(Debug)]
pub struct Workplace {
    folder: TempDir,
    /// Where in it the configuration is.
    config: &'static str,
}

impl Workplace {
    /// A place for an agent of this format.
    ///
    /// # Errors
    ///
    /// When there can be no such folder.
    pub fn new(format: CommandFormat) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("mcp-eval-").tempdir()?;
        fs::create_dir(folder.path().join("work"))?;
        let config = if format.is_configured_by_folder() {
            fs::create_dir(folder.path().join("work/.gemini"))?;
            "work/.gemini/settings.json"
        } else {
            "mcp.json"
        };
        Ok(Self { folder, config })
    }

    /// The configuration of the agent's MCP client, with the addresses of the servers. It is written when they are ready.
    pub fn mcp_config(&self) -> PathBuf {
        self.folder.path().join(self.config)
    }

    /// A folder to work in, with nothing in it but what the agent looks for there.
    pub(super) fn empty(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes the configuration, readable by this user alone.
    pub(super) fn write_config(&self, text: &str) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.mcp_config())?.write_all(text.as_bytes())
    }
}
