//! What is kept of a process's stderr: the reason of a failure is usually among the first or the last lines.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::text::beginning;
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// How many of the first and of the last lines of stderr are kept, and how much of each.
const FIRST_LINES: usize = 10;
const LAST_LINES: usize = 10;
const LINE_LENGTH: usize = 500;

/// The first and the last lines of a process's stderr.
#[derive(Debug, Default)]
pub(super) struct StderrExcerpt {
    first: Vec<String>,
    left_out: usize,
    last: VecDeque<String>,
}

impl StderrExcerpt {
    fn add(&mut self, line: &str) {
        let kept = beginning(line, LINE_LENGTH).into_owned();
        if self.first.len() < FIRST_LINES {
            self.first.push(kept);
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(kept);
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let between = match self.left_out {
            0 => None,
            1 => Some("… 1 line left out …".to_owned()),
            several => Some(format!("… {several} lines left out …")),
        };
        let first = self.first.iter().cloned();
        first
            .chain(between)
            .chain(self.last.iter().cloned())
            .collect()
    }
}

/// Reads stderr to its end.
pub(super) async fn keep_lines(stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<StderrExcerpt>>) {
    let mut stderr = BufReader::new(stderr);
    let mut piece = Vec::new();
    let mut is_new_line = true;
    loop {
        piece.clear();
        let mut bounded = (&mut stderr).take(64 * 1024);
        match bounded.read_until(b'\n', &mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&piece);
        let text = text.trim_end();
        if is_new_line && !text.is_empty() {
            kept.lock().add(text);
        }
        is_new_line = piece.ends_with(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::{StderrExcerpt, keep_lines};

    #[test]
    fn the_first_and_the_last_words_are_kept() {
        let read = |text: &str| {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let kept = Arc::<Mutex<StderrExcerpt>>::default();
            runtime
                .unwrap()
                .block_on(keep_lines(text.as_bytes(), Arc::clone(&kept)));
            kept.lock().lines()
        };
        let numbered = |numbers: std::ops::RangeInclusive<usize>| {
            numbers.map(|it| format!("line {it}")).collect::<Vec<_>>()
        };
        let lines = |most: usize| read(&numbered(1..=most).join("\n\n"));
        for few in [0, 1, 10, 11, 20] {
            assert_eq!(lines(few), numbered(1..=few));
        }
        let mark = |between: &str| vec![format!("… {between} left out …")];
        let expected = [numbered(1..=10), mark("1 line"), numbered(12..=21)].concat();
        assert_eq!(lines(21), expected);
        let expected = [numbered(1..=10), mark("980 lines"), numbered(991..=1000)].concat();
        assert_eq!(lines(1000), expected);

        let long = "é ".repeat(100_000);
        let cut = format!("{}…", "é ".repeat(250).trim_end());
        assert_eq!(read(&format!("{long}\nend")), [cut, "end".to_owned()]);
    }
}
