//! What is quoted of a process's stderr: the reason of a failure is usually among the first or the last lines.

use crate::text::beginning;

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
    use super::excerpt;

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
