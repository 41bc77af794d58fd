//! The pages of the dashboard of the test server, and what it puts around the pages of the report. Values in, text out, as all here.

mod around;
mod frame;
mod home;
mod pending;
mod result;
mod small;
mod style;

pub use self::around::Around;
pub use self::frame::Frame;
pub use self::home::{Broken, Home, Running, ScenarioLine, Waits, home, script_hash};
pub use self::pending::Pending;
pub use self::result::result;
pub use self::small::{problem, sign_in};
pub use self::style::style_hash;

/// The version that the pages name.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
