//! Arguments for a call that nobody has made yet, as far as the tool's schema says what it takes.

use serde_json::{Value, json};

use model::{Object, Tool};

use super::refusal;
use super::schema::node::Node;

/// How deep required members are filled in.
const DEPTH: usize = 6;
/// The most required members of one object that are filled in, and the most alternatives that are tried at one place.
const MEMBERS: usize = 50;
const BRANCHES: usize = 8;
/// The longest arguments that anybody wants to read in a scenario, as JSON, in bytes.
const LONGEST: usize = 2_000;
/// How many other arguments are known of a tool at most.
const OTHERS: usize = 3;
/// What stands for a text that nobody can guess.
const SOME_TEXT: &str = "...";

/// What a tool may be asked with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guess {
    /// All required arguments, with stand-ins for those that are unknown.
    pub arguments: Object,
    /// The parameters that nobody can guess, as in `filter.tags[]`; without any, the tool can be asked as it stands.
    pub unknown: Vec<String>,
}

/// The required arguments of a tool, from what its schema says of them: examples of them all, else for each its constant, default, examples,
/// list of values and bounds. Truth values are guessed to be false; free texts, and numbers without a bound, are not guessed.
pub fn guess_arguments(tool: &Tool) -> Guess {
    let Some(schema) = tool.input_schema() else {
        return Guess::default();
    };
    match whole(schema).into_iter().next() {
        Some(arguments) => Guess {
            arguments,
            unknown: Vec::new(),
        },
        None => filled(schema, 0),
    }
}

/// What a tool may be asked with as well, where its schema names more than one value: of a list of values, the server may refuse the first.
pub fn other_arguments(tool: &Tool) -> Vec<Object> {
    let Some(schema) = tool.input_schema() else {
        return Vec::new();
    };
    let mut known = vec![guess_arguments(tool).arguments];
    let turns = (0..=OTHERS).map(|turn| filled(schema, turn));
    let turns = turns.filter(|it| it.unknown.is_empty());
    for arguments in whole(schema)
        .into_iter()
        .chain(turns.map(|it| it.arguments))
    {
        if known.len() <= OTHERS && !known.contains(&arguments) {
            known.push(arguments);
        }
    }
    known.split_off(1)
}

/// The examples that a schema gives of all arguments at once, as far as it accepts them itself.
fn whole(schema: &Value) -> Vec<Object> {
    let node = Node::of(schema, schema);
    let listed = node.get("examples").and_then(Value::as_array);
    let examples = listed.into_iter().flatten().chain(node.get("example"));
    let examples = examples.filter_map(Value::as_object);
    let examples = examples.filter(|it| is_readable(it) && refusal::refused(schema, it).is_empty());
    examples.take(1 + OTHERS).cloned().collect()
}

/// Whether anybody wants to read such arguments.
fn is_readable(arguments: &Object) -> bool {
    Value::Object(arguments.clone()).to_string().len() <= LONGEST
}

/// The required arguments one by one; where several values are known, the one whose turn it is, counted from 0.
fn filled(schema: &Value, turn: usize) -> Guess {
    let mut filling = Filling {
        root: schema,
        turn,
        unknown: Vec::new(),
    };
    let Value::Object(arguments) = filling.object(&Node::of(schema, schema), "", DEPTH) else {
        return Guess::default();
    };
    let mut guess = Guess {
        arguments,
        unknown: filling.unknown,
    };
    if !is_readable(&guess.arguments) {
        guess = Guess {
            arguments: Object::new(),
            unknown: vec!["arguments too long to write here".to_owned()],
        };
    } else if guess.unknown.is_empty() {
        // What seems to fit need not: there are patterns, conditions and whatever else a schema can say.
        guess.unknown = refusal::refused(schema, &guess.arguments);
    }
    guess
}

struct Filling<'a> {
    root: &'a Value,
    /// Which of several values is taken.
    turn: usize,
    unknown: Vec<String>,
}

impl<'a> Filling<'a> {
    fn object(&mut self, node: &Node<'a>, at: &str, depth: usize) -> Value {
        let required = node.required();
        if required.len() > MEMBERS {
            self.give_up(at);
            return json!({});
        }
        // In the order in which the schema lists them, as people know them.
        let mut names: Vec<&str> = node.properties().into_iter().map(|it| it.0).collect();
        names.retain(|it| required.contains(it));
        names.extend(required.iter().filter(|it| node.property(it).is_none()));
        let mut members = Object::new();
        for name in names {
            let member = match at {
                "" => name.to_owned(),
                outer => format!("{outer}.{name}"),
            };
            let value = match node.property(name) {
                Some(schema) => self.value(schema, &member, depth),
                None => self.unknown_value(&member),
            };
            members.insert(name.to_owned(), value);
        }
        Value::Object(members)
    }

    fn value(&mut self, schema: &'a Value, at: &str, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else {
            return self.unknown_value(at);
        };
        let node = Node::of(self.root, schema);
        if let Some(value) = said(&node, self.turn) {
            return value;
        }
        let types = node.types().unwrap_or_default();
        if types.is_empty() {
            return self.alternative(&node, at, depth);
        }
        if types.contains("object") {
            return self.object(&node, at, depth);
        }
        if types.contains("array") {
            let item = match node.get("items") {
                Some(items) => self.value(items, &format!("{at}[]"), depth),
                None => self.unknown_value(&format!("{at}[]")),
            };
            return json!([item]);
        }
        let is_number = types.contains("integer") || types.contains("number");
        if let Some(bound) = bound(&node).filter(|_| is_number) {
            return bound;
        }
        // Of several types, one of which a value is known.
        if types.contains("boolean") {
            return json!(false);
        }
        if types.contains("null") {
            return Value::Null;
        }
        if is_number {
            self.give_up(at);
            return json!(0);
        }
        self.unknown_value(at)
    }

    /// Of several schemas one of which must fit, the first that can be filled in.
    fn alternative(&mut self, node: &Node<'a>, at: &str, depth: usize) -> Value {
        let branches = node.get("anyOf").or_else(|| node.get("oneOf"));
        let branches = branches.and_then(Value::as_array).into_iter().flatten();
        for branch in branches.take(BRANCHES) {
            let before = self.unknown.len();
            let value = self.value(branch, at, depth);
            if self.unknown.len() == before {
                return value;
            }
            self.unknown.truncate(before);
        }
        self.unknown_value(at)
    }

    fn unknown_value(&mut self, at: &str) -> Value {
        self.give_up(at);
        json!(SOME_TEXT)
    }

    fn give_up(&mut self, at: &str) {
        self.unknown.push(at.to_owned());
    }
}

/// A value that the schema names itself; of several the one whose turn it is, and the last where there are fewer.
fn said(node: &Node<'_>, turn: usize) -> Option<Value> {
    if let Some(only) = node.get("const").filter(|it| !it.is_null()) {
        return Some(only.clone());
    }
    let list = |keyword: &str| {
        let listed = node.get(keyword).and_then(Value::as_array);
        listed.into_iter().flatten()
    };
    let named = (node.get("default").into_iter())
        .chain(list("examples"))
        .chain(node.get("example"))
        .chain(list("enum"))
        .filter(|it| !it.is_null());
    let mut values: Vec<&Value> = Vec::new();
    for value in named {
        if values.len() <= turn && !values.contains(&value) {
            values.push(value);
        }
    }
    values.last().map(|it| (*it).clone())
}

/// A number at the edge of what is allowed.
fn bound(node: &Node<'_>) -> Option<Value> {
    let given = |keyword: &str| node.get(keyword).filter(|it| it.is_number());
    if let Some(bound) = given("minimum").or_else(|| given("maximum")) {
        return Some(bound.clone());
    }
    let above = given("exclusiveMinimum").and_then(Value::as_i64);
    let below = given("exclusiveMaximum").and_then(Value::as_i64);
    let next = above.and_then(|it| it.checked_add(1));
    next.or_else(|| below?.checked_sub(1)).map(|it| json!(it))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::guess_arguments;
    use model::Tool;

    fn guessed(schema: &Value) -> (Value, Vec<String>) {
        let Value::Object(served) = json!({ "name": "t", "inputSchema": schema }) else {
            unreachable!("an object");
        };
        let guess = guess_arguments(&Tool { served });
        (Value::Object(guess.arguments), guess.unknown)
    }

    #[test]
    fn what_a_schema_says_is_taken_and_the_rest_is_unknown() {
        let of = |member: Value| json!({ "type": "object", "properties": { "a": member }, "required": ["a"] });
        for (member, expected) in [
            (json!({ "const": "x" }), json!("x")),
            (
                json!({ "type": "string", "default": "here" }),
                json!("here"),
            ),
            (
                json!({ "type": "string", "examples": ["one", "two"] }),
                json!("one"),
            ),
            (json!({ "enum": ["red", "blue"] }), json!("red")),
            (json!({ "type": "boolean" }), json!(false)),
            (json!({ "type": "integer", "minimum": 1 }), json!(1)),
            (
                json!({ "type": "integer", "exclusiveMinimum": 0 }),
                json!(1),
            ),
            (json!({ "type": "number", "maximum": 0.5 }), json!(0.5)),
            (
                json!({ "type": "array", "items": { "enum": ["tag"] } }),
                json!(["tag"]),
            ),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "boolean" }] }),
                json!(false),
            ),
            (
                json!({ "anyOf": [{ "type": "null" }, { "enum": ["b"] }] }),
                json!("b"),
            ),
            (
                json!({ "type": "object", "properties": { "b": { "default": 7 }, "c": { "type": "string" } }, "required": ["b"] }),
                json!({ "b": 7 }),
            ),
        ] {
            let (arguments, unknown) = guessed(&of(member.clone()));
            assert_eq!(unknown, Vec::<String>::new(), "{member}");
            assert_eq!(arguments, json!({ "a": expected }), "{member}");
        }
        for (member, at) in [
            (json!({ "type": "string" }), "a"),
            (json!({ "type": "number" }), "a"),
            (json!({}), "a"),
            (
                json!({ "type": "array", "items": { "type": "string" } }),
                "a[]",
            ),
            (
                json!({ "type": "object", "properties": { "b": { "type": "string" } }, "required": ["b"] }),
                "a.b",
            ),
            // A default that the schema itself refuses.
            (
                json!({ "type": "string", "default": "no", "minLength": 9 }),
                "a",
            ),
        ] {
            assert_eq!(guessed(&of(member.clone())).1, [at], "{member}");
        }
    }

    #[test]
    fn only_what_is_required_is_given() {
        let schema = json!({ "type": "object", "properties": { "a": { "default": 1 } } });
        assert_eq!(guessed(&schema), (json!({}), Vec::new()));
        assert_eq!(guessed(&json!(true)), (json!({}), Vec::new()));
        let references = json!({
            "type": "object", "required": ["unit"],
            "properties": { "unit": { "$ref": "#/$defs/Unit" } },
            "$defs": { "Unit": { "enum": ["celsius"] } },
        });
        assert_eq!(
            guessed(&references),
            (json!({ "unit": "celsius" }), Vec::new())
        );
    }

    #[test]
    fn examples_of_all_arguments_come_first_and_other_values_after() {
        let others = |schema: &Value| {
            let Value::Object(served) = json!({ "name": "t", "inputSchema": schema }) else {
                unreachable!("an object");
            };
            json!(super::other_arguments(&Tool { served }))
        };
        let mut schema = json!({
            "type": "object", "required": ["q"],
            "properties": { "q": { "type": "string" }, "n": { "type": "integer" } },
            "examples": [7, { "n": 1 }, { "q": "whole" }, { "q": "more", "n": 2 }],
        });
        // Neither what is no object nor what lacks an argument is an example of them.
        assert_eq!(guessed(&schema), (json!({ "q": "whole" }), Vec::new()));
        assert_eq!(others(&schema), json!([{ "q": "more", "n": 2 }]));
        schema["examples"] = json!([]);
        assert_eq!(guessed(&schema).1, ["q"]);
        assert_eq!(others(&schema), json!([]));
        schema["properties"]["q"] =
            json!({ "default": "a", "enum": ["a", "b", "c", "d", "e", "f"] });
        assert_eq!(guessed(&schema).0, json!({ "q": "a" }));
        assert_eq!(
            others(&schema),
            json!([{ "q": "b" }, { "q": "c" }, { "q": "d" }])
        );
    }

    #[test]
    fn a_schema_that_leads_into_itself_ends() {
        let schema = json!({
            "type": "object", "required": ["next"],
            "properties": { "next": { "$ref": "#" } },
        });
        let (_, unknown) = guessed(&schema);
        assert_eq!(unknown.len(), 1);
        let wide: Vec<String> = (0..1000).map(|it| format!("p{it}")).collect();
        let schema = json!({ "type": "object", "required": wide });
        assert_eq!(guessed(&schema).1.len(), 1);
    }
}
