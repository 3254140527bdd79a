//! A trace cut into equal windows: how much its figures vary within it.

use crate::model::Trace;
use crate::summary::Summary;

/// What a task did in one window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskWindow {
    /// Time on a CPU, at the edges of the trace too, ns.
    pub cpu_time_ns: u64,
    /// How often it left to sleep.
    pub voluntary_switches: u64,
    /// How often it left runnable.
    pub involuntary_switches: u64,
    /// How often it was given another CPU.
    pub migrations: u64,
    /// How often it was woken.
    pub wakeups: u64,
}

/// What the CPUs did in one window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MachineWindow {
    /// Switches on all CPUs.
    pub switches: u64,
    /// Time of all CPUs in the idle task, ns.
    pub idle_ns: u64,
    /// Time of all CPUs in other tasks, ns.
    pub busy_ns: u64,
}

/// A summary, and its figures in equal windows from the first event to the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowedSummary {
    /// Of the whole trace.
    pub summary: Summary,
    /// The windows of each task of the summary, in its order.
    pub tasks: Vec<Vec<TaskWindow>>,
    /// The windows of all CPUs together.
    pub machine: Vec<MachineWindow>,
}

/// Where the windows of a trace lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    start_ns: u64,
    duration_ns: u64,
    count: u32,
}

impl Windows {
    /// So many windows; with 0, nothing is kept.
    pub fn of(trace: &Trace, count: u32) -> Windows {
        Windows { start_ns: trace.start_ns(), duration_ns: trace.end_ns() - trace.start_ns(), count }
    }

    /// A window for each, in which nothing has happened.
    pub fn empty<T: Clone + Default>(&self) -> Vec<T> {
        vec![T::default(); self.count as usize]
    }

    /// The window of `windows` that holds a time of the trace. The last holds the trace's end, too.
    pub fn at<'a, T>(&self, windows: &'a mut [T], time_ns: u64) -> Option<&'a mut T> {
        windows.get_mut(self.index(time_ns))
    }

    /// Gives each window of `windows` its share of an interval, ns.
    pub fn spread<T>(&self, windows: &mut [T], from_ns: u64, to_ns: u64, add: impl Fn(&mut T, u64)) {
        let mut from_ns = from_ns;
        for (index, window) in windows.iter_mut().enumerate().skip(self.index(from_ns)) {
            let end_ns = self.end_ns(index).min(to_ns);
            if end_ns > from_ns {
                add(window, end_ns - from_ns);
                from_ns = end_ns;
            }
        }
    }

    fn index(&self, time_ns: u64) -> usize {
        let share = u128::from(time_ns.saturating_sub(self.start_ns)) * u128::from(self.count);
        let index = share / u128::from(self.duration_ns.max(1));
        index.min(u128::from(self.count.saturating_sub(1))) as usize
    }

    /// The first time that is no longer in a window. Rounded up, as `index` rounds down.
    fn end_ns(&self, index: usize) -> u64 {
        let share = u128::from(self.duration_ns) * (index as u128 + 1);
        // Within the duration, so it fits.
        self.start_ns + share.div_ceil(u128::from(self.count.max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pid, WakeupEvent, read, summarise_from, summarise_in_windows};

    /// Task 7 runs from 100 to 350 µs and from 380 to 400 µs of a trace of 400 µs.
    const TRACE: &str = " <idle>-0 [000] d... 0.000000: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
         <idle>-0 [000] d... 0.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
         a-7 [000] d... 0.000350: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
         <idle>-0 [000] d... 0.000360: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
         <idle>-0 [000] d... 0.000380: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
         a-7 [000] d... 0.000400: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

    #[test]
    fn an_interval_is_shared_out_over_the_windows_it_touches() {
        let trace = read(TRACE.as_bytes()).expect("a trace");
        let windowed = summarise_in_windows(&trace, WakeupEvent::Wakeup, 4);
        assert_eq!(windowed.summary, summarise_from(&trace, WakeupEvent::Wakeup));
        let row = |w: &TaskWindow| {
            [w.cpu_time_ns, w.voluntary_switches, w.involuntary_switches, w.wakeups, w.migrations]
        };
        let task = windowed.summary.tasks.iter().position(|task| task.pid == Pid(7)).expect("it occurs");
        let rows: Vec<_> = windowed.tasks[task].iter().map(row).collect();
        assert_eq!(
            rows,
            [[0, 0, 0, 1, 0], [100_000, 0, 0, 0, 0], [100_000, 0, 0, 0, 0], [70_000, 1, 1, 1, 0]]
        );
        let machine: Vec<_> = windowed.machine.iter().map(|w| [w.switches, w.idle_ns, w.busy_ns]).collect();
        assert_eq!(machine, [[0, 100_000, 0], [1, 0, 100_000], [0, 0, 100_000], [3, 30_000, 70_000]]);
    }

    #[test]
    fn windows_that_do_not_divide_the_trace_lose_no_nanosecond() {
        let trace = read(TRACE.as_bytes()).expect("a trace");
        for count in [1, 3, 7, 17, 20] {
            let windowed = summarise_in_windows(&trace, WakeupEvent::Wakeup, count);
            let sum: u64 = windowed.tasks.iter().flatten().map(|window| window.cpu_time_ns).sum();
            assert_eq!(sum, 270_000, "{count}");
            let cpus: u64 = windowed.machine.iter().map(|window| window.idle_ns + window.busy_ns).sum();
            assert_eq!(cpus, 400_000, "{count}");
        }
    }
}
