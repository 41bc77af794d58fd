//! Keeps a page from becoming enormous by what was said and asked in very many calls. Answers have limits of their own.

use crate::bytes;

use super::conversation::Block;
use super::excerpt::Excerpt;
use super::message::MessageRow;

/// How many bytes of messages and arguments a page shows whole, and how many characters of each text when that is used up.
const WHOLE: usize = 4_000_000;
const BEGINNING: usize = 160;

/// Leaves the beginning of each text of these blocks that comes when the page is full, and says where the whole is.
pub(super) fn bound(blocks: &mut [Block<'_>]) {
    bound_to(WHOLE, blocks.iter_mut().flat_map(texts));
}

fn bound_to<'e>(whole: usize, texts: impl Iterator<Item = &'e mut Excerpt>) {
    let mut left = whole;
    for text in texts {
        let size: usize = text.pieces.iter().map(|it| it.text.len()).sum();
        if size <= left {
            left -= size;
        } else if let Some(shown) = text.begin_with(BEGINNING) {
            text.cut = Some(format!(
                "The first {} of {}, because this page is long; the stored trajectory has the whole.",
                bytes::words(shown),
                bytes::words(size)
            ));
        }
    }
}

/// The texts of a block that stand there as they came.
fn texts<'b>(block: &'b mut Block<'_>) -> Vec<&'b mut Excerpt> {
    match block {
        Block::Messages(rows) => (rows.iter_mut())
            .flat_map(|row| match row {
                MessageRow::Same(it) => vec![&mut it.text],
                MessageRow::Beside { left, right } => {
                    let said = left.iter_mut().chain(right);
                    said.map(|it| &mut it.text).collect()
                }
            })
            .collect(),
        Block::Call(call) => call.arguments.equal.iter_mut().collect(),
        Block::Behind(..) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, bound_to};
    use crate::html::excerpt::Excerpt;

    #[test]
    fn what_comes_when_the_page_is_full_is_cut_to_its_beginning() {
        let long = "é".repeat(1000);
        let mut texts = [&*long, "short", &*long].map(|it| Excerpt::plain(it, None));
        bound_to(2500, texts.iter_mut());
        let shown = |it: &Excerpt| it.pieces.iter().map(|it| it.text.chars().count()).sum();
        let lengths: [usize; 3] = texts.each_ref().map(shown);
        assert_eq!(lengths, [1000, 5, BEGINNING]);
        let [first, second, third] = texts.map(|it| it.cut);
        assert_eq!((first, second), (None, None));
        let remark = third.unwrap_or_default();
        assert!(
            remark.starts_with("The first 320 bytes of 2.0 KB"),
            "{remark}"
        );
    }
}
