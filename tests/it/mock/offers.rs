//! What a server offers: lists and their pages, content of every kind, resources, prompts, completion.

use serde_json::{Value, json};

use super::client::Piped;
use crate::common::Project;

const OFFERS: &str = r#"
name: shop
title: The Shop
version: 2.0.0
instructions: Buy tea.
page_size: 2
tools:
  - name: a
    title: A
    description: The first.
    input_schema: { type: object, properties: { mime_type: { type: string } } }
    output_schema: { type: object, properties: { is_error: { type: boolean } } }
    annotations: { title: T, read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false }
    _meta: { some_key: { mime_type: x } }
    responses:
      - content:
          - "{}"
  - { name: b }
  - { name: c }
resources:
  - { uri: "note://a", name: note, title: Note, description: A note., mime_type: text/plain, size: 5, annotations: { priority: 0.5, last_modified: "2026-01-01T00:00:00Z" }, _meta: { some_key: 1 }, text: hello }
  - { uri: "note://b", blob: AAEC }
  - { uri: "note://c", json: { some_key: [1, 2.50, null] } }
  - { uri: "note://d", blob_file: data.bin }
resource_templates:
  - { uri_template: "item://{id}/{part}", name: item, mime_type: application/json, json: { id: "{{uri.id}}", all: "{{uri}}" }, complete: { id: [tea, team, coffee] } }
  - { uri_template: "file:///{+path}", text: "{{uri.path}} of {{args.uri}}" }
prompts:
  - name: greet
    title: Greet
    description: Says hello.
    _meta: { some_key: 1 }
    arguments:
      - { name: who, title: Who, description: Whom to greet, required: true, complete: [Ada, Alan, Grace] }
      - { name: how }
    messages:
      - content: "Hello {{args.who}}{{args.how}}"
      - { role: assistant, content: { type: image, mime_type: image/png, data_file: data.bin } }
"#;

fn offers() -> (Project, Piped) {
    let project = Project::new();
    project.file("data.bin", [0_u8, 255, 10, 13]);
    project.file("mock.yaml", OFFERS.replace("          - \"{}\"\n", CONTENT));
    let piped = Piped::start(&project, &["mock.yaml"]);
    (project, piped)
}

const CONTENT: &str = r#"
          - { text: "a,b\r\n\"1\",2\r\n" }
          - text: |2
              # Heading

                indented: yes   
          - { json: { mime_type: "{{args.mime_type}}", n: [1.0, 1e3, 0.10] } }
          - { type: image, data: AAAA, mime_type: image/png, annotations: { audience: [user], priority: 1, last_modified: "2026-01-01T00:00:00Z" } }
          - { type: audio, data_file: data.bin, mime_type: audio/wav, _meta: { is_error: { mime_type: y } } }
          - { type: resource, resource: { uri: "a:b", mime_type: text/csv, text: "x" } }
          - { type: resource, resource: { uri: "a:c", blob: AAEC } }
          - { type: resource_link, uri: "a:d", name: d, title: D, description: dd, mime_type: text/plain, size: 3 }
        structured_content: { is_error: true, mime_type: "{{args.mime_type}}", some_key: { input_schema: 1 } }
        _meta: { is_error: 1, "example.com/some_key": { mime_type: z } }
"#;

#[test]
fn content_of_every_kind_arrives_in_order_and_to_the_byte() {
    let (_project, mut piped) = offers();
    let result = piped.call("a", &json!({ "mime_type": "m \"q\" \\ \n {{x}}" }));
    let expected = json!({
        "content": [
            { "type": "text", "text": "a,b\r\n\"1\",2\r\n" },
            { "type": "text", "text": "# Heading\n\n  indented: yes   \n" },
            { "type": "text", "text": "{\"mime_type\":\"m \\\"q\\\" \\\\ \\n {{x}}\",\"n\":[1.0,1000.0,0.1]}" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": { "audience": ["user"], "priority": 1.0, "lastModified": "2026-01-01T00:00:00Z" } },
            { "type": "audio", "data": "AP8KDQ==", "mimeType": "audio/wav", "_meta": { "is_error": { "mime_type": "y" } } },
            { "type": "resource", "resource": { "uri": "a:b", "mimeType": "text/csv", "text": "x" } },
            { "type": "resource", "resource": { "uri": "a:c", "blob": "AAEC" } },
            { "type": "resource_link", "uri": "a:d", "name": "d", "title": "D", "description": "dd", "mimeType": "text/plain", "size": 3 },
        ],
        "structuredContent": { "is_error": true, "mime_type": "m \"q\" \\ \n {{x}}", "some_key": { "input_schema": 1 } },
        "_meta": { "is_error": 1, "example.com/some_key": { "mime_type": "z" } },
    });
    assert_eq!(result, expected);
}

#[test]
fn texts_stay_texts_and_values_keep_their_type() {
    let (_project, mut piped) = Piped::of(
        "tools: [{ name: a, responses: [{ content: [{ text: '{{args.n}}' }, { json: '{{args.n}}' }, { json: { n: '{{args.n}}' } }], structured_content: { n: '{{args.n}}', t: 'n={{args.n}}' } }] }]",
    );
    let result = piped.call("a", &json!({ "n": 3 }));
    let texts: Vec<&Value> = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["text"])
        .collect();
    assert_eq!(texts, ["3", "3", "{\"n\":3}"]);
    assert_eq!(result["structuredContent"], json!({ "n": 3, "t": "n=3" }));
}

#[test]
fn lists_come_in_pages_with_the_words_of_the_protocol() {
    let (_project, mut piped) = offers();
    let hello = piped.ask("initialize", &json!({}))["result"].clone();
    assert_eq!(
        hello["serverInfo"],
        json!({ "name": "shop", "title": "The Shop", "version": "2.0.0" })
    );
    assert_eq!(hello["instructions"], "Buy tea.");
    let expected = json!({
        "tools": { "supported": true, "listChanged": false },
        "resources": { "subscribe": true, "listChanged": false },
        "prompts": { "listChanged": false },
        "completions": {},
    });
    assert_eq!(hello["capabilities"], expected);
    let mut all = |method: &str, key: &str, pages: usize| {
        let mut entries = Vec::new();
        let mut params = json!({});
        for page in 1..=pages {
            let result = piped.ask(method, &params)["result"].clone();
            entries.extend(result[key].as_array().unwrap().clone());
            assert_eq!(
                result["nextCursor"].is_string(),
                page < pages,
                "{method}: {result}"
            );
            params = json!({ "cursor": result["nextCursor"] });
        }
        entries
    };
    let tools = all("tools/list", "tools", 2);
    let expected = json!({
        "name": "a", "title": "A", "description": "The first.",
        "inputSchema": { "type": "object", "properties": { "mime_type": { "type": "string" } } },
        "outputSchema": { "type": "object", "properties": { "is_error": { "type": "boolean" } } },
        "annotations": { "title": "T", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
        "_meta": { "some_key": { "mime_type": "x" } },
    });
    assert_eq!((tools.len(), &tools[0]), (3, &expected));
    assert_eq!(
        tools[1],
        json!({ "name": "b", "inputSchema": { "type": "object" } })
    );
    let resources = all("resources/list", "resources", 2);
    let expected = json!({
        "uri": "note://a", "name": "note", "title": "Note", "description": "A note.", "mimeType": "text/plain", "size": 5,
        "annotations": { "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z" }, "_meta": { "some_key": 1 },
    });
    assert_eq!((resources.len(), &resources[0]), (4, &expected));
    assert_eq!(
        resources[1],
        json!({ "uri": "note://b", "name": "note://b" })
    );
    let templates = all("resources/templates/list", "resourceTemplates", 1);
    assert_eq!(
        templates[0],
        json!({ "uriTemplate": "item://{id}/{part}", "name": "item", "mimeType": "application/json" })
    );
    let prompts = all("prompts/list", "prompts", 1);
    let expected = json!({
        "name": "greet", "title": "Greet", "description": "Says hello.",
        "arguments": [{ "name": "who", "title": "Who", "description": "Whom to greet", "required": true }, { "name": "how" }],
        "_meta": { "some_key": 1 },
    });
    assert_eq!(prompts, [expected]);
    let lost = piped.ask("tools/list", &json!({ "cursor": "nowhere" }));
    assert_eq!(lost["error"]["code"], -32602);
}

#[test]
fn resources_are_read() {
    let (_project, mut piped) = offers();
    let mut read = |uri: &str| piped.ask("resources/read", &json!({ "uri": uri }));
    let cases = [
        (
            "note://a",
            json!({ "uri": "note://a", "mimeType": "text/plain", "text": "hello" }),
        ),
        ("note://b", json!({ "uri": "note://b", "blob": "AAEC" })),
        (
            "note://c",
            json!({ "uri": "note://c", "text": "{\"some_key\":[1,2.5,null]}" }),
        ),
        ("note://d", json!({ "uri": "note://d", "blob": "AP8KDQ==" })),
        (
            "item://7/x",
            json!({ "uri": "item://7/x", "mimeType": "application/json", "text": "{\"id\":\"7\",\"all\":{\"id\":\"7\",\"part\":\"x\"}}" }),
        ),
        (
            "file:///a/b",
            json!({ "uri": "file:///a/b", "text": "a/b of file:///a/b" }),
        ),
    ];
    for (uri, expected) in cases {
        assert_eq!(
            read(uri)["result"],
            json!({ "contents": [expected] }),
            "{uri}"
        );
    }
    let missing = read("note://zzz")["error"].clone();
    assert_eq!(
        (&missing["code"], &missing["data"]),
        (&json!(-32002), &json!({ "uri": "note://zzz" }))
    );
    assert_eq!(
        piped.ask("resources/read", &json!({}))["error"]["code"],
        -32602
    );
}

#[test]
fn prompts_are_given_and_arguments_completed() {
    let (_project, mut piped) = offers();
    let got = piped.ask(
        "prompts/get",
        &json!({ "name": "greet", "arguments": { "who": "Ada" } }),
    );
    let expected = json!({ "description": "Says hello.", "messages": [
        { "role": "user", "content": { "type": "text", "text": "Hello Ada" } },
        { "role": "assistant", "content": { "type": "image", "data": "AP8KDQ==", "mimeType": "image/png" } },
    ] });
    assert_eq!(got["result"], expected);
    for params in [
        json!({}),
        json!({ "name": "nope" }),
        json!({ "name": "greet" }),
        json!({ "name": "greet", "arguments": [] }),
    ] {
        assert_eq!(
            piped.ask("prompts/get", &params)["error"]["code"],
            -32602,
            "{params}"
        );
    }
    let mut complete = |reference: Value, name: &str, value: &str| {
        let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
        piped.ask("completion/complete", &params)
    };
    let prompt = json!({ "type": "ref/prompt", "name": "greet" });
    let template = json!({ "type": "ref/resource", "uri": "item://{id}/{part}" });
    let cases = [
        (&prompt, "who", "a", json!(["Ada", "Alan"])),
        (&prompt, "who", "", json!(["Ada", "Alan", "Grace"])),
        (&prompt, "how", "", json!([])),
        (&template, "id", "tea", json!(["tea", "team"])),
    ];
    for (reference, name, value, expected) in cases {
        let completion = complete(reference.clone(), name, value)["result"]["completion"].clone();
        let total = expected.as_array().unwrap().len();
        assert_eq!(
            completion,
            json!({ "values": expected, "total": total, "hasMore": false })
        );
    }
    for reference in [
        json!(null),
        json!({ "type": "ref/prompt", "name": "nope" }),
        json!({ "type": "ref/other" }),
    ] {
        assert_eq!(complete(reference, "who", "")["error"]["code"], -32602);
    }
}

#[test]
fn what_is_not_declared_is_not_offered() {
    let (_project, mut piped) = Piped::of("tools: []");
    for method in [
        "resources/list",
        "resources/read",
        "prompts/list",
        "completion/complete",
        "logging/setLevel",
    ] {
        assert_eq!(
            piped.ask(method, &json!({}))["error"]["code"],
            -32601,
            "{method}"
        );
    }
}
