//! Values of variables are texts, whatever they look like.

use crate::common::{Project, ran};

/// A scenario whose second call says the values of two variables.
const SCENARIO: &str = r#"
name: S
variables: { said: plain, key: { value: "${KEY}", secret: true } }
servers: { s: { type: mock } }
agent:
  kind: scripted
  calls:
    - { tool: say, args: { text: first } }
    - { tool: say, args: { text: "{{said}}", key: "{{key}}", mixed: "{{said}} {{calls.0.text}}" } }
expected_trajectory:
  - { tool: say, args: { text: first } }
  - { tool: say, args: { text: "{{said}}", key: "{{key}}", mixed: "{{said}} {{calls.0.text}}" } }
success_criteria: [{ text: to the letter }]
mcp_interactions:
  s:
    tools:
      - name: say
        responses:
          - match: { text: first }
            content: heard
          - match:
              text: { regex: "^.{2}calls.0.text.{2}$" }
              key: { regex: "^.{2}calls.0.text.{2} key$" }
              mixed: { regex: "^.{2}calls.0.text.{2} heard$" }
            content: to the letter
          - content: something else
"#;

#[test]
fn a_value_that_looks_like_a_reference_is_sent_to_the_letter() {
    let project = Project::new();
    project.file("scenarios/s.yaml", SCENARIO);
    let mut command = project.command();
    command
        .args(["run", "--var", "said={{calls.0.text}}"])
        .env("KEY", "{{calls.0.text}} key");
    let ran = ran(&mut command);
    assert_eq!(ran.code, 0, "{ran:#?}");
}
