//! What the exit code says.

/// The command did what it was asked to; also when the reader of its output went away.
pub const OK: u8 = 0;
/// The experiment ran, and `--check` found an invariant of the scheduler broken or a machine file far from
/// this computer, a reproduction does not agree, or a validation misses a bound.
pub const CHECK_FAILED: u8 = 1;
/// The command line, a file or an experiment is not possible: the message says what is wrong and where.
pub const BAD_INPUT: u8 = 2;

/// What each of them means.
pub const MEANING: &str = "\
0 done; 1 --check found a broken invariant or a machine file that is far off, a reproduction does not agree, or a validation misses a bound; 2 the command line, a file or the experiment is not possible.";

/// For `--help`.
pub fn help() -> String {
    format!("Exit codes: {MEANING}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_and_the_manual_name_every_code() {
        for code in [OK, CHECK_FAILED, BAD_INPUT] {
            assert!(help().contains(&format!(" {code} ")), "{code}");
            assert!(include_str!("../../../../docs/cli.md").contains(&format!("\n| {code} | ")), "{code}");
        }
    }
}
