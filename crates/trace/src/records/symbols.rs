//! Names of kernel functions: /proc/kallsyms, as trace.dat and perf.data embed it.

use std::collections::BTreeMap;

use crate::strings::{StrId, Strings};

/// A function, and where its name is in the text.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    address: u64,
    start: usize,
    end: usize,
}

/// All functions that the file names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    text: Vec<u8>,
    /// By address; of several at one address the first in the text.
    symbols: Vec<Symbol>,
    /// Names that were asked for: few functions are called by all timers and workers.
    known: BTreeMap<u64, StrId>,
}

impl Symbols {
    /// Reads lines such as `ffffffff81498b10 t process_timeout`, perhaps with a module behind the name. What
    /// is no such line names nothing.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut symbols = Vec::new();
        let mut line_start = 0;
        for line in text.split(|byte| *byte == b'\n') {
            symbols.extend(symbol(line, line_start));
            line_start += line.len() + 1;
        }
        symbols.sort_by_key(|symbol| symbol.address);
        symbols.dedup_by_key(|symbol| symbol.address);
        Symbols { text: text.to_vec(), symbols, known: BTreeMap::new() }
    }

    /// The name of the function that begins at `address`, or the address itself in hexadecimal. (Events have
    /// addresses of whole functions, and recorders need not write all symbols: the one before would be a
    /// guess.)
    pub(crate) fn name(&mut self, address: u64, strings: &mut Strings) -> StrId {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let found = self.symbols.binary_search_by_key(&address, |symbol| symbol.address);
        let id = match found.map(|n| self.symbols[n]) {
            Ok(symbol) => strings.intern_bytes(&self.text[symbol.start..symbol.end]),
            Err(_) => strings.intern(&format!("{address:#x}")),
        };
        self.known.insert(address, id);
        id
    }
}

fn symbol(line: &[u8], line_start: usize) -> Option<Symbol> {
    let digits = line.iter().position(|byte| *byte == b' ')?;
    let address = u64::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()?;
    // A blank, a letter for its kind, a blank.
    let start = digits + 3;
    let name = line.get(start..)?;
    let len = name.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(name.len());
    // An unprivileged reader of /proc/kallsyms sees zeros.
    (address != 0 && len > 0).then_some(Symbol {
        address,
        start: line_start + start,
        end: line_start + start + len,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_name_of_the_function_that_begins_there() {
        let text = b"ffffffff81000200 t second [module]\nnonsense\nffffffff81000100 T first\n\
                     0000000000000000 T hidden\nffffffff81000200 t alias";
        let (mut symbols, mut strings) = (Symbols::parse(text), Strings::new());
        for (address, name) in [
            (0xffff_ffff_8100_0100, "first"),
            (0xffff_ffff_8100_01ff, "0xffffffff810001ff"),
            (0xffff_ffff_8100_0200, "second"),
            (0x1000, "0x1000"),
        ] {
            let id = symbols.name(address, &mut strings);
            assert_eq!(&strings[id], name);
            assert_eq!(symbols.name(address, &mut strings), id);
        }
    }

    #[test]
    fn without_symbols_an_address_stays_one() {
        let (mut symbols, mut strings) = (Symbols::default(), Strings::new());
        let id = symbols.name(0xffff_ffff_8100_0100, &mut strings);
        assert_eq!(&strings[id], "0xffffffff81000100");
    }
}
