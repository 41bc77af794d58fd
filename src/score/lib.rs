//! The comparison of two trajectories: pure, two trajectories in, one comparison with reasons out.
//!
//! > Reads may vary, effects may not. The same request must get the same answer.
//!
//! | Question | Room |
//! | --- | --- |
//! | Did the agent ask for the same thing? | `request` |
//! | Did the server answer the same? | `response` |
//! | Which calls belong together, and what is one call? | `pairing` |
//! | Which ids, tokens and paths stand for the recorded ones? | `ids` |
//! | What is a pair worth, and where were points lost? | `scores` |
//! | What changed in the tools that are offered, and what could one be asked with? | `catalogue` |
//! | Did the same calls become the same ones behind the server? | `upstream` |
//! | Passed or not, and why? | `verdict` |
//! | How do whole runs compare, one or several? | `runs` |
//! | What do several takes show to vary? | `learn` |
//! | What was written by hand that has no effect? | `by_hand` |
//! | What does a proxy do to answers on their way? | `direct` |
//!
//! They rest on three rooms that know nothing of calls: `text`, `lists` and `values`, and on `work`, which counts what a comparison may
//! cost. The rooms need each other in one direction:
//!
//! ```text
//! runs ► learn, verdict ► catalogue
//!   │      └─► upstream ─┐
//!   └──────────────────► scores ► ids ► pairing ► request, response ► text ► lists ► values
//! learn ► by_hand, upstream, ids
//! ```
//!
//! Nothing here recurses deeper than a fixed bound, and nothing takes quadratic time or memory beyond a fixed budget:
//! long lists are aligned within a band ([`compare()`] stays exact for few changes), and what a comparison keeps of the
//! two sides are short excerpts.

mod by_hand;
mod catalogue;
mod direct;
mod ids;
mod learn;
mod lists;
mod pairing;
mod request;
mod response;
mod runs;
mod scores;
mod text;
mod upstream;
mod values;
mod verdict;
mod work;

pub use by_hand::learned::{check_tokens, unknown_places};
pub use by_hand::rules::{KnownCall, check_path, idle_after, idle_rules, sweeping_rules};
pub use catalogue::drift::is_renamed;
pub use catalogue::guess::{Guess, guess_arguments, other_arguments};
pub use catalogue::likeness::{nearest_for_call, nearest_name, nearest_tool};
pub use direct::direct;
pub use ids::binding::{fill, find_bindings, leave_out_literals, read_answer, resolve, with_rules};
pub use ids::id_translation::IdTranslation;
pub use learn::by_kind::by_kind;
pub use learn::{
    Disagreement, Learned, LearnedUpstream, LeftBehind, carry_over, follow, learn, learn_until,
    let_vary, varies_beyond_time, ways_to_ignore,
};
pub use pairing::call::only_reads;
pub use response::breach::mark_breaches;
pub use response::in_band::in_band_error;
pub use runs::compare::{compare, compare_until, compare_variants};
pub use runs::expectation::{compare_with_expectation, expectation};
pub use runs::experiment::{experiment_changes, scenario_has_changed};
pub use runs::mix::is_of_substance;
pub use runs::recorded_again::{Recording, has_answer, recorded_again};
pub use runs::repeated::{gate, is_more_relevant, summarise};
pub use runs::unsteady::unsteady;
pub use runs::{sign_test, statistics};
pub use scores::final_answer::is_final_answer;
pub use scores::polls::{Poll, polls};
pub use scores::status::{call_failure, status};
pub use values::same::same;
pub use work::Cancelled;
