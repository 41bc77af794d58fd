//! How two trajectories are compared: pure, two trajectories in, one comparison with reasons out.
//!
//! > Reads may vary, effects may not. The same request must get the same answer.
//!
//! For a baseline call and a current call of the same tool there are two questions: did the agent ask for the same
//! thing (`arguments`, `value`, `words`), and did the server answer the same (`response`, `json`, `mask`)? Calls are
//! paired (`align`, `assign`, `matching`), scored (`pairing`, `status`), and every point that is lost has a place
//! (`losses`); the `verdict` says in words what failed, with what changed in the tool catalogue (`drift`, `schema`) as
//! the cause where it is one.
//!
//! Some values differ because they must: ids a server makes up anew. `binding` tells which arguments come from earlier answers, `translate`
//! puts a run into its baseline's words (`terms`, `swap`), and `polls` and `settled` tell which calls merely asked again. `learn` learns
//! all that from several takes.
//!
//! Several runs of one scenario are summed up and gated on in `repeated`, by the formulas of [`statistics`].
//!
//! Nothing here recurses deeper than a fixed bound, and nothing takes quadratic time or memory beyond a fixed budget:
//! long lists are aligned within a band ([`compare()`] stays exact for few changes), and what a comparison keeps of the
//! two sides are short excerpts.

mod by_hand;
mod catalogue;
mod ids;
mod learn;
mod lists;
mod pairing;
mod request;
mod response;
mod runs;
mod scores;
mod text;
mod values;
mod verdict;
mod work;

pub use by_hand::learned::{check_tokens, unknown_places};
pub use by_hand::rules::{
    KnownCall, check_path, check_regex, idle_after, idle_rules, sweeping_rules,
};
pub use catalogue::likeness::{nearest_for_call, nearest_name, nearest_tool};
pub use ids::binding::fill;
pub use ids::binding::resolve;
pub use ids::binding::{find_bindings, with_rules};
pub use ids::swap::Swap;
pub use learn::{Disagreement, Learned, LeftBehind, learn, learn_until};
pub use pairing::call::only_reads;
pub use pairing::polls::{Poll, polls};
pub use response::breach::mark_breaches;
pub use response::in_band::in_band_error;
pub use runs::compare::{compare, compare_until, compare_variants, compare_variants_until};
pub use runs::expectation::{compare_with_expectation, expectation};
pub use runs::experiment::{experiment_changes, scenario_has_changed};
pub use runs::repeated::{gate, is_more_telling, summarise};
pub use runs::statistics;
pub use scores::settled::has_settled;
pub use scores::status::status;
pub use work::Cancelled;
