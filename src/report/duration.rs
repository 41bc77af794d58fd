//! Durations as people write them.

/// A duration in milliseconds for people: `0.4 ms`, `340 ms`, `1.2 s`, `2 min 5 s`, `1 h 3 min`.
///
/// A duration that is negative or no number at all is `unknown`.
pub fn words(milliseconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 3600.0;

    if !milliseconds.is_finite() || milliseconds < 0.0 {
        return "unknown".to_owned();
    }
    // Each limit lies where the text of the smaller unit would round up to one of the larger.
    if milliseconds < 0.05 {
        return "0 ms".to_owned();
    }
    if milliseconds < 9.95 {
        return format!("{milliseconds:.1} ms");
    }
    if milliseconds < 999.5 {
        return format!("{milliseconds:.0} ms");
    }
    let seconds = milliseconds / 1000.0;
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let seconds = seconds.round();
    if seconds < HOUR {
        let minutes = (seconds / MINUTE).floor();
        return match seconds - minutes * MINUTE {
            0.0 => format!("{minutes} min"),
            rest => format!("{minutes} min {rest} s"),
        };
    }
    let hours = (seconds / HOUR).floor();
    match ((seconds - hours * HOUR) / MINUTE).floor() {
        0.0 => format!("{hours} h"),
        rest => format!("{hours} h {rest} min"),
    }
}

/// A duration for people; empty when it is not known.
pub fn known(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(String::new, words)
}
