//! The pre-pass: turns what json-c and workgen accept beyond comments, trailing commas and single quotes into
//! text that the parser takes, and remembers where, so that positions still mean the user's file.
//!
//! - a key without value (`"suspend",`) gets one;
//! - `True`, `NULL` and their like become lower case;
//! - a number loses its leading zeros (`007` is 7);
//! - what follows the end of the outermost value is cut off.
//!
//! All but the first keep every byte where it is.

use std::ops::Range;

/// What a key without value gets. The tree knows it by its place.
const NOTHING: &str = ":null";

/// Text for the parser.
#[derive(Debug)]
pub(super) struct Prepared {
    pub text: String,
    /// Byte positions in `text` at which [`NOTHING`] was put in, ascending.
    added: Vec<usize>,
    /// What follows the outermost value in the file, if it is more than blanks and comments.
    pub trailing: Option<Range<usize>>,
}

impl Prepared {
    /// The bytes of the file that a range of `text` stands for.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        self.original_at(range.start)..self.original_at(range.end)
    }

    fn original_at(&self, at: usize) -> usize {
        let before = self.added.partition_point(|added| *added < at);
        match before.checked_sub(1).map(|last| self.added[last]) {
            // Inside of what was added: the end of the key.
            Some(last) if at < last + NOTHING.len() => last - (before - 1) * NOTHING.len(),
            _ => at - before * NOTHING.len(),
        }
    }

    /// Whether the value that starts here was added.
    pub fn is_added(&self, value_start: usize) -> bool {
        value_start.checked_sub(1).is_some_and(|colon| self.added.binary_search(&colon).is_ok())
    }
}

/// Prepares the text of a file.
pub(super) fn prepare(file: &str) -> Prepared {
    let mut scan = Scan { bytes: file.as_bytes(), at: 0 };
    let mut out = file.as_bytes().to_vec();
    let mut keys_without_value = Vec::new();
    let mut containers: Vec<u8> = Vec::new();
    let mut key_may_follow = false;
    let mut end = None;
    while end.is_none() {
        scan.skip_blanks();
        let start = scan.at;
        let Some(byte) = scan.peek() else { break };
        match byte {
            b'"' | b'\'' => {
                scan.skip_string();
                if key_may_follow {
                    let key_end = scan.at;
                    scan.skip_blanks();
                    if matches!(scan.peek(), Some(b',' | b'}')) {
                        keys_without_value.push(key_end);
                    }
                }
                key_may_follow = false;
            }
            b'{' | b'[' => {
                containers.push(byte);
                key_may_follow = byte == b'{';
                scan.at += 1;
            }
            b'}' | b']' => {
                containers.pop();
                key_may_follow = false;
                scan.at += 1;
                if containers.is_empty() {
                    end = Some(scan.at);
                }
            }
            b',' => {
                key_may_follow = containers.last() == Some(&b'{');
                scan.at += 1;
            }
            _ if byte.is_ascii_alphanumeric() || byte == b'-' => {
                scan.skip_word();
                tidy_word(&mut out[start..scan.at]);
            }
            _ => scan.at += 1,
        }
    }
    let mut trailing = None;
    if let Some(end) = end {
        scan.skip_blanks();
        if scan.at < file.len() {
            trailing = Some(scan.at..file.len());
        }
        out.truncate(end);
    }
    let mut added = Vec::with_capacity(keys_without_value.len());
    for (count, at) in keys_without_value.into_iter().enumerate() {
        let at = at + count * NOTHING.len();
        out.splice(at..at, NOTHING.bytes());
        added.push(at);
    }
    // Only ASCII bytes were changed, into ASCII bytes.
    Prepared { text: String::from_utf8_lossy(&out).into_owned(), added, trailing }
}

/// Lower case for literals; blanks for leading zeros.
fn tidy_word(word: &mut [u8]) {
    if [b"true".as_slice(), b"false", b"null"].iter().any(|literal| word.eq_ignore_ascii_case(literal)) {
        word.make_ascii_lowercase();
        return;
    }
    let digits_from = usize::from(word.first() == Some(&b'-'));
    let digits = &mut word[digits_from..];
    if digits.iter().all(u8::is_ascii_digit) {
        let zeros = digits.iter().take_while(|d| **d == b'0').count().min(digits.len().saturating_sub(1));
        if zeros > 0 {
            // The sign moves along: "-007" becomes "  -7".
            word[..digits_from + zeros].rotate_left(digits_from);
            let last_zero = digits_from + zeros - 1;
            word[..=last_zero].fill(b' ');
            if digits_from == 1 {
                word[last_zero] = b'-';
            }
        }
    }
}

/// A cursor that knows blanks, comments and strings.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn starts_with(&self, what: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(what)
    }

    /// Over white space and comments.
    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            if self.starts_with(b"//") {
                self.skip_past(b"\n");
            } else if self.starts_with(b"/*") {
                self.at += 2;
                self.skip_past(b"*/");
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn skip_past(&mut self, what: &[u8]) {
        while self.at < self.bytes.len() && !self.starts_with(what) {
            self.at += 1;
        }
        self.at = (self.at + what.len()).min(self.bytes.len());
    }

    /// From the opening quote past the closing one.
    fn skip_string(&mut self) {
        let quote = self.peek();
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if Some(byte) == quote {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn skip_word(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.' | b'_'))
        {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(file: &str) -> String {
        prepare(file).text
    }

    #[test]
    fn keys_without_value_get_one() {
        assert_eq!(prepared(r#"{"suspend", "run": 1}"#), r#"{"suspend":null, "run": 1}"#);
        assert_eq!(prepared(r#"{"a": 1, 'suspend' /* x */ }"#), r#"{"a": 1, 'suspend':null /* x */ }"#);
        assert_eq!(prepared(r#"{"a": "b", "c": ["d", "e"]}"#), r#"{"a": "b", "c": ["d", "e"]}"#);
    }

    #[test]
    fn positions_point_into_the_file() {
        let file = r#"{"suspend", "yield", "run": 1}"#;
        let p = prepare(file);
        let of = |what: &str| {
            let at = p.text.find(what).unwrap();
            &file[p.original(at..at + what.len())]
        };
        assert_eq!(of("\"suspend\""), "\"suspend\"");
        assert_eq!(of("\"yield\""), "\"yield\"");
        assert_eq!(of("\"run\": 1"), "\"run\": 1");
        assert_eq!(of("null"), "", "what was added has no bytes in the file");
        assert!(p.is_added(p.text.find("null").unwrap()));
        assert!(!p.is_added(p.text.find(" 1}").unwrap() + 1));
    }

    #[test]
    fn literals_and_numbers_as_json_c_reads_them() {
        assert_eq!(prepared("[True, FALSE, Null, 'True']"), "[true, false, null, 'True']");
        assert_eq!(prepared("[007, -007, 0, -0, 10, 0.5]"), "[  7,   -7, 0, -0, 10, 0.5]");
    }

    #[test]
    fn comments_and_strings_are_left_alone() {
        let file = "{ // \"a\", {\n 'x': \"\\\"}\", /* } */ \"y\": 1 }";
        assert_eq!(prepared(file), file);
    }

    #[test]
    fn text_after_the_end_is_cut_off() {
        let p = prepare("{\"a\": 1} // fine\n} rest");
        assert_eq!((p.text.as_str(), p.trailing), ("{\"a\": 1}", Some(17..23)));
        assert_eq!(prepare("{\"a\": 1} /* fine */ ").trailing, None);
    }

    #[test]
    fn broken_text_comes_through() {
        for file in ["", "{", "{\"a", "{\"a\\", "}", "/*", "//", "{\"é", "[1,", "\"a\"", "{'a',"] {
            prepared(file);
        }
    }
}
