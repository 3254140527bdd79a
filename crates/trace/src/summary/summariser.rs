//! Figures while events come in.

use super::{CpuSummary, Summary, TaskSummary, WakeLatency, WakeupEvent};
use crate::model::{Cpu, Event, EventKind, Pid, Provenance, Trace};
use crate::occupancy::{Since, Stay};
use crate::pidmap::PidMap;
use crate::stretch::Stretch;
use crate::strings::StrId;
use crate::windows::{MachineWindow, TaskWindow, WindowedSummary, Windows};

/// A task while events come in.
#[derive(Clone, Debug)]
struct Progress {
    summary: TaskSummary,
    /// Time of a wakeup after which it has not run yet.
    woken_ns: Option<u64>,
    on_cpu: bool,
    ended: bool,
    windows: Vec<TaskWindow>,
}

pub(super) struct Summariser<'a> {
    trace: &'a Trace,
    wakeups_from: WakeupEvent,
    stretch: Stretch,
    tasks: Vec<Progress>,
    /// The entry of the current task with an id.
    by_pid: PidMap<u32>,
    cpus: Vec<CpuSummary>,
    windows: Windows,
    machine: Vec<MachineWindow>,
}

impl<'a> Summariser<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        wakeups_from: WakeupEvent,
        stretch: Stretch,
        windows: Windows,
    ) -> Self {
        let cpu = |n| CpuSummary { cpu: Cpu(n), switches: 0, idle_ns: 0, busy_ns: 0, unknown_ns: 0 };
        let cpus = (0..trace.cpus).map(cpu).collect();
        let machine = windows.empty();
        let (tasks, by_pid) = (Vec::new(), PidMap::new());
        Summariser { trace, wakeups_from, stretch, tasks, by_pid, cpus, windows, machine }
    }

    pub(super) fn event(&mut self, event: &Event, left: Option<Stay>) {
        let now = event.time_ns;
        let windows = self.windows;
        let counted = u64::from(self.stretch.holds(now));
        if let Some(pid) = event.kind.ended() {
            self.task(pid).ended = true;
        }
        match &event.kind {
            EventKind::SchedSwitch(switch) => {
                self.cpus[event.cpu.index()].switches += counted;
                if let Some(window) = windows.at(&mut self.machine, now) {
                    window.switches += 1;
                }
                if let Some(stay) = left {
                    self.interval(event.cpu, stay, now);
                }
                if switch.prev.pid != Pid::IDLE {
                    let task = self.named(switch.prev.pid, switch.prev.comm, Some(switch.prev.prio));
                    let (voluntary, involuntary) = match switch.prev_state.is_runnable() {
                        true => (0, counted),
                        false => (counted, 0),
                    };
                    task.summary.voluntary_switches += voluntary;
                    task.summary.involuntary_switches += involuntary;
                    if let Some(window) = windows.at(&mut task.windows, now) {
                        window.voluntary_switches += voluntary;
                        window.involuntary_switches += involuntary;
                    }
                    let unseen = left.is_some_and(|stay| stay.since == Since::Unseen);
                    task.summary.unseen_switches += u64::from(unseen) * counted;
                    (task.on_cpu, task.woken_ns) = (false, None);
                }
                if switch.next.pid != Pid::IDLE {
                    let task = self.named(switch.next.pid, switch.next.comm, Some(switch.next.prio));
                    task.summary.switches_in += counted;
                    let woken = task.woken_ns.take();
                    task.summary.effective_wakeups += u64::from(woken.is_some()) * counted;
                    // An inferred switch has the earliest possible time: its latency would be no measurement.
                    let known = switch.provenance == Provenance::Recorded && counted > 0;
                    if let Some(woken) = woken.filter(|_| known) {
                        task.summary.wake_latency.samples_ns.push(now - woken);
                    }
                    task.on_cpu = true;
                }
            }
            EventKind::SchedWaking(wakeup)
            | EventKind::SchedWakeup(wakeup)
            | EventKind::SchedWakeupNew(wakeup) => {
                let counts = match &event.kind {
                    EventKind::SchedWaking(_) => self.wakeups_from == WakeupEvent::Waking,
                    EventKind::SchedWakeup(_) => self.wakeups_from == WakeupEvent::Wakeup,
                    _ => true,
                };
                let task = self.named(wakeup.task.pid, wakeup.task.comm, Some(wakeup.task.prio));
                task.summary.wakeups += u64::from(counts) * counted;
                if let Some(window) = windows.at(&mut task.windows, now) {
                    window.wakeups += u64::from(counts);
                }
                if counts && !task.on_cpu {
                    task.woken_ns = Some(now);
                }
            }
            EventKind::SchedMigrateTask(moved) => {
                let task = self.named(moved.task.pid, moved.task.comm, Some(moved.task.prio));
                task.summary.migrations += counted;
                if let Some(window) = windows.at(&mut task.windows, now) {
                    window.migrations += 1;
                }
            }
            EventKind::SchedProcessFork(fork) => {
                self.named(fork.parent_pid, fork.parent_comm, None);
                self.forked(fork.child_pid);
                self.named(fork.child_pid, fork.child_comm, None);
            }
            EventKind::SchedProcessExit(task) => {
                self.named(task.pid, task.comm, Some(task.prio));
            }
            EventKind::SchedPiSetprio(pi) => {
                self.named(pi.pid, pi.comm, Some(pi.newprio));
            }
            EventKind::SchedStatRuntime(stat) => {
                self.named(stat.pid, stat.comm, None);
            }
            EventKind::SchedProcessExec(_) | EventKind::Marker(_) | EventKind::Activity(_) => {}
        }
    }

    /// A task is no longer on its CPU, and nobody saw it go.
    pub(super) fn vanished(&mut self, stay: Stay, now: u64) {
        if stay.pid != Pid::IDLE {
            let counted = u64::from(self.stretch.holds(now));
            let task = self.task(stay.pid);
            task.on_cpu = false;
            task.summary.unseen_switches += counted;
        }
    }

    /// A stay has ended by a recorded switch.
    fn interval(&mut self, cpu: Cpu, stay: Stay, end_ns: u64) {
        let start_ns = match stay.since {
            Since::Seen(ns) => ns,
            Since::Start => self.trace.start_ns(),
            Since::Unseen => return,
        };
        let length = self.spend(cpu, stay.pid, start_ns, end_ns);
        if stay.pid != Pid::IDLE {
            let summary = &mut self.task(stay.pid).summary;
            // A damaged file may have one task on many CPUs for centuries.
            let time = match stay.since {
                Since::Seen(_) => &mut summary.cpu_time_ns,
                _ => &mut summary.edge_time_ns,
            };
            *time = time.saturating_add(length);
        }
    }

    /// Books what of an interval lies in the stretch, and says how long that is, ns.
    fn spend(&mut self, cpu: Cpu, pid: Pid, from_ns: u64, to_ns: u64) -> u64 {
        let Stretch { from_ns, to_ns } = self.stretch.and(from_ns, to_ns);
        let (windows, cpu) = (self.windows, &mut self.cpus[cpu.index()]);
        if pid == Pid::IDLE {
            cpu.idle_ns += to_ns - from_ns;
            windows.spread(&mut self.machine, from_ns, to_ns, |window, ns| {
                window.idle_ns = window.idle_ns.saturating_add(ns);
            });
        } else {
            cpu.busy_ns += to_ns - from_ns;
            windows.spread(&mut self.machine, from_ns, to_ns, |window, ns| {
                window.busy_ns = window.busy_ns.saturating_add(ns);
            });
            windows.spread(&mut self.task(pid).windows, from_ns, to_ns, |window, ns| {
                window.cpu_time_ns = window.cpu_time_ns.saturating_add(ns);
            });
        }
        to_ns - from_ns
    }

    fn task(&mut self, pid: Pid) -> &mut Progress {
        let n = match self.by_pid.get(pid) {
            Some(n) => n,
            None => self.add(pid, 0),
        };
        &mut self.tasks[n as usize]
    }

    fn named(&mut self, pid: Pid, comm: StrId, prio: Option<i32>) -> &mut Progress {
        let task = self.task(pid);
        task.summary.comm = Some(comm);
        task.summary.prio = prio.or(task.summary.prio);
        task
    }

    /// A child has the id `pid`, which another task may have had before.
    fn forked(&mut self, pid: Pid) {
        if self.task(pid).ended {
            let incarnation = self.task(pid).summary.incarnation + 1;
            self.add(pid, incarnation);
        }
    }

    fn add(&mut self, pid: Pid, incarnation: u32) -> u32 {
        let n = self.tasks.len() as u32;
        let summary = TaskSummary {
            pid,
            incarnation,
            comm: self.trace.threads.get(&pid).map(|thread| thread.comm),
            prio: None,
            cpu_time_ns: 0,
            edge_time_ns: 0,
            switches_in: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            migrations: 0,
            wakeups: 0,
            effective_wakeups: 0,
            wake_latency: WakeLatency::default(),
            unseen_switches: 0,
        };
        let windows = self.windows.empty();
        self.tasks.push(Progress { summary, woken_ns: None, on_cpu: false, ended: false, windows });
        self.by_pid.insert(pid, n);
        n
    }

    /// `last` says who runs on each CPU at the end.
    pub(super) fn finish(mut self, last: &[Option<Stay>]) -> WindowedSummary {
        let (start_ns, end_ns) = (self.trace.start_ns(), self.trace.end_ns());
        for (n, stay) in last.iter().enumerate() {
            let Some(stay) = stay else { continue };
            let from_ns = match stay.since {
                Since::Seen(ns) => ns,
                Since::Start => start_ns,
                Since::Unseen => continue,
            };
            let length = self.spend(Cpu(n as u32), stay.pid, from_ns, end_ns);
            if stay.pid != Pid::IDLE {
                let time = &mut self.task(stay.pid).summary.edge_time_ns;
                *time = time.saturating_add(length);
            }
        }
        let Stretch { from_ns, to_ns } = self.stretch.and(start_ns, end_ns);
        let duration_ns = to_ns - from_ns;
        for cpu in &mut self.cpus {
            cpu.unknown_ns = duration_ns.saturating_sub(cpu.idle_ns + cpu.busy_ns);
        }
        self.tasks.retain(|task| task.summary.pid != Pid::IDLE);
        self.tasks.sort_by_key(|task| (task.summary.pid, task.summary.incarnation));
        let (tasks, windows) = self.tasks.into_iter().map(|task| (task.summary, task.windows)).unzip();
        let summary = Summary { wakeups_from: self.wakeups_from, duration_ns, tasks, cpus: self.cpus };
        WindowedSummary { summary, tasks: windows, machine: self.machine }
    }
}
