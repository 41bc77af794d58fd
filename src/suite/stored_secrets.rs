//! Secrets that were taken out of a stored run: nobody can say any more what stood there, so that what depends on them is no verdict.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::placeholder::{holds, placeholders};
use crate::model::{Problem, Redacted, ShownText, Trajectory, texts};
use crate::redact::Shown;
use crate::scenario_file::Scenario;

/// What may have stood there: something as short, and something as long, as secrets are.
pub(super) const OTHERS: [&str; 2] = ["", "Qx4-Zk9_Wm2.Vt8/Lr5=Jn3+Hb6:Gd1"];

/// Stand for those without a name on either side. No placeholder has these letters, so that nothing is met by them and by it alike.
const OF_SCENARIO: &str = "q";
const OF_RUN: &str = "x";

/// Letters that no placeholder has, of which a name is made.
const RARE: [char; 4] = ['j', 'q', 'x', 'z'];

/// Why such a run has no verdict.
pub(super) fn unknown() -> Problem {
    Problem::new("secrets were taken out of this run, and what is expected of it depends on them")
        .hint("run the scenario again: a run that has just been made is judged by what was said")
}

/// Whether secrets were taken out of what was said in a run.
pub(super) fn were_taken_out(run: &Trajectory) -> bool {
    let mut were = false;
    let mut look = |text: &str| were |= holds(text);
    run.steps.iter().for_each(|it| it.each_text(&mut look));
    were
}

/// A scenario and a run of it with other secrets in the place of those that were taken out. One that was declared has its name, and is the
/// same in both; of the others, nobody knows which is which.
pub(super) fn with_others(
    scenario: &Redacted<Scenario>,
    run: &Redacted<Trajectory>,
    other: &str,
) -> (Redacted<Scenario>, Redacted<Trajectory>) {
    let scenario = scenario.derive(|it| {
        let mut scenario = it.clone();
        let put = |text: &mut String| put(text, other, OF_SCENARIO);
        scenario.each_text(&mut |it| match it {
            ShownText::Words(text) | ShownText::Name(text) => put(text),
            ShownText::Value(value) => texts::each_mut(value, &mut |it| put(it)),
            ShownText::Object(members) => members
                .values_mut()
                .for_each(|it| texts::each_mut(it, &mut |it| put(it))),
        });
        scenario
    });
    let mut run = run.clone();
    run.refine(|run| {
        let mut put = |text: &mut String| put(text, other, OF_RUN);
        run.steps
            .iter_mut()
            .for_each(|it| it.each_text_mut(&mut put));
    });
    (scenario, run)
}

fn put(text: &mut String, other: &str, side: &str) {
    let mut written = String::new();
    let mut from = 0;
    for placeholder in placeholders(text) {
        let declared = placeholder.name.filter(|it| it.contains('.'));
        let which = declared.map_or_else(|| Cow::from(side), |it| Cow::from(letters(it)));
        written.push_str(&text[from..placeholder.at.start]);
        written.push_str(other);
        written.push_str(&which);
        from = placeholder.at.end;
    }
    if from > 0 {
        written.push_str(&text[from..]);
        *text = written;
    }
}

/// A few letters that stand for a name.
fn letters(name: &str) -> String {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let bytes = hasher.finish().to_le_bytes();
    bytes.map(|it| RARE[usize::from(it % 4)]).iter().collect()
}
