//! The sections of a suite file.

use jiff::civil::Date;

use crate::model::suite_file::Bounds;
use crate::model::trouble::Trouble;
use crate::scenario_file::decode::values::{Amount, Count, Fraction, Timeout, Wait, Word};
use crate::scenario_file::decode::{At, Decode, Field, NO_HINT, Named, choose, schema, section};
use crate::scenario_file::servers::hook::HookSection;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// A suite: which scenarios run together, in what order, what is run around them, and what all of them must come to.
    SuiteSection {
        /// What the suite is for.
        description: Option<Field<String>>,
        /// The scenarios that begin first, in this order: ids, or patterns such as `flows/*`. All others come behind them.
        order: Option<Field<Vec<At<IdPattern>>>>,
        /// Which scenarios belong to it, by their tags; all of them unless given.
        tags: Option<Field<TagsSection>>,
        /// How many scenarios run at once; what suits them unless given. `--jobs` goes before.
        jobs: Option<Field<At<Count>>>,
        /// Whether no further scenario is started once one has not passed.
        fail_fast: Option<Field<bool>>,
        /// What is run again that could not be run or judged. What failed is not.
        retries: Option<Field<RetriesSection>>,
        /// Commands that are run once, one after another, before the first scenario.
        setup: Option<Field<Vec<HookSection>>>,
        /// Commands that are run once after the last scenario, however the scenarios ended.
        teardown: Option<Field<Vec<HookSection>>>,
        /// Scenarios that run, are reported, and decide nothing until a day.
        quarantine: Option<Field<Vec<QuarantineSection>>>,
        /// What all scenarios together must come to.
        gates: Option<Field<GatesSection>>,
    }
}

section! {
    /// Which scenarios belong to a suite, by their tags.
    TagsSection {
        /// Of these, a scenario has one.
        r#in: Option<Vec<At<Word>>>,
        /// Of these, it has none.
        out: Option<Vec<At<Word>>>,
    }
}

section! {
    /// What is run again that could not be run or judged.
    RetriesSection {
        /// What must have been the problem.
        on: At<Vec<TroubleWord>>,
        /// How often at most, after the first time; once unless given.
        times: Option<At<Count>>,
        /// How long to wait before the first of them; each further one waits twice as long as the one before. 1s unless given.
        backoff: Option<Wait>,
    }
}

section! {
    /// A scenario that runs, is reported, and decides nothing until a day.
    QuarantineSection {
        /// The id or the name of the scenario.
        name: At<Word>,
        /// Why it decides nothing, for those who read the report.
        reason: Word,
        /// The last day, such as 2026-12-31; from the next one on, in UTC, the scenario decides again.
        until: At<Day>,
    }
}

section! {
    /// What all scenarios together must come to. A bound that is just reached is kept.
    GatesSection {
        /// The lowest share of scenarios that passes, 0 to 1. Without it, all must.
        min_pass_rate: Option<Fraction>,
        /// What all requests to models may cost together, in the currency of the scenarios' prices.
        max_cost: Option<Amount>,
        /// How long all of it may take, from the first scenario to the last.
        max_duration: Option<Timeout>,
        /// The same for the scenarios with a tag.
        tags: Option<Named<BoundsSection>>,
    }
}

section! {
    /// What the scenarios with a tag must come to together.
    BoundsSection {
        /// The lowest share of them that passes, 0 to 1.
        min_pass_rate: Option<Fraction>,
        /// What their requests to models may cost together.
        max_cost: Option<Amount>,
        /// How long they may take, one after another.
        max_duration: Option<Timeout>,
    }
}

impl BoundsSection {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            min_pass_rate: self.min_pass_rate.map(|it| it.0),
            max_cost: self.max_cost.map(|it| it.0),
            max_duration: self.max_duration.map(|it| it.0),
        }
    }
}

impl GatesSection {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            min_pass_rate: self.min_pass_rate.map(|it| it.0),
            max_cost: self.max_cost.map(|it| it.0),
            max_duration: self.max_duration.map(|it| it.0),
        }
    }
}

/// What may stand in the way of a run, and not the next time.
#[derive(Debug, Clone, Copy)]
pub(super) struct TroubleWord(pub(super) Trouble);

const TROUBLES: [&str; 3] = ["transport", "rate_limit", "timeout"];

impl Decode for TroubleWord {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(&node.content, Content::Text(text) if text == "failed") {
            let message = "`failed` cannot be retried: that would hide what is broken now and then";
            let hint = "what could not be run or judged can: transport, rate_limit, timeout";
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(match choose(node, &TROUBLES, findings)? {
            "transport" => Trouble::Transport,
            "rate_limit" => Trouble::RateLimit,
            _ => Trouble::Timeout,
        }))
    }
}

schema!(TroubleWord, {"type": "string", "enum": TROUBLES});

/// A day, such as 2026-12-31.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day(pub(super) Date);

impl Decode for Day {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let written = node.as_written();
        // `Date` would also read the day of a moment, whose time nobody would look at.
        let day = written.parse::<Date>().ok();
        let day = day.filter(|_| written.len() == "2026-12-31".len());
        if day.is_none() {
            let message = format!("{} is not a date", quoted(&written));
            findings.error(node.at, message, Some("write it like 2026-12-31"));
        }
        day.map(Self)
    }
}

schema!(Day, {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"});

/// The id of a scenario, or a pattern of ids.
#[derive(Debug, Clone)]
pub(super) struct IdPattern(pub(super) String);

impl Decode for IdPattern {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Word(text) = Word::decode(node, findings)?;
        if let Err(error) = glob::Pattern::new(&text) {
            let message = format!("{} is not a valid pattern: {}", quoted(&text), error.msg);
            return findings.refuse(node.at, message, NO_HINT);
        }
        Some(Self(text))
    }
}

schema!(IdPattern, {"type": "string", "pattern": r"\S"});

/// A number that fits into the few bits it has; says so where it does not.
pub(super) fn up_to(count: &At<Count>, most: u16, findings: &mut Findings) -> Option<u16> {
    let at: Mark = count.mark();
    let number = u16::try_from(count.0).ok().filter(|it| *it <= most);
    if number.is_none() {
        findings.error(at, format!("expected a number from 1 to {most}"), NO_HINT);
    }
    number
}
