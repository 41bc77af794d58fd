//! The output of a process, both of its streams: whole lines in the order in which they came.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::text::beginning;

/// The most that is kept, in bytes; the oldest output is dropped.
const MOST: usize = 4 * 1024 * 1024;

/// The longest line that is kept in one piece.
const LINE: u64 = 64 * 1024;

/// What a process has written so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    lines: VecDeque<Vec<u8>>,
    length: usize,
}

/// What the processes that were started by one command have written to their stderr. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Logs(Arc<Mutex<Vec<Arc<Mutex<Output>>>>>);

impl Logs {
    /// The log of a process that is being started.
    pub(super) fn begin(&self) -> Arc<Mutex<Output>> {
        let log = Arc::<Mutex<Output>>::default();
        self.0.lock().push(Arc::clone(&log));
        log
    }

    /// All of it, one process after the other, the newest 4 MiB of each.
    pub fn text(&self) -> String {
        self.0.lock().iter().map(|it| it.lock().text()).collect()
    }
}

impl Output {
    fn add(&mut self, line: &[u8]) {
        self.length += line.len();
        self.lines.push_back(line.to_vec());
        while self.length > MOST && self.lines.len() > 1 {
            self.length -= self.lines.pop_front().map_or(0, |it| it.len());
        }
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.lines.as_slices();
        String::from_utf8_lossy(&[front.concat(), back.concat()].concat()).into_owned()
    }
}

/// Reads a stream to its end.
pub(super) async fn keep(stream: impl AsyncRead + Unpin, kept: Arc<Mutex<Output>>) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut stream).take(LINE).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        kept.lock().add(&line);
    }
}

/// How many of the first and of the last lines of stderr are quoted, and how much of each.
const FIRST_LINES: usize = 10;
const LAST_LINES: usize = 10;
const LINE_LENGTH: usize = 500;

/// The first and the last lines of a text, with how many there were between them; those that are empty do not count.
pub(super) fn excerpt(text: &str) -> Vec<String> {
    let all = text.lines().map(str::trim_end).filter(|it| !it.is_empty());
    let lines = all.map(|it| beginning(it, LINE_LENGTH).into_owned());
    let mut lines: Vec<String> = lines.collect();
    let left_out = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
    let mark = match left_out {
        0 => return lines,
        1 => "… 1 line left out …".to_owned(),
        several => format!("… {several} lines left out …"),
    };
    lines.splice(FIRST_LINES..FIRST_LINES + left_out, [mark]);
    lines
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::{MOST, Output, excerpt, keep};

    #[test]
    fn the_end_of_a_long_output_is_kept_in_whole_lines() {
        let read = |text: String| {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let kept = Arc::<Mutex<Output>>::default();
            let reading = keep(text.as_bytes(), Arc::clone(&kept));
            runtime.unwrap().block_on(reading);
            kept.lock().text()
        };
        assert_eq!(read(String::new()), "");
        assert_eq!(read("one\n\ntwo".to_owned()), "one\n\ntwo\n");
        let line = format!("{}\n", "x".repeat(99));
        let long = read(format!("first\n{}last\n", line.repeat(MOST / 100 + 1)));
        assert!(long.len() <= MOST && long.len() > MOST - 200);
        assert!(long.starts_with("xxx") && long.ends_with("x\nlast\n"));
    }

    #[test]
    fn the_first_and_the_last_words_are_kept() {
        let numbered = |numbers: std::ops::RangeInclusive<usize>| {
            numbers.map(|it| format!("line {it}")).collect::<Vec<_>>()
        };
        let lines = |most: usize| excerpt(&numbered(1..=most).join("\n\n"));
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
        assert_eq!(excerpt(&format!("{long}\nend")), [cut, "end".to_owned()]);
    }
}
