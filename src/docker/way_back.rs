//! How containers reach this machine.

use std::net::{IpAddr, Ipv4Addr, TcpListener};

use crate::docker::engine::Engine;
use crate::docker::session::Session;
use crate::run::SetupError;

/// The name by which containers reach the machine of their engine where that runs in a machine of its own, as Docker Desktop does.
const HOST: &str = "host.docker.internal";

/// How containers reach this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayBack {
    /// The name or address that this machine has for them.
    pub host: String,
    /// The address to listen at here.
    pub listen: IpAddr,
}

impl Session {
    /// How the containers of this session reach this machine.
    ///
    /// # Errors
    ///
    /// When there is no engine, or it runs on another machine.
    pub async fn way_back(&self) -> Result<WayBack, SetupError> {
        let engine = self.engine().await?;
        if let Some(host) = engine.address.remote_host() {
            return Err(SetupError::new(format!(
                "the containers run on {host} and cannot reach a server on this machine: `upstreams` need an engine here"
            )));
        }
        Ok(match engine.gateway().await {
            Some(gateway) => WayBack {
                host: gateway.to_string(),
                listen: gateway,
            },
            None => WayBack {
                host: HOST.to_owned(),
                listen: Ipv4Addr::LOCALHOST.into(),
            },
        })
    }
}

impl Engine {
    /// This machine's address on the network that containers are on by default, and which they reach from others, too; `None` where it
    /// is none of this machine's, because the engine has one of its own.
    async fn gateway(&self) -> Option<IpAddr> {
        let bridge = self.api.inspect_network("bridge", None);
        let ipam = self.ask(bridge).await.ok()?.ipam?;
        let gateways = ipam.config?.into_iter().filter_map(|it| it.gateway);
        let mut addresses = gateways.filter_map(|it| it.parse::<IpAddr>().ok());
        addresses.find(|it| TcpListener::bind((*it, 0)).is_ok())
    }
}
