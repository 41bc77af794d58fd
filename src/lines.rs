//! Streams read line by line, in lines of bounded length.

use std::io;

use futures_util::StreamExt;
use tokio::io::AsyncRead;
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};

/// How many bytes the buffer of a stream holds at first.
const BUFFER: usize = 64 * 1024;

/// The lines of a stream, whatever bytes they are made of.
#[derive(Debug)]
pub struct Lines<R>(FramedRead<R, LineDecoder>);

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Without the `\n` at its end, which the last line of a stream may lack. A `\r` before it is kept.
    Whole(Bytes),
    /// It is longer than allowed. All of it is skipped.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `longest` bytes, the line break not counted.
    pub fn new(stream: R, longest: usize) -> Self {
        let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), longest);
        Self(FramedRead::with_capacity(
            stream,
            LineDecoder(codec),
            BUFFER,
        ))
    }

    /// The next line; `None` at the end. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    ///
    /// When the stream cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        self.0.next().await.transpose()
    }
}

/// The codec of the library, for which a line that is too long is a line like others: after an error, [`FramedRead`] would not look at
/// what it has read already until the stream brings more.
#[derive(Debug)]
struct LineDecoder(AnyDelimiterCodec);

impl Decoder for LineDecoder {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        line(self.0.decode(buffer))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        line(self.0.decode_eof(buffer))
    }
}

fn line(decoded: Result<Option<Bytes>, AnyDelimiterCodecError>) -> io::Result<Option<Line>> {
    match decoded {
        Ok(line) => Ok(line.map(Line::Whole)),
        Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => Ok(Some(Line::TooLong)),
        Err(AnyDelimiterCodecError::Io(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncRead, AsyncWriteExt};

    use super::{Line, Lines};

    /// What a stream is read as, in lines of at most 8 bytes; `None` stands for one that is too long.
    async fn read(stream: impl AsyncRead + Unpin) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(stream, 8);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.expect("it can be read") {
            found.push(bytes(&line));
        }
        found
    }

    fn bytes(line: &Line) -> Option<Vec<u8>> {
        match line {
            Line::Whole(line) => Some(line.to_vec()),
            Line::TooLong => None,
        }
    }

    #[tokio::test]
    async fn lines_are_bounded() {
        type Case<'a> = (&'a [u8], &'a [Option<&'a [u8]>]);
        let cases: [Case<'_>; 11] = [
            (b"", &[]),
            (b"a\nbc\n", &[Some(b"a"), Some(b"bc")]),
            (b"a\nbc", &[Some(b"a"), Some(b"bc")]),
            (b"\n\n", &[Some(b""), Some(b"")]),
            (b"a\r\n", &[Some(b"a\r")]),
            (b"\xff\xfe\n", &[Some(b"\xff\xfe")]),
            (
                b"01234567\n01234567",
                &[Some(b"01234567"), Some(b"01234567")],
            ),
            (b"012345678\nab\n", &[None, Some(b"ab")]),
            (b"0123456789\n\nab\n", &[None, Some(b""), Some(b"ab")]),
            (b"0123456789\n0123456789\nab", &[None, None, Some(b"ab")]),
            (b"a\n0123456789", &[Some(b"a"), None]),
        ];
        for (stream, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|it| it.map(<[u8]>::to_vec)).collect();
            assert_eq!(read(stream).await, expected, "{stream:?}");
            // However the stream is cut into pieces.
            let (mut writer, reader) = tokio::io::duplex(1);
            let writing = async {
                writer.write_all(stream).await.expect("it is read");
                drop(writer);
            };
            let ((), found) = tokio::join!(writing, read(reader));
            assert_eq!(found, expected, "{stream:?} byte by byte");
        }
    }

    #[tokio::test]
    async fn what_came_with_a_line_that_is_too_long_is_there_at_once() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, 8);
        writer
            .write_all(b"0123456789\nab\n")
            .await
            .expect("it fits");
        for expected in [None, Some(b"ab".to_vec())] {
            let next = tokio::time::timeout(Duration::from_secs(5), lines.next());
            let line = next.await.expect("nothing more has to come");
            let line = line.expect("it can be read").expect("it is not the end");
            assert_eq!(bytes(&line), expected);
        }
    }

    #[tokio::test]
    async fn waiting_for_a_line_may_be_given_up() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, 8);
        for piece in [b"ab", b"cd"] {
            writer.write_all(piece).await.expect("it fits");
            let next = tokio::time::timeout(Duration::from_millis(1), lines.next());
            assert!(next.await.is_err(), "the line has not ended");
        }
        writer.write_all(b"\n").await.expect("it fits");
        let line = lines.next().await.expect("it can be read");
        assert_eq!(line, Some(Line::Whole("abcd".into())));
    }
}
