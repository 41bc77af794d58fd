//! The form that asks for the token, and the page that says why not.

use askama::Template;

use super::frame::Frame;
use crate::report::html::render::render;

#[derive(Template)]
#[template(path = "dashboard/sign_in.html", config = "templates/askama.toml")]
struct SignInPage<'a> {
    problem: Option<&'a str>,
}

/// The form that asks for the token; with what was wrong before.
pub fn sign_in(problem: Option<&str>) -> String {
    render(&SignInPage { problem })
}

#[derive(Template)]
#[template(path = "dashboard/problem.html", config = "templates/askama.toml")]
struct ProblemPage<'a> {
    frame: Frame<'a>,
    title: &'a str,
    message: &'a str,
    findings: &'a [String],
}

/// Why something was not done, in a sentence, with all that is wrong.
pub fn problem(frame: Frame<'_>, title: &str, message: &str, findings: &[String]) -> String {
    render(&ProblemPage {
        frame,
        title,
        message,
        findings,
    })
}
