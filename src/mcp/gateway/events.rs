//! The messages in an event stream that passes by.
//!
//! Format: <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

/// Finds the data of events in pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    /// An event had an id: the stream can be taken up again where it broke.
    pub(super) has_ids: bool,
    /// Something was longer than a message may be; from there on nothing is read.
    is_lost: bool,
}

impl Events {
    /// Reads a piece and hands out the data of each event that ends in it.
    pub(super) fn read(&mut self, piece: &[u8], longest: usize, mut found: impl FnMut(&[u8])) {
        for &byte in piece {
            if self.is_lost {
                return;
            }
            if byte != b'\n' {
                self.line.push(byte);
                self.is_lost = self.line.len() + self.data.len() > longest;
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            let colon = memchr::memchr(b':', line).unwrap_or(line.len());
            let (field, value) = line.split_at(colon);
            let value = value.strip_prefix(b":").unwrap_or(value);
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match field {
                b"" if line.is_empty() && !self.data.is_empty() => {
                    let end = self.data.iter().rposition(|it| *it != b'\n');
                    found(&self.data[..end.map_or(0, |it| it + 1)]);
                    self.data.clear();
                }
                b"data" => {
                    self.data.extend_from_slice(value);
                    self.data.push(b'\n');
                }
                b"id" => self.has_ids = true,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let stream = ": hello\nid: 1\ndata:\n\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:x\n\nretry: 3\n\ndata: cut";
        for length in [1, 2, 3, 7, 1000] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(length) {
                events.read(piece, 100, |it| {
                    found.push(String::from_utf8(it.to_vec()).unwrap());
                });
            }
            assert_eq!(found, ["", "{\"a\":\n1}", "x"], "{length}");
            assert!(events.has_ids);
        }
    }

    #[test]
    fn what_is_too_long_is_not_held() {
        let mut events = Events::default();
        let mut found = 0;
        events.read(&[b'x'; 50], 10, |_| found += 1);
        events.read(b"\n\ndata: 1\n\n", 10, |_| found += 1);
        assert_eq!((found, events.line.len()), (0, 11));
    }
}
