//! Reports: values in, text out. Nothing here does I/O.
//!
//! [`document`] turns what a command found into the published result. Every other report is made from that
//! document alone (and, for the conversations on the HTML pages, from the two trajectories it names), so an old
//! `result.json` can be rendered again years later without running anything.
//!
//! | module | what it makes |
//! |---|---|
//! | [`document`] | the published result ([`model::published::result`]) of what a command found |
//! | [`terminal`] | the table and the reasons a person sees after a command |
//! | [`html`] | the index and one page per scenario |
//! | [`markdown`] | a comment on a pull request, and the summary of a job |
//! | [`measured`] | what is printed and written of searches and scanners that were measured |
//! | [`junit`], [`ctrf`] | what other tools read as the results of tests |
//! | [`github`] | annotations at the lines of scenario files |
//! | [`e2e`] | the lines that end-to-end tests look for |
//! | [`history`] | results over time: what is made of them, as text and as CSV |
//! | [`attention`] | how much a scenario needs to be looked at, and what there is to say about it |
//! | [`command`] | commands for the reader to go on with |
//! | [`explain`] | every number and rule behind one call's score |
//! | [`description`] | one sentence on who changed: the agent, the server or the catalogue |
//! | [`advice`] | what to do about a comparison, in a sentence |
//! | [`causes`] | what failed or changed, each root cause once for all scenarios |
//! | [`diff`] | what differs between two answers, in lines |
//! | [`direct`] | what servers did to the answers of those behind them, and what that cost, in words |
//! | [`repository`] | where the commits of a repository are looked at |
//! | [`method`] | how two values were compared, for people |
//! | `counts` | how many scenarios came out in which way, in words |
//! | [`bytes`], [`duration`], [`moment`], [`wrap`] | how sizes, times and long lines are written |

pub mod advice;
pub mod attention;
pub mod bytes;
pub mod causes;
pub mod command;
mod counts;
pub mod ctrf;
pub mod description;
pub mod deviations;
pub mod diff;
pub mod direct;
pub mod document;
pub mod duration;
pub mod e2e;
pub mod explain;
pub mod github;
pub mod history;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod measured;
pub mod method;
pub mod moment;
pub mod record;
pub mod repository;
pub mod terminal;
pub mod wrap;
