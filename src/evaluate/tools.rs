//! Which tool a criterion means: by its bare name, or by its full one.

use crate::model::catalogue::{Catalogue, Tool};
use crate::model::trajectory::ToolCall;
use crate::score::{nearest_name, nearest_tool};

/// Whether a call is of this tool.
pub(super) fn is_called(call: &ToolCall, name: &str) -> bool {
    call.server.is_some() && (call.tool == name || call.full_name() == name)
}

/// Where a tool of this name is on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offer {
    /// By the run's servers; also where these list no tools at all, so that it is unknown.
    Now,
    /// Only by those of the baseline; with the most similar tool of the run, if there is one.
    Before(Option<String>),
    /// Neither by the run's servers nor by those of the baseline; with the name that may be meant.
    Never(Option<String>),
}

impl Offer {
    pub(super) fn of(name: &str, now: &Catalogue, before: Option<&Catalogue>) -> Self {
        let lists_nothing = |it: &Catalogue| it.servers.iter().all(|it| it.tools.is_empty());
        if offered(now, name).is_some() || lists_nothing(now) {
            return Self::Now;
        }
        if let Some(gone) = before.and_then(|it| offered(it, name)) {
            let listed = now.servers.iter().flat_map(|it| &it.tools);
            return Self::Before(nearest_tool(gone, listed).map(|it| it.name().to_owned()));
        }
        let all = before.into_iter().chain([now]);
        let names: Vec<(String, &str)> = all
            .flat_map(|it| &it.servers)
            .flat_map(|it| it.tools.iter().map(move |tool| (it, tool.name())))
            .map(|(it, tool)| (format!("mcp__{}__{tool}", it.server), tool))
            .collect();
        Self::Never(meant(name, &names))
    }
}

/// The name that an odd spelling stands for: a full one where the server is named, too.
fn meant(name: &str, names: &[(String, &str)]) -> Option<String> {
    let plain = |it: &str| {
        let it = it.to_lowercase();
        let it = it.strip_prefix("mcp").unwrap_or(&it);
        it.chars()
            .filter(|it| it.is_alphanumeric())
            .collect::<String>()
    };
    let wanted = plain(name);
    let spelled = names.iter().find_map(|(full, bare)| {
        let is_full = plain(full) == wanted;
        let is_bare = plain(bare) == wanted;
        match (is_full, is_bare) {
            (_, true) => Some((*bare).to_owned()),
            (true, false) => Some(full.clone()),
            (false, false) => None,
        }
    });
    let bare = || nearest_name(name, names.iter().map(|(_, bare)| *bare));
    let full = || nearest_name(name, names.iter().map(|(full, _)| full.as_str()));
    spelled.or_else(|| {
        let found = if name.starts_with("mcp__") {
            full()
        } else {
            bare()
        };
        found.map(str::to_owned)
    })
}

/// The tool of this name, where a server lists it.
fn offered<'c>(catalogue: &'c Catalogue, name: &str) -> Option<&'c Tool> {
    catalogue.servers.iter().find_map(|server| {
        let bare = name.strip_prefix("mcp__");
        let bare = bare.and_then(|it| it.strip_prefix(server.server.as_str())?.strip_prefix("__"));
        let mut tools = server.tools.iter();
        tools.find(|it| it.name() == name || bare == Some(it.name()))
    })
}
