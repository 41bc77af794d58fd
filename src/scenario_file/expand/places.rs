//! The places in a scenario's description where `${…}` is allowed.

use std::path::PathBuf;

use crate::scenario_file::decode::{Place, Templates};
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind, SqlQuestion};
use crate::scenario_file::servers::{Server, Transport};

impl Templates for String {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Text(self));
    }
}

impl Templates for PathBuf {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Path(self));
    }
}

/// A name and its value.
impl<T: Templates> Templates for (String, T) {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        self.1.templates(visit);
    }
}

impl<T: Templates> Templates for Vec<T> {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        for it in self {
            it.templates(visit);
        }
    }
}

impl<T: Templates> Templates for Option<T> {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        if let Some(it) = self {
            it.templates(visit);
        }
    }
}

impl Templates for Server {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        match &mut self.transport {
            Transport::Stdio(start) => start.templates(visit),
            Transport::Http {
                style: _,
                url,
                headers,
                bearer_token_env,
                start,
                headers_command,
            } => {
                url.templates(visit);
                headers.templates(visit);
                start.templates(visit);
                headers_command.templates(visit);
                if let Some(name) = bearer_token_env {
                    visit(Place::Variable(name));
                }
            }
            Transport::Mock | Transport::Recorded { .. } => {}
        }
    }
}

impl Templates for Evaluator {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        match &mut self.kind {
            EvaluatorKind::Command(command) => command.run.templates(visit),
            EvaluatorKind::SqlValidate(it) => it.asked.templates(visit),
            _ => {}
        }
        for inner in self.kind.inner_mut() {
            inner.templates(visit);
        }
    }
}

impl Templates for SqlQuestion {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        self.database.templates(visit);
    }
}
