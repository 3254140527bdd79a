//! fair-placement 7.2 where the recorded answers differ: with the state of each wakeup, as rebuilt from the
//! trace, the rules of 2.5 and 2.6 are to give the recorded kernel's answer, and not without them.
//!
//! The states are nearly those of the kernel: what a trace does not show (flips from before it began, the
//! last update of a queue) is missing, so not every answer can be.

use super::wakeup::Wake;
use crate::wakeup::WakeFlags;
use crate::{CpuId, Topology};
use alloc::vec::Vec;

const RECORDED: &str = include_str!("recorded_states.txt");

/// One wakeup. The waker is on CPU 0, the woken task was last on CPU 1, and every CPU is busy.
struct Recorded {
    sync: bool,
    waker_alone: bool,
    loads: [u64; 4],
    flips: [u32; 2],
    to_waker: bool,
}

impl Recorded {
    fn all(of: &str) -> Vec<Recorded> {
        RECORDED.lines().filter(|line| line.split(' ').next() == Some(of)).map(Recorded::read).collect()
    }

    fn read(line: &str) -> Recorded {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        Recorded {
            sync: words[1] == "sync",
            waker_alone: words[2] == "1",
            loads: [3, 4, 5, 6].map(number),
            flips: [7, 8].map(|at| u32::try_from(number(at)).expect("few")),
            to_waker: words[9] == "waker",
        }
    }

    /// Whether the answer is the recorded one.
    fn answered(&self, cpus: u16, sync: bool, more: &[&str]) -> bool {
        let wake = Wake::on(&Topology::flat(usize::from(cpus)), 0, 1, more);
        let [here, there, own, waker] = self.loads;
        wake.lab.hogs_of_load(&(0..cpus).collect::<Vec<_>>(), waker);
        if !self.waker_alone {
            wake.lab.hogs_of_load(&[0], 1024);
        }
        let wake = wake.load(0, here).load(1, there).own_load(own);
        // The wakeup itself counts as one more.
        let [of_waker, of_woken] = self.flips;
        let current = wake.lab.k.rq(CpuId(0)).published.curr.get();
        wake.lab.k.task(current).se.habits.set_flips(of_waker.saturating_sub(1));
        wake.lab.k.task(wake.woken).se.habits.set_flips(of_woken);
        let flags = WakeFlags { sync: sync && self.sync, interrupt: false, exiting: false };
        (wake.goes_to(flags) == 0) == self.to_waker
    }
}

/// Of a hundred recorded answers, how many are given.
fn percent(of: &str, cpus: u16, sync: bool, more: &[&str]) -> usize {
    let recorded = Recorded::all(of);
    100 * recorded.iter().filter(|wakeup| wakeup.answered(cpus, sync, more)).count() / recorded.len()
}

#[test]
fn in_recorded_states_wakeups_go_where_they_were_recorded_to_go() {
    assert_eq!([Recorded::all("storm").len(), Recorded::all("hackbench").len()], [607, 541]);
    let storm = |more: &[&str]| percent("storm", 2, true, more);
    assert!(storm(&[]) >= 95, "{}", storm(&[]));
    assert!(storm(&["wake_wide=off"]) < 75, "{}", storm(&["wake_wide=off"]));
    assert!(storm(&["NO_WA_WEIGHT"]) < 75, "{}", storm(&["NO_WA_WEIGHT"]));
    let hackbench = |sync, more: &[&str]| percent("hackbench", 4, sync, more);
    assert!(hackbench(true, &[]) >= 90, "{}", hackbench(true, &[]));
    assert!(hackbench(false, &[]) < 60, "{}", hackbench(false, &[]));
}
