//! The board for those who look at the server: what runs now, what waits for its turn, and what could not be run at all.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::watch;

/// How many of those that could not be run are remembered.
const TROUBLES: usize = 5;

/// What is under way, by the commands that it is part of.
#[derive(Clone)]
pub(super) struct Board {
    state: Arc<Mutex<State>>,
    /// Changes with everything that does.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    next: u64,
    commands: BTreeMap<u64, Command>,
    troubles: VecDeque<String>,
}

struct Command {
    name: &'static str,
    /// By their ids.
    scenarios: HashMap<String, Scenario>,
}

struct Scenario {
    /// Its place among those of its command.
    at: usize,
    name: String,
    begun: Option<Begun>,
}

struct Begun {
    since: Instant,
    doing: String,
}

/// A command of which scenarios run or wait, until it is dropped.
pub(super) struct Seat {
    board: Board,
    number: u64,
}

/// Something that is under way.
pub(super) struct Line {
    /// Tells it from the others.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) command: &'static str,
    /// What it is doing, and for how long it has run in milliseconds; `None` while it waits for its turn.
    pub(super) begun: Option<(String, f64)>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            changes: watch::channel(0).0,
        }
    }
}

impl Board {
    /// A command begins with scenarios of these ids and names, all of which wait at first. Both are free of secrets.
    pub(super) fn enter(&self, name: &'static str, scenarios: Vec<(String, String)>) -> Seat {
        let scenarios = scenarios.into_iter().enumerate();
        let scenarios = scenarios.map(|(at, (id, name))| {
            let begun = None;
            (id, Scenario { at, name, begun })
        });
        let command = Command {
            name,
            scenarios: scenarios.collect(),
        };
        let number = self.change(|state| {
            state.next += 1;
            state.commands.insert(state.next, command);
            state.next
        });
        Seat {
            board: self.clone(),
            number,
        }
    }

    /// Something could not be run at all.
    pub(super) fn trouble(&self, what: String) {
        self.change(|state| {
            state.troubles.push_front(what);
            state.troubles.truncate(TROUBLES);
        });
    }

    /// What could not be run at all, the latest first.
    pub(super) fn troubles(&self) -> Vec<String> {
        self.state.lock().troubles.iter().cloned().collect()
    }

    /// All that is under way, in the order in which it came.
    pub(super) fn lines(&self) -> Vec<Line> {
        let state = self.state.lock();
        let mut lines = Vec::new();
        for (number, command) in &state.commands {
            let mut scenarios: Vec<&Scenario> = command.scenarios.values().collect();
            scenarios.sort_by_key(|it| it.at);
            lines.extend(scenarios.into_iter().map(|it| Line {
                key: format!("{number}-{}", it.at),
                name: it.name.clone(),
                command: command.name,
                begun: it.begun.as_ref().map(|it| {
                    let elapsed = it.since.elapsed().as_secs_f64() * 1000.0;
                    (it.doing.clone(), elapsed)
                }),
            }));
        }
        lines
    }

    /// Tells of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock());
        self.changes.send_modify(|it| *it = it.wrapping_add(1));
        changed
    }
}

impl Seat {
    /// A scenario begins.
    pub(super) fn begins(&self, id: &str) {
        self.at(id, |scenario| {
            scenario.begun = Some(Begun {
                since: Instant::now(),
                doing: "beginning".to_owned(),
            });
        });
    }

    /// What a scenario that has begun is doing.
    pub(super) fn does(&self, id: &str, doing: String) {
        self.at(id, |scenario| {
            if let Some(begun) = &mut scenario.begun {
                begun.doing = doing;
            }
        });
    }

    /// A scenario has its result.
    pub(super) fn ends(&self, id: &str) {
        self.change(|command| {
            command.scenarios.remove(id);
        });
    }

    fn at(&self, id: &str, change: impl FnOnce(&mut Scenario)) {
        self.change(|command| {
            if let Some(scenario) = command.scenarios.get_mut(id) {
                change(scenario);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Command)) {
        self.board.change(|state| {
            if let Some(command) = state.commands.get_mut(&self.number) {
                change(command);
            }
        });
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.board
            .change(|state| state.commands.remove(&self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::Board;

    #[test]
    fn scenarios_under_way_are_listed_until_their_command_ends() {
        let board = Board::default();
        let both = ["a", "b"].map(|it| (it.to_owned(), format!("Scenario {it}")));
        let seat = board.enter("run", both.to_vec());
        let shown = || {
            let lines = board.lines().into_iter();
            let lines = lines.map(|it| (it.name, it.begun.map(|(doing, _)| doing)));
            lines.collect::<Vec<_>>()
        };
        let (a, b) = ("Scenario a".to_owned(), "Scenario b".to_owned());
        assert_eq!(shown(), [(a, None), (b.clone(), None)]);
        seat.begins("b");
        seat.does("b", "call 1: pay".to_owned());
        seat.ends("a");
        assert_eq!(shown(), [(b, Some("call 1: pay".to_owned()))]);
        let mut changes = board.changes();
        changes.borrow_and_update();
        drop(seat);
        assert_eq!(shown(), []);
        assert!(changes.has_changed().expect("the board is there"));
        for number in 0..9 {
            board.trouble(number.to_string());
        }
        assert_eq!(board.troubles(), ["8", "7", "6", "5", "4"]);
    }
}
