//! Text for people. What comes from a file or from the command line may hold characters that a terminal
//! obeys.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that steers a terminal in place of being shown written as `\x1b` or
/// `\u{202e}`. Line ends and tabs stay.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        // Writing into a text cannot fail.
        let _ = match u32::from(c) {
            _ if !steers(c) || ends_line => shown.write_char(c),
            byte @ 0..=0xff => write!(shown, "\\x{byte:02x}"),
            code => write!(shown, "\\u{{{code:x}}}"),
        };
    }
    Cow::Owned(shown)
}

/// Control characters (C0, DEL and C1), and those that turn the direction of writing, which make one text
/// look like another.
fn steers(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (text, shown) in [
            ("\u{1b}[31mred\u{7}", r"\x1b[31mred\x07"),
            ("\u{9b}2J\u{7f}", r"\x9b2J\x7f"),
            ("over\rwritten\r\nnext\t1\n", "over\\x0dwritten\r\nnext\t1\n"),
            ("a\u{202e}b", r"a\u{202e}b"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn what_people_write_stays() {
        let text = "µs, 日本語, ünïcode: ╭─[x]\n";
        assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
    }
}
