//! Whether the recording kernel throttled real-time tasks (rt-class 8.1). No event tells it, and a release
//! does not either: from 6.12 on it is a matter of how the kernel was built (deadline-groups A12).
//!
//! It shows where a CPU idles although a real-time task waits for it. A kernel that does not throttle picks
//! the task instead; the fair server gives the CPU to fair tasks, and to nobody where there are none. A limit
//! of the task's own group (deadline-groups B9) looks the same; where the recorder wrote such limits down,
//! the kernel has them.

use super::recording::FIRST_FAIR_PRIO;
use std::collections::BTreeMap;
use trace::{EventKind, Pid, Provenance, SchedSwitch, Trace};

/// How a recording kernel throttled real-time tasks, as far as that shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Throttling {
    /// Nothing shows.
    #[default]
    NotSeen,
    /// CPUs idled although real-time tasks waited for them.
    Seen,
    /// Each task group has a limit of its own (RT_GROUP_SCHED).
    Groups,
}

impl Throttling {
    /// What a file and a trace say of it, if it shows.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Throttling::NotSeen => None,
            Throttling::Seen => Some("real-time"),
            Throttling::Groups => Some("groups"),
        }
    }

    /// What that word says.
    pub(crate) fn of_word(word: &str) -> Option<Throttling> {
        [Throttling::Seen, Throttling::Groups].into_iter().find(|of| of.word() == Some(word))
    }

    /// What a recorder wrote down.
    pub(super) fn noted(trace: &Trace) -> Throttling {
        let has_limits = trace.host.cgroups.iter().any(|(_, cpu)| cpu.rt.is_some());
        if has_limits { Throttling::Groups } else { Throttling::NotSeen }
    }

    /// What shows in a trace.
    pub(super) fn in_trace(trace: &Trace) -> Throttling {
        match Throttling::noted(trace) {
            Throttling::NotSeen if shows(trace) => Throttling::Seen,
            noted => noted,
        }
    }
}

/// Less may be what a switch takes, or clocks that differ between CPUs.
const LONG_NS: u64 = 1_000_000;

/// A preempted real-time task waits to go on.
#[derive(Clone, Copy, Debug)]
struct Wait {
    cpu: usize,
    /// For so long that CPU idled meanwhile.
    idled_ns: u64,
}

/// See the module's head. Only what was preempted and goes on where it was, without a wakeup or a migration
/// between, certainly waited there all the time.
fn shows(trace: &Trace) -> bool {
    let mut waits: BTreeMap<Pid, Wait> = BTreeMap::new();
    let mut idle_since: Vec<Option<u64>> = vec![None; trace.cpus as usize];
    let mut gaps = trace.meta.gaps.iter().peekable();
    for event in trace.events.iter() {
        // Behind a gap nobody knows who waits.
        while gaps.next_if(|gap| gap.before_ns <= event.time_ns).is_some() {
            waits.clear();
        }
        let cpu = event.cpu.index();
        match &event.kind {
            EventKind::SchedSwitch(switch) => {
                if let Some(since) = idle_since[cpu].take() {
                    let here = waits.values_mut().filter(|wait| wait.cpu == cpu);
                    here.for_each(|wait| wait.idled_ns += event.time_ns.saturating_sub(since));
                }
                if switch.next.pid == Pid::IDLE {
                    idle_since[cpu] = Some(event.time_ns);
                }
                let waited = waits.remove(&switch.next.pid);
                let was_passed_over = |wait: Wait| wait.cpu == cpu && wait.idled_ns >= LONG_NS;
                if switch.provenance == Provenance::Recorded && waited.is_some_and(was_passed_over) {
                    return true;
                }
                if is_preempted(switch) {
                    waits.insert(switch.prev.pid, Wait { cpu, idled_ns: 0 });
                } else {
                    waits.remove(&switch.prev.pid);
                }
            }
            EventKind::SchedWaking(wakeup) | EventKind::SchedWakeup(wakeup) => {
                waits.remove(&wakeup.task.pid);
            }
            EventKind::SchedMigrateTask(migration) => {
                waits.remove(&migration.task.pid);
            }
            _ => {}
        }
    }
    false
}

/// Whether a real-time task leaves its CPU and wants to go on.
fn is_preempted(switch: &SchedSwitch) -> bool {
    let SchedSwitch { prev, prev_state, provenance, .. } = switch;
    *provenance == Provenance::Recorded
        && prev_state.is_runnable()
        && (0..FIRST_FAIR_PRIO).contains(&prev.prio)
        && prev.pid != Pid::IDLE
}

#[cfg(test)]
mod tests {
    use super::Throttling;
    use crate::replay::tests::trace as script;
    use std::fmt::Write;

    fn shows(text: &str) -> bool {
        super::shows(&script(text))
    }

    #[test]
    fn what_shows_has_a_word() {
        for throttling in [Throttling::Seen, Throttling::Groups] {
            assert_eq!(throttling.word().and_then(Throttling::of_word), Some(throttling));
        }
        assert_eq!((Throttling::NotSeen.word(), Throttling::of_word("fair")), (None, None));
    }

    /// Limits that the recorder wrote down say more than what CPUs did.
    #[test]
    fn limits_of_groups_show_a_kernel_that_has_them() {
        let noted = |note: &str| {
            let text = format!(
                " rec-5 [001] .... 1.000000: tracing_mark_write: schedlab: {note}\n a-7 [000] d... 1.000020: \
                 sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 \
                 next_prio=120\n"
            );
            Throttling::in_trace(&trace::read(text.as_bytes()).expect("a trace"))
        };
        let cgroup = "cgroup quota_us=- period_us=- weight=- shares=-";
        assert_eq!(noted(&format!("{cgroup} path=/a")), Throttling::NotSeen);
        let limited = format!("{cgroup} rt_runtime_us=1000 rt_period_us=10000 path=/a");
        assert_eq!(noted(&limited), Throttling::Groups);
    }

    /// A FIFO task is preempted at 1 ms; its CPU idles from 1.1 ms on.
    const PASSED_OVER: &str = "0 0 idle R a/97
                               1000 0 a/97 R b
                               1100 0 b S idle\n";

    #[test]
    fn a_cpu_that_idles_beside_a_waiting_real_time_task_throttles_it() {
        assert!(shows(&format!("{PASSED_OVER} 50000 0 idle R a/97")));
        assert!(shows("0 0 idle R a/97\n 1000 0 a/97 R idle\n 50000 0 idle R a/97"));
        let mut pieces = PASSED_OVER.to_owned();
        for n in 0..4 {
            writeln!(pieces, "{} 0 idle R c\n {} 0 c S idle", 1400 + n * 400, 1500 + n * 400)
                .expect("a string takes everything");
        }
        assert!(shows(&format!("{pieces} 50000 0 idle R a/97")), "1.2 ms in pieces of 0.3 ms and a long one");
    }

    #[test]
    fn nothing_else_shows_it() {
        for (rest, why) in [
            ("1900 0 idle R a/97", "switches take their time"),
            ("2000 1 idle R c\n 2001 1 c wakes a/97 on 0\n 50000 0 idle R a/97", "it had slept since"),
            ("50000 1 idle R a/97", "another CPU has it, and who knows since when"),
        ] {
            assert!(!shows(&format!("{PASSED_OVER}{rest}")), "{why}");
        }
        for (script, why) in [
            ("0 0 idle R a\n 1000 0 a R idle\n 50000 0 idle R a", "fair tasks have limits of their own"),
            ("0 0 idle R a/97\n 1000 0 a/97 S idle\n 50000 0 idle R a/97", "it did not wait"),
            ("0 0 idle R a/97\n 1000 0 a/97 R b\n 50000 0 b S a/97", "the fair server does that, too"),
        ] {
            assert!(!shows(script), "{why}");
        }
    }

    /// All of kernels that throttle; in the last two nobody has used up the 950 ms.
    #[test]
    fn it_shows_where_real_time_tasks_wanted_more_than_their_share() {
        for (name, expected) in [
            ("workload/tests/fixtures/rtlab-plain-2s.trace.txt.gz", true),
            ("trace/tests/fixtures/mix-rr.dat", true),
            ("trace/tests/fixtures/guest-6.1-mix-rr-smp2.dat", true),
            ("trace/tests/fixtures/mix-rtover.dat", false),
            ("trace/tests/fixtures/mix-nice.dat", false),
        ] {
            let file = format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"));
            let mut trace = trace::read(&std::fs::read(file).expect("the fixture")[..]).expect("a trace");
            trace::infer_missing_switches(&mut trace);
            assert_eq!(super::shows(&trace), expected, "{name}");
        }
    }
}
