//! The way in which containers reach this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use super::session::Session;
use crate::docker::engine::Engine;
use crate::run::SetupError;

/// The name by which containers reach the machine of their engine where that runs in a machine of its own, as Docker Desktop does.
const HOST: &str = "host.docker.internal";

/// The way in which containers reach this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAccess {
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
    pub async fn host_access(&self) -> Result<HostAccess, SetupError> {
        let engine = self.engine().await?;
        if let Some(host) = engine.address.remote_host() {
            return Err(SetupError::new(format!(
                "the containers run on {host} and cannot reach a server on this machine: `upstreams` need an engine here"
            )));
        }
        Ok(match engine.gateway().await {
            Some(gateway) => HostAccess {
                host: gateway.to_string(),
                listen: gateway,
            },
            None => HostAccess {
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
        let parts = ipam.config?.into_iter();
        let mut addresses = parts.filter_map(|it| match it.gateway {
            Some(gateway) => gateway.parse().ok(),
            // An engine that was started for the first time names none, and has taken the first address.
            None => first_of(it.subnet.as_deref()?),
        });
        addresses.find(|it| TcpListener::bind((*it, 0)).is_ok())
    }
}

/// The first address for a machine in a network such as `172.17.0.0/16`.
fn first_of(subnet: &str) -> Option<IpAddr> {
    let (network, _) = subnet.split_once('/')?;
    match network.parse().ok()? {
        IpAddr::V4(it) => Some(Ipv4Addr::from_bits(it.to_bits().checked_add(1)?).into()),
        IpAddr::V6(it) => Some(Ipv6Addr::from_bits(it.to_bits().checked_add(1)?).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::first_of;

    #[test]
    fn the_engine_takes_the_first_address_of_its_network() {
        let of = |subnet| first_of(subnet).map(|it| it.to_string());
        assert_eq!(of("172.17.0.0/16").as_deref(), Some("172.17.0.1"));
        assert_eq!(of("fd00:1::/64").as_deref(), Some("fd00:1::1"));
        assert_eq!(of("255.255.255.255/32"), None);
        assert_eq!(of("bridge"), None);
    }
}
