//! A task reads its CPU clock: clock_gettime(CLOCK_THREAD_CPUTIME_ID).

use crate::class::update_curr;
use crate::platform::Platform;
use crate::registry::ClockRead;
use crate::{Nanos, TaskId, ThisCpu};

/// What the CPU clock of `p`, which runs here, shows. From 3.18 on the reading charges it as a tick would, so
/// that whoever reads it all the time is throttled, or preempted at the end of a slice, when that is due and
/// not at the next tick: rule `clock_read`.
pub async fn task_sched_runtime<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> Nanos {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    let stats = &me.task(p).stats;
    match me.k.config.rules.clock_read.get() {
        ClockRead::Charges => {
            update_curr(&mut rq);
            stats.sum_exec_runtime.get()
        }
        ClockRead::Adds => {
            stats.sum_exec_runtime.get() + rq.clock_task().saturating_sub(stats.exec_start.get())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, deadline, fifo};
    use crate::{Policy, Reason};

    const MS: Nanos = Nanos::from_millis(1);

    impl Lab {
        /// The task on CPU 0 runs for so long, reads its clock, and everything that follows has happened.
        fn runs_and_reads(&self, time: Nanos) -> Nanos {
            self.advance(time);
            let clock = self.run(task_sched_runtime(self.cpu(0), self.running(0)));
            self.settle();
            clock
        }
    }

    /// deadline-groups A14 example 3: a budget of 10 ms of which 4 and 2 are left is exhausted at 50 ms, with
    /// the next tick two milliseconds away: the recorded program reads its clock, and stints last 1.93 ms.
    #[test]
    fn who_reads_its_clock_is_throttled_at_the_end_of_its_budget() {
        let throttled = |settings: &[&str]| {
            let lab = Lab::new(1, "6.1.y", settings);
            let p = lab.spawn(deadline(10, 100, 100), 0);
            assert_eq!(lab.runs_and_reads(MS * 9), MS * 9);
            assert_eq!(lab.running(0), p);
            assert_eq!(lab.runs_and_reads(MS * 1), MS * 10);
            lab.idle(0)
        };
        assert!(throttled(&[]));
        // Up to 3.17 it would have been at the next tick.
        assert!(!throttled(&["clock_read=adds"]));
    }

    /// eevdf-class 3.3: update_curr asks for a reschedule at the end of a request, not the tick alone. A new
    /// task's first request is half a slice long (3.2).
    #[test]
    fn who_reads_its_clock_is_looked_at_again_at_the_end_of_its_request() {
        let readings = |settings: &[&str]| {
            let lab = Lab::new(1, "6.18.y", &["base_slice_ns=3000000"]);
            settings.iter().for_each(|setting| lab.k.config.set(setting).expect("a setting"));
            (0..2).for_each(|_| _ = lab.spawn(Policy::Normal, 0));
            // The second one's turn.
            lab.advance(MS * 4);
            lab.tick(0);
            let ended = lab.count(Reason::RequestEnd);
            (1..=40).find(|_| {
                lab.runs_and_reads(Nanos::from_micros(100));
                lab.count(Reason::RequestEnd) > ended
            })
        };
        assert_eq!(readings(&[]), Some(15));
        assert_eq!(readings(&["clock_read=adds"]), None);
    }

    /// The clock shows what has passed, whoever runs, and a charge takes nothing from the sum.
    #[test]
    fn the_clock_goes_on_between_charges() {
        for (policy, setting) in [(Policy::Normal, "clock_read=adds"), (fifo(5), "clock_read=charges")] {
            let lab = Lab::new(1, "6.1.y", &[setting]);
            lab.spawn(policy, 0);
            assert_eq!([1, 2, 4].map(|ms| lab.runs_and_reads(MS * ms)), [MS * 1, MS * 3, MS * 7]);
        }
    }
}
