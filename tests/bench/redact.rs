//! How long it takes to take secrets out of a large answer, beside merely parsing it.
//!
//! `cargo bench --bench redact`

#![expect(
    clippy::print_stdout,
    reason = "its figures are what a benchmark is for"
)]

use std::time::{Duration, Instant};

use mcp_eval::model::Redaction;
use mcp_eval::redact::{Redactor, Secrets};
use serde_json::{Value, json};

/// The size of an answer, in bytes.
const SIZE: usize = 5 * 1024 * 1024;

fn main() {
    let mut secrets = Secrets::default();
    secrets.declare("var.token", "", "canary-\"4f9d2c71b6\"&é");
    secrets.declare("env.API_KEY", "", "canary-header-90ab12cd34");
    let begun = Instant::now();
    let made = Redactor::new(&secrets, &Redaction::default());
    println!("a redactor for two secrets: {:.1?}", begun.elapsed());
    drop(made);
    for (shape, answer) in [
        ("records", records()),
        ("prose", prose()),
        ("records as text", Value::String(records().to_string())),
        ("numbers", (0..SIZE / 8).map(|it| json!(it)).collect()),
        ("secrets", hidden()),
        // Made to have each sign looked at for as long as can be.
        (
            "keys without end",
            Value::String("{\"password\": {\"x".repeat(SIZE / 17)),
        ),
        ("one long key", Value::String("sk-".repeat(SIZE / 3))),
        (
            "blocks without end",
            Value::String("-----BEGIN PRIVATE KEY-----\n".repeat(SIZE / 28)),
        ),
        (
            "blocks in a line",
            Value::String("-----BEGIN PRIVATE KEY-----".repeat(SIZE / 27)),
        ),
        (
            "quotes without end",
            Value::String("password=\" \\\"".repeat(SIZE / 13)),
        ),
    ] {
        let text = answer.to_string();
        let parsing = fastest(|| (), |()| serde_json::from_str::<Value>(&text).is_ok());
        for (what, secrets) in [
            ("nothing declared", &Secrets::default()),
            ("two declared", &secrets),
        ] {
            // Made once per run, and not per answer.
            let redactor = Redactor::new(secrets, &Redaction::default());
            let taking_out = fastest(|| answer.clone(), |it| redactor.value(it));
            let ratio = taking_out.as_secs_f64() / parsing.as_secs_f64();
            println!(
                "{shape}, {what}: {taking_out:.1?}, {ratio:.2} × parsing its {} MB",
                text.len() >> 20
            );
        }
    }
}

/// The fastest of several times, without what prepares it.
fn fastest<T, U>(prepare: impl Fn() -> T, work: impl Fn(T) -> U) -> Duration {
    let times = (0..7).map(|_| {
        let prepared = prepare();
        let begun = Instant::now();
        let done = std::hint::black_box(work(prepared));
        let took = begun.elapsed();
        drop(done);
        took
    });
    times.min().unwrap_or_default()
}

fn records() -> Value {
    let record = |id: usize| {
        json!({
            "id": id, "name": format!("item-{id}"), "description": "A lamp with a key ring, authored in 2024", "price": 12.5,
            "tags": ["light", "passenger", "tokenizer"], "url": format!("https://example.org/items/{id}?page=2"),
        })
    };
    let count = SIZE / record(10_000).to_string().len();
    (0..count).map(record).collect()
}

fn prose() -> Value {
    let sentence = "The keyboard of the author passes the password policy; tokens are counted, and Bearer authentication is basic. ";
    json!({ "text": sentence.repeat(SIZE / sentence.len()) })
}

fn hidden() -> Value {
    let record = |id: usize| json!({ "id": id, "password": format!("hunter-{id}"), "note": format!("key sk-ant-api03-{id:024}"), "text": "nothing to hide here, as in most answers" });
    let count = SIZE / record(10_000).to_string().len();
    (0..count).map(record).collect()
}
