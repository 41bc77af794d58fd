//! Why a text is no recording of another tool.

/// Why a text is no recording of the original tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("it is cut off: it ends in the middle of its JSON")]
    CutOff,
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is not a recording of the original tool: {0}")]
    NotARecording(String),
    #[error("neither `execution_time` nor any message tells when it was recorded")]
    NoTime,
}
