//! The pages of the dashboard of the test server, and what it puts around the pages of the report. Values in, text out, as all here.

mod frame;
mod home;
mod pages;

pub use self::frame::{Around, Frame, Pending, PendingCause};
pub use self::home::{Broken, Home, Refused, Running, ScenarioLine, Waits, home, script_hash};
pub use self::pages::{problem, result, sign_in, style_hash};

/// The version that the pages name.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
