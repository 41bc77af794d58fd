//! A browser that is driven as somebody does it: pages, keys, and a look at what is shown. It is spoken to over two pipes, by the protocol
//! of Chromium's developer tools.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Project;

/// How long anything may take: far more than it should.
const PATIENCE: Duration = Duration::from_secs(240);

/// A browser with one page, until it is dropped.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    session: String,
    number: u64,
    /// What the pages have complained about.
    pub(crate) complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // With all the processes that it has started, which are of its group.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).status();
        let _ = self.child.wait();
    }
}

impl Browser {
    pub(crate) fn start(chromium: &str, project: &Project) -> Self {
        let [commands, answers] = ["commands", "answers"].map(|it| {
            let pipe = project.path(format!("{it}.pipe"));
            let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
            pipe
        });
        let child = Command::new("sh")
            .arg("-c")
            .arg("commands=$1 answers=$2; shift 2; exec \"$@\" 3<\"$commands\" 4>\"$answers\"")
            .arg("sh")
            .args([&commands, &answers])
            .arg(chromium)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--disable-background-networking"])
            .arg(format!(
                "--user-data-dir={}",
                project.path("profile").display()
            ))
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(&commands).unwrap();
        let messages = File::open(&answers).unwrap();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(messages).split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            answers,
            session: String::new(),
            number: 0,
            complaints: Vec::new(),
        };
        let targets = browser.send("Target.getTargets", &json!({}));
        let pages = targets["targetInfos"].as_array().unwrap();
        let page = pages.iter().find(|it| it["type"] == "page").unwrap();
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.send("Target.attachToTarget", &attach);
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.send(&format!("{domain}.enable"), &json!({}));
        }
        let focused = json!({ "enabled": true });
        browser.send("Emulation.setFocusEmulationEnabled", &focused);
        browser
    }

    /// Sends a command, and waits for what comes of it.
    pub(crate) fn send(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .unwrap();
        let number = self.number;
        let answer = self.until(|it| it["id"] == number);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.answers.recv_timeout(PATIENCE).unwrap();
            let entry = &message["params"]["entry"];
            if message["method"] == "Runtime.exceptionThrown" || entry["level"] == "error" {
                self.complaints.push(message["params"].to_string());
            }
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Goes to an address, and waits until the page is there.
    pub(crate) fn go(&mut self, address: &str) {
        // The answer comes once the page has taken the place of the other.
        self.send("Page.navigate", &json!({ "url": address }));
        self.wait_for("true");
    }

    /// What an expression comes to on the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.send("Runtime.evaluate", &asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true on whatever page there is by then.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        let asked = format!("Boolean(document.readyState === 'complete' && ({expression}))");
        loop {
            // While one page goes and another comes, there is no client to ask.
            let answer = self.send_anyway(&asked);
            if answer["result"]["result"]["value"] == true {
                return;
            }
            if begun.elapsed() > PATIENCE {
                let shown = self.ask("document.body.innerText");
                panic!("never {expression}: {shown}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn send_anyway(&mut self, expression: &str) -> Value {
        self.number += 1;
        let number = self.number;
        let command = json!({ "id": number, "sessionId": self.session, "method": "Runtime.evaluate",
            "params": { "expression": expression, "returnByValue": true } });
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .unwrap();
        self.until(|it| it["id"] == number)
    }

    /// Presses a key: `Tab` or `Enter`.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            _ => unreachable!("{key}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.send("Input.dispatchKeyEvent", &event);
        }
    }

    /// Presses Enter, and waits for the page that comes of it.
    pub(crate) fn enter(&mut self) {
        self.ask("window.isBefore = true");
        self.press("Enter");
        self.wait_for("!window.isBefore");
    }

    /// Types a text into what has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.send("Input.insertText", &json!({ "text": text }));
    }

    /// Goes from one thing that can be used to the next until one is reached that is called so; what was passed.
    pub(crate) fn tab_to(&mut self, label: &str) -> Vec<String> {
        let mut passed = Vec::new();
        for _ in 0..200 {
            self.press("Tab");
            let name = self.ask(
                "(() => { const it = document.activeElement; const ring = getComputedStyle(it).outlineStyle;
                return (ring === 'none' ? 'WITHOUT A RING ' : '') + (it.getAttribute('aria-label') || it.textContent.trim() || it.id || it.tagName); })()",
            );
            let name = name.as_str().unwrap().to_owned();
            let found = name == label;
            passed.push(name);
            if found {
                return passed;
            }
        }
        panic!("{label:?} cannot be reached: {passed:#?}")
    }

    /// Shows the page in a window so wide, light or dark.
    pub(crate) fn look(&mut self, width: u32, dark: bool) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.send("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.send("Emulation.setEmulatedMedia", &media);
    }

    /// What axe finds on the page, and whether the page is wider than its window.
    pub(crate) fn check(&mut self, axe: &str) -> Vec<String> {
        self.ask(&format!("{axe}; 0"));
        let found = self.ask(
            "(async () => {
            const found = (await axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })).violations;
            const told = found.map((it) => it.id + ': ' + it.nodes.map((of) => of.html).join(' | '));
            const root = document.documentElement;
            if (root.scrollWidth > root.clientWidth) told.push('wider than its window: ' + root.scrollWidth);
            return told;
            })()",
        );
        let found = found.as_array().unwrap().iter();
        found.map(|it| it.as_str().unwrap().to_owned()).collect()
    }
}
