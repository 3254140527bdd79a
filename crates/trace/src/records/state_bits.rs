//! What the bits of `prev_state` mean, read from the C expression with which the kernel prints
//! `sched_switch`.
//!
//! The expression names the states as pairs, `{ 0x01, "S" }`, and the preemption bit as `REC->prev_state &
//! (…) ? "+"`. Their values moved between kernels (0x10 was `Z` up to 3.13 and is `X` since; the preemption
//! bit has been 0x400, 0x800 and 0x100), so reading them is the only way to be right on all.

use crate::state::{PrevState, StateBits};

/// The table in a `print fmt`, or `None` where it is not written as known kernels write it.
pub(crate) fn parse(print_fmt: &str) -> Option<StateBits> {
    let mut flags = Vec::new();
    for pair in print_fmt.split('{').skip(1) {
        let (pair, _) = pair.split_once('}')?;
        let (mask, letters) = pair.split_once(',')?;
        let letters = letters.trim().strip_prefix('"')?.strip_suffix('"')?;
        let mask = evaluate(mask)?;
        if mask != 0 {
            flags.push((mask, PrevState::from_letters(letters.as_bytes())));
        }
    }
    let preempted = match print_fmt.split_once("? \"+\"") {
        Some((before, _)) => evaluate(before.rsplit_once("prev_state &")?.1)?,
        None => 0,
    };
    (!flags.is_empty()).then(|| StateBits::new(flags, preempted))
}

/// The value of a C expression of numbers, parentheses and `| & << + -`; `None` for anything else.
fn evaluate(text: &str) -> Option<u64> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let value = parser.binary(0)?;
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

/// Operators by rising strength, as in C.
const OPERATORS: [&[&str]; 4] = [&["|"], &["&"], &["<<"], &["+", "-"]];

impl Parser<'_> {
    fn binary(&mut self, level: usize) -> Option<u64> {
        let Some(operators) = OPERATORS.get(level) else { return self.primary() };
        let mut value = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|op| self.rest.starts_with(**op)) {
            self.skip(operator.len());
            let right = self.binary(level + 1)?;
            value = match *operator {
                "|" => value | right,
                "&" => value & right,
                "<<" => value.checked_shl(u32::try_from(right).ok()?)?,
                "+" => value.wrapping_add(right),
                _ => value.wrapping_sub(right),
            };
        }
        Some(value)
    }

    fn primary(&mut self) -> Option<u64> {
        if self.rest.starts_with('(') {
            // Real expressions nest five deep; a damaged file must not use up the stack.
            self.depth += 1;
            if self.depth > 32 {
                return None;
            }
            self.skip(1);
            let value = self.binary(0)?;
            self.depth -= 1;
            self.rest.starts_with(')').then_some(())?;
            self.skip(1);
            return Some(value);
        }
        let len = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let number = &self.rest[..len];
        let digits = number.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        self.skip(len);
        Some(value)
    }

    fn skip(&mut self, len: usize) {
        self.rest = self.rest[len..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_evaluated_as_c_does() {
        assert_eq!(evaluate("1024"), Some(1024));
        assert_eq!(evaluate("(((0x00 | 0x01 | 0x40) + 1) << 1) - 1"), Some(((0x41 + 1) << 1) - 1));
        assert_eq!(evaluate("1 + 2 << 3 | 4 & 6"), Some(24 | 4));
        assert_eq!(evaluate("0x10UL"), Some(16));
        assert_eq!(evaluate("1 << 64"), None);
        assert_eq!(evaluate("REC->x"), None);
        assert_eq!(evaluate("(1"), None);
        assert_eq!(evaluate(""), None);
        assert_eq!(evaluate(&"(".repeat(100_000)), None);
    }

    #[test]
    fn kernels_since_4_14() {
        let report = "(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 \
                      | 0x00000040) + 1) << 1)";
        let fmt = format!(
            "\"prev_state=%s%s\", (REC->prev_state & ({report} - 1)) ? __print_flags(REC->prev_state & ({report} - 1), \"|\", \
             {{ 0x00000001, \"S\" }}, {{ 0x00000002, \"D\" }}, {{ 0x00000004, \"T\" }}, {{ 0x00000008, \"t\" }}, \
             {{ 0x00000010, \"X\" }}, {{ 0x00000020, \"Z\" }}, {{ 0x00000040, \"P\" }}, {{ 0x00000080, \"I\" }}) : \"R\", \
             REC->prev_state & {report} ? \"+\" : \"\", REC->next_comm"
        );
        assert_eq!(parse(&fmt), Some(StateBits::modern()));
    }

    #[test]
    fn a_3_10_kernel_swaps_dead_and_zombie_and_has_another_preemption_bit() {
        let fmt = "\"prev_state=%s%s ==> \", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), \"|\", \
                   { 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, \
                   { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }) : \"R\", REC->prev_state & 1024 ? \"+\" : \"\", REC->next_comm";
        let bits = parse(fmt).expect("understood");
        assert_eq!(bits.decode(16), PrevState::Zombie);
        assert_eq!(bits.decode(32), PrevState::Dead);
        assert_eq!(bits.decode(64), PrevState::Dead);
        assert_eq!(bits.decode(512), PrevState::Parked);
        assert_eq!(bits.decode(1024), PrevState::Preempted);
        assert_eq!(bits.decode(2 | 128), PrevState::Uninterruptible);
        assert_eq!(bits.decode(0x100), PrevState::Unknown, "TASK_WAKING is no state to sleep in");
    }

    #[test]
    fn what_is_not_understood_gives_nothing() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("\"%s\", REC->prev_comm"), None);
        assert_eq!(parse("{ 1, \"S\""), None);
        assert_eq!(parse("{ x, \"S\" }"), None);
    }
}
