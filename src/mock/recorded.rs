//! A mock server made from a recorded trajectory.

use crate::model::Object;
use crate::model::interactions::MockTool;

/// What to say when none of a recorded tool's calls has these arguments: the nearest one, and how it differs. `None` for a tool
/// that was declared rather than recorded.
pub(super) fn nearest(_tool: &MockTool, _arguments: &Object) -> Option<String> {
    None
}
