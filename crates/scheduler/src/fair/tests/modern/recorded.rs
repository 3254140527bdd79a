//! fair-placement 7.2: what a 6.1.192 kernel answered at every wakeup of a fair task, by who was idle. The
//! rows where the recordings are unanimous (335 wakeups of hackbench, a storm and mixes on 2 and 4 CPUs, and
//! 1467 with nobody idle) are rules; here they are asked in every state of such machines.

use super::modern;
use crate::testing::cpus;
use crate::wakeup::WakeFlags;
use crate::{Policy, Topology};
use alloc::vec::Vec;

/// One machine of CPUs that share a cache, and who of them is idle; a task that ran on `p` is woken on `t`.
#[derive(Clone, Copy, Debug)]
struct State {
    cpus: u16,
    idle: u16,
    t: u16,
    p: u16,
}

impl State {
    fn is_idle(&self, cpu: u16) -> bool {
        self.idle >> cpu & 1 == 1
    }

    /// Where the recorded kernel put the task.
    fn recorded(&self) -> Vec<u16> {
        match (self.t == self.p, self.is_idle(self.t), self.is_idle(self.p), self.idle == 0) {
            // 31 + 39 + 7 + 2 wakeups, 1 + 1 with both idle, 4 + 109 + 102 + 38 where both are one CPU.
            (_, _, true, _) => [self.p].into(),
            (false, true, false, _) => [self.t].into(),
            // 687 + 674 + 56 + 50 wakeups.
            (true, false, false, true) => [self.p].into(),
            // By sync or load.
            (false, false, false, true) => [self.t, self.p].into(),
            // There, or to an idle one, if it may be searched for.
            _ => (0..self.cpus).filter(|c| self.is_idle(*c)).chain([self.t, self.p]).collect(),
        }
    }

    fn answer(&self, sync: bool, searched: u64) -> u16 {
        let lab = modern(&Topology::flat(usize::from(self.cpus)), &[]);
        let woken = lab.spawn_allowed(Policy::Normal, self.p, cpus(&[self.p]));
        super::allow(&lab, woken, lab.k.online);
        lab.block(self.p);
        lab.hogs_of_load(&(0..self.cpus).filter(|c| !self.is_idle(*c)).collect::<Vec<_>>(), 1024);
        lab.allow_scans(searched);
        // On an idle CPU it is an interrupt that wakes.
        let flags = WakeFlags { sync, interrupt: self.is_idle(self.t), exiting: false };
        crate::fair::select_task_rq_wake(lab.cpu(self.t), woken, flags).0
    }
}

#[test]
fn wakeups_go_where_they_were_recorded_to_go() {
    let mut elsewhere = 0;
    for cpus in [2, 4] {
        for (t, p) in (0..cpus).flat_map(|t| (0..cpus).map(move |p| (t, p))) {
            for idle in 0..1 << cpus {
                let state = State { cpus, idle, t, p };
                for (sync, searched) in [(false, 0), (false, 4), (true, 0), (true, 4)] {
                    let (answer, recorded) = (state.answer(sync, searched), state.recorded());
                    assert!(recorded.contains(&answer), "{state:?}, sync {sync}: {answer}, not {recorded:?}");
                    elsewhere += u32::from(answer != t && answer != p);
                }
            }
        }
    }
    assert!(elsewhere > 0, "some found an idle CPU");
}
