//! Programs of the field that are no loads here, each with the load that comes nearest.

/// What to run in place of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nearest {
    program: &'static str,
    /// A word of its command line by which this part of it is meant; empty: the rest.
    word: &'static str,
    /// A command line that is a load here.
    pub command: &'static str,
    /// What both have in common, and what not.
    pub why: &'static str,
}

/// By program; of one program the first that fits.
const ELSEWHERE: &[Nearest] = &[
    of("perf", "messaging", "hackbench -g10", "the same program under its older name"),
    of("perf", "pipe", "hackbench -P -g1 -f1", "one sender and one receiver on a pipe, without the answers"),
    of("perf", "", "hackbench", "of perf's benchmarks, sched messaging is the same"),
    of("stress-ng", "--fork", "fork_storm", "processes that fork short jobs"),
    of("stress-ng", "--switch", "hackbench -P -g1 -f1", "messages through a pipe"),
    of("stress-ng", "--pipe", "hackbench -P -g1 -f1", "messages through a pipe"),
    of("stress-ng", "--cyclic", "cyclictest -t1 -p80", "it measures the same"),
    of("stress-ng", "", "hog -n 4", "tasks that compute, as its --cpu 4"),
    of("stress", "", "hog -n 4", "tasks that compute, as its --cpu 4"),
    of("sysbench", "cpu", "hog -n 4", "threads that compute"),
    of("sysbench", "", "oltp", "its read-only OLTP test on a database"),
    of("pgbench", "", "oltp", "clients and server tasks of a database"),
    of("tbench", "", "hackbench", "clients and servers over sockets"),
    of("netperf", "", "hackbench -g1 -f1", "a sender and a receiver over a socket"),
    of("kernbench", "", "make -j4 100", "a build"),
];

const fn of(program: &'static str, word: &'static str, command: &'static str, why: &'static str) -> Nearest {
    Nearest { program, word, command, why }
}

/// What comes nearest to a command line of another program, if that is known. An option may have its value
/// attached.
pub(super) fn nearest(program: &str, words: &[String]) -> Option<&'static Nearest> {
    let has =
        |word: &str| words.iter().any(|w| w == word || w.split_once('=').is_some_and(|(w, _)| w == word));
    ELSEWHERE.iter().find(|n| n.program == program && (n.word.is_empty() || has(n.word)))
}

#[cfg(test)]
mod tests {
    use super::super::{entries, parse};
    use super::*;

    #[test]
    fn what_comes_nearest_is_a_load_and_the_program_is_none() {
        for nearest in ELSEWHERE {
            assert!(parse(nearest.command).is_ok(), "{}", nearest.command);
            assert!(entries().iter().all(|entry| entry.name != nearest.program), "{}", nearest.program);
        }
    }

    #[test]
    fn the_error_names_what_comes_nearest() {
        for (command, load) in [
            ("perf bench sched messaging -g 4", "`hackbench -g10`"),
            ("perf bench futex hash", "`hackbench`"),
            ("/usr/bin/stress-ng --fork=4", "`fork_storm`"),
            ("stress-ng --cpu 4 --timeout 5", "`hog -n 4`"),
            ("sysbench oltp_read_only run", "`oltp`"),
            ("sysbench cpu run", "`hog -n 4`"),
        ] {
            let error = parse(command).expect_err("not a load").to_string();
            assert!(error.contains(&format!("nearest comes {load}: ")), "{error}");
        }
    }
}
