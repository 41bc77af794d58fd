//! Where an agent's program works: a folder for a run, gone with it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

/// A temporary folder with the agent's configuration and an empty folder to work in.
#[derive(Debug)]
pub struct Workplace {
    folder: TempDir,
}

impl Workplace {
    /// # Errors
    ///
    /// When there can be no such folder.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("mcp-eval-").tempdir()?;
        fs::create_dir(folder.path().join("work"))?;
        Ok(Self { folder })
    }

    /// The file that tells the agent's MCP client where the servers are; it is written when they are ready.
    pub fn mcp_config(&self) -> PathBuf {
        self.folder.path().join("mcp.json")
    }

    /// An empty folder to work in.
    pub(super) fn empty(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes the configuration, for nobody else to read.
    pub(super) fn write_config(&self, text: &str) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.mcp_config())?.write_all(text.as_bytes())
    }
}
