//! The events of a stream, in pieces as they come: also of one that passes by.
//!
//! Format: <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

/// Finds the names and the data of events in pieces of a stream.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    name: Vec<u8>,
    /// An event had an id: the stream can be taken up again where it broke.
    pub(in crate::mcp) has_ids: bool,
    /// Something was longer than a message may be; from there on nothing is read.
    is_lost: bool,
}

impl Events {
    /// Reads a piece and hands out the name and the data of each event that ends in it.
    pub(in crate::mcp) fn read(
        &mut self,
        piece: &[u8],
        longest: usize,
        mut found: impl FnMut(&[u8], &[u8]),
    ) {
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
                b"" if line.is_empty() => {
                    if !self.data.is_empty() {
                        let end = self.data.iter().rposition(|it| *it != b'\n');
                        found(&self.name, &self.data[..end.map_or(0, |it| it + 1)]);
                    }
                    self.data.clear();
                    self.name.clear();
                }
                b"event" => self.name = value.to_vec(),
                b"data" => {
                    self.data.extend_from_slice(value);
                    self.data.push(b'\n');
                }
                b"id" => self.has_ids = true,
                _ => {}
            }
        }
    }

    /// Whether something was too long, so that nothing is read any more.
    pub(in crate::mcp) fn is_lost(&self) -> bool {
        self.is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let stream = ": hello\nid: 1\ndata:\n\nevent: ping\n\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:x\n\nretry: 3\n\ndata: cut";
        for length in [1, 2, 3, 7, 1000] {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(length) {
                events.read(piece, 100, |name, data| {
                    let text = |it: &[u8]| String::from_utf8(it.to_vec()).unwrap();
                    found.push(format!("{}|{}", text(name), text(data)));
                });
            }
            assert_eq!(found, ["|", "message|{\"a\":\n1}", "|x"], "{length}");
            assert!(events.has_ids);
        }
    }

    #[test]
    fn what_is_too_long_is_not_held() {
        let mut events = Events::default();
        let mut found = 0;
        events.read(&[b'x'; 50], 10, |_, _| found += 1);
        events.read(b"\n\ndata: 1\n\n", 10, |_, _| found += 1);
        assert_eq!((found, events.line.len()), (0, 11));
    }
}
