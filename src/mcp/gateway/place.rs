//! Where a gateway is reached.

use crate::http_server::unguessable;
use crate::run::SetupError;

/// Where a gateway is reached. Whoever reaches it asks the servers with the keys of the scenario, so its address has a part that only those
/// know who are told: the agent through its configuration, or the person whose session is recorded.
#[derive(Debug, Clone)]
pub struct GatewayPlace {
    /// A free one unless given.
    pub port: Option<u16>,
    /// The first segment of every path; nobody guesses it, and it is to be shown to nobody else.
    pub secret: String,
}

impl GatewayPlace {
    /// A place that nobody knows yet.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn new(port: Option<u16>) -> Result<Self, SetupError> {
        let secret = unguessable().map_err(|error| {
            SetupError::new(format!("the gateway cannot have a secret address: {error}"))
        })?;
        Ok(Self { port, secret })
    }
}
