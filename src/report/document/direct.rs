//! What the servers under test do to the answers of those behind them, published.

use crate::model::direct::Direct;
use crate::published::result;

pub(super) fn direct(it: &Direct) -> result::Direct {
    result::Direct {
        totals: result::DirectTotals::of(&it.calls),
        calls: it.calls.clone(),
        tools: it.tools.clone(),
    }
}
