//! What the servers under test do to the answers of those behind them, published.

use crate::model::direct::{Cost, Direct, DirectCall, DirectTool};
use crate::model::points::finite;
use crate::published::result;

pub(super) fn direct(it: &Direct) -> result::Direct {
    let calls: Vec<_> = it.calls.iter().map(call).collect();
    result::Direct {
        totals: result::DirectTotals::of(&calls),
        calls,
        tools: it.tools.iter().map(tool).collect(),
    }
}

fn call(it: &DirectCall) -> result::DirectCall {
    result::DirectCall {
        call: it.call,
        tool: it.tool.clone(),
        server: it.server.clone(),
        upstream_tool: it.upstream_tool.clone(),
        findings: it.findings.clone(),
        through: cost(it.through),
        straight: cost(it.direct),
    }
}

fn cost(it: Cost) -> result::Cost {
    result::Cost {
        ms: it.ms.and_then(finite),
        bytes: it.bytes,
        tokens: it.tokens,
    }
}

fn tool(it: &DirectTool) -> result::DirectTool {
    result::DirectTool {
        server: it.server.clone(),
        tool: it.tool.clone(),
        listed_as: it.listed_as.clone(),
        findings: it.findings.clone(),
    }
}
