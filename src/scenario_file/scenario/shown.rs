//! Texts of a scenario that may hold secrets where it is shown.

use crate::model::ShownText;
use crate::redact::Shown;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Criterion;
use crate::scenario_file::evaluators::Evaluator;
use crate::scenario_file::servers::AtPath;

impl Shown for Scenario {
    fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        let texts = std::iter::once(&mut self.name)
            .chain(&mut self.description)
            .chain(&mut self.user_intent)
            .chain(&mut self.turns);
        texts.for_each(|text| visit(ShownText::Words(text)));
        for call in &mut self.expected_trajectory {
            visit(ShownText::Name(&mut call.tool));
            visit(ShownText::Object(&mut call.arguments));
            let Some(expected) = &mut call.expect else {
                continue;
            };
            if let Some(text) = &mut expected.text {
                visit(ShownText::Words(text));
            }
            if let Some((_, AtPath::Equals(value))) = &mut expected.at {
                visit(ShownText::Value(value));
            }
        }
        for criterion in &mut self.success_criteria {
            if let Criterion::Text(text) | Criterion::Says(text) = criterion {
                visit(ShownText::Words(text));
            }
        }
        for evaluator in &mut self.evaluators {
            evaluator.each_text(visit);
        }
    }
}

impl Shown for Evaluator {
    fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        if let Some(name) = &mut self.name {
            visit(ShownText::Words(name));
        }
        self.kind.each_text(visit);
        for inner in self.kind.inner_mut() {
            inner.each_text(visit);
        }
    }
}
