//! Counters of one CPU, and of the whole machine.

use serde::{Deserialize, Serialize};

use crate::Better;
use crate::figures::{Field, Figure, Fold, Row, figures};

figures! {
    /// Counters of one CPU.
    CpuResult:

    /// CPU number.
    same cpu: u32;
    /// Picks of a task other than the current one, the idle task included.
    sum nr_switches: u64;
    /// Time in the idle task, nanoseconds.
    sum idle_ns: u64, Neutral "idle time", metric 1;
    /// The lock of this CPU's run queue.
    parts rq_lock: RqLockStats;
    /// Interrupts sent to other CPUs (reschedule and push).
    sum ipis_sent: u64, Neutral "IPIs sent", metric 2;
    /// Interrupts received from other CPUs (reschedule and push).
    sum ipis_received: u64;
    /// Requests of other CPUs that this one noticed by itself while it idled, so that they sent no interrupt
    /// (sched_wake_idle_without_ipi).
    sum polled: u64;
}

figures! {
    /// How a run-queue lock fared.
    RqLockStats:

    /// Times it was taken.
    sum acquisitions: u64, Neutral "acquisitions", metric 6;
    /// Times that whoever took it had to wait.
    sum contended: u64, Lower "contended", metric 5;
    /// Longest wait, nanoseconds.
    max wait_max_ns: u64, Lower "longest wait", metric 1;
    /// All waits together, nanoseconds.
    sum wait_sum_ns: u64, Lower "waiting time", metric 2 headline;
    /// Most CPUs that waited at one time.
    max waiters_max: u32, Lower "most waiters", metric 3;
    /// Most CPUs that waited at one time while each held the lock of its own run queue: whoever wants theirs
    /// waits, too.
    max waiters_holding_own_max: u32, Lower "most waiters holding their own", metric 4;
}

figures! {
    /// Sums over the whole machine.
    Totals:

    /// Context switches, those to and from idle included.
    sum context_switches: u64, Neutral "context switches", metric 2, row 1;
    /// Wakeups that made a sleeping task runnable, new tasks included.
    sum wakeups: u64, Neutral "wakeups", metric 3, row 2;
    /// Assignments of a task to another CPU.
    sum migrations: u64, Lower "migrations", metric 1 headline, row 3;
    /// Tasks moved by a push of the real-time class.
    sum pushes: u64, Neutral "pushes", metric 5, row 4;
    /// Tasks moved by a pull of the real-time class.
    sum pulls: u64, Neutral "pulls", metric 6, row 5;
    /// Push interrupts sent (`RT_PUSH_IPI`).
    sum push_ipis: u64, Neutral "push IPIs", metric 7, row 6;
    /// Searches for the CPU of lowest real-time priority.
    sum rt_searches: u64, Neutral "RT searches", metric 8;
    /// Time that these searches took.
    sum rt_search_ns: u64, Lower "RT search time", metric 9;
    /// Most push interrupts that were under way at one time.
    max push_ipis_in_flight_max: u32, Lower "most push IPIs in flight", metric 10;
    /// Most push interrupts that were under way at one time on behalf of one CPU that lowered its priority.
    max push_ipis_in_flight_by_source_max: u32, Lower "most push IPIs in flight for a CPU", metric 11;
    /// Running tasks that a wakeup preempted.
    sum wakeup_preemptions: u64, Neutral "wakeup preemptions", metric 4, row 7;
    /// Sleeps in the back-off of user-space spinlocks.
    sum spinlock_sleeps: u64, Lower "spinlock sleeps", row 9 if_any;
    /// Running tasks that lost their CPU while they held a mutex or a user-space spinlock.
    sum lock_holder_preemptions: u64, Lower "lock holders preempted", row 8 if_any;
    /// Requests that idle CPUs noticed by themselves, so that no interrupt was sent (polling, MWAIT).
    sum polled: u64, Neutral "woken without IPI", row 10 if_any;
    /// Waits for mutexes of the kernel (of pipes) that were over while the task spun.
    sum kernel_mutex_spins: u64, Lower "kernel mutex spins", row 11 if_any;
    /// Time that these waits took, nanoseconds.
    sum kernel_mutex_spin_ns: u64;
    /// Waits for mutexes of the kernel in which the task slept.
    sum kernel_mutex_sleeps: u64, Lower "kernel mutex sleeps", row 12 if_any;
    /// Time that these waits took, from when the mutex was found taken, nanoseconds.
    sum kernel_mutex_sleep_ns: u64;
    /// Waits for semaphores of the kernel (of mappings and address spaces) that were over while a task spun.
    sum rwsem_spins: u64, Lower "rwsem spins", row 13 if_any;
    /// Time that these waits took, nanoseconds.
    sum rwsem_spin_ns: u64;
    /// Waits for semaphores of the kernel in which the task slept.
    sum rwsem_sleeps: u64, Lower "rwsem sleeps", row 14 if_any;
    /// Time that these waits took, from when the semaphore was found taken, nanoseconds.
    sum rwsem_sleep_ns: u64;
    /// CPU time that tasks spent on fetching what the caches had lost, nanoseconds.
    sum cache_refill_ns: u64;
    /// Time of all CPUs in interrupts, from entry to exit, nanoseconds; that of soft interrupts is not in it.
    sum interrupts_ns: u64, Lower "time in interrupts", metric 12;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Unit, example};

    fn check_places<T>(figures: &[Figure<T>]) {
        let mut places: Vec<u8> = figures.iter().filter_map(|figure| figure.place).collect();
        places.sort_unstable();
        assert!(places.iter().copied().eq(1..=places.len() as u8), "metrics {places:?}");
        let mut rows: Vec<u8> = figures.iter().filter_map(|figure| Some(figure.row?.place)).collect();
        rows.sort_unstable();
        assert!(rows.iter().copied().eq(1..=rows.len() as u8), "rows {rows:?}");
    }

    #[test]
    fn every_metric_and_every_row_has_a_place_of_its_own() {
        check_places(Totals::FIGURES);
        check_places(CpuResult::FIGURES);
        check_places(RqLockStats::FIGURES);
    }

    #[test]
    fn a_figure_has_the_name_the_unit_and_the_value_of_its_field() {
        let figure = |name| Totals::FIGURES.iter().find(|figure| figure.name == name).expect("a figure");
        let totals = example::run().totals;
        let search = figure("rt_search_ns");
        assert_eq!(
            (search.key(), search.unit(), (search.of)(&totals)),
            ("rt_search", Unit::Nanoseconds, 48_000)
        );
        let moved = figure("migrations");
        assert_eq!((moved.key(), moved.unit(), (moved.of)(&totals)), ("migrations", Unit::Count, 211));
        assert_eq!((moved.headline, search.headline), (true, false));
    }

    #[test]
    fn a_field_has_its_documentation_in_one_line() {
        let field = |name| CpuResult::FIELDS.iter().find(|field| field.name == name).expect("a field");
        let polled = field("polled");
        assert!(polled.about.starts_with("Requests of other CPUs that"), "{}", polled.about);
        assert!(polled.about.ends_with(" so that they sent no interrupt (sched_wake_idle_without_ipi)."));
        assert_eq!((polled.counts, polled.label), (true, None));
        assert_eq!((field("ipis_sent").label, field("cpu").counts), (Some("IPIs sent"), false));
    }

    #[test]
    fn in_a_stretch_counters_begin_at_nothing_and_maxima_anew() {
        let (before, mut after) = (example::cpu(1), example::cpu(1));
        after.nr_switches += 5;
        after.rq_lock.contended += 2;
        after.rq_lock.wait_max_ns = 70;
        let counted = after.since(&before);
        assert_eq!((counted.cpu, counted.nr_switches, counted.idle_ns), (1, 5, 0));
        assert_eq!((counted.rq_lock.contended, counted.rq_lock.acquisitions), (2, 0));
        assert_eq!((counted.rq_lock.wait_max_ns, counted.rq_lock.waiters_max), (70, 2));
    }
}
