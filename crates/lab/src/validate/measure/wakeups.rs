//! Where tasks are woken, as rebuilt from a trace (fair-placement 7.1).

use crate::validate::log::Names;
use schema::{CpuId, Log, LogEvent, LogRecord, LogTaskRef, Pid};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use workload::replay::TaskSelector;

/// Which wakeups of fair tasks by another CPU than their last one, while no CPU is idle, and what of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Wakeups {
    /// Who is woken: a name, or a pattern of names.
    of: String,
    take: Take,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    /// How many there are.
    Count,
    /// How many per cent go to the waker's CPU.
    WakerPercent,
}

/// A CPU, as the events so far tell.
#[derive(Default)]
struct Cpu {
    runs: bool,
    /// Tasks that are being woken, and were last here or are to come here.
    coming: BTreeSet<Pid>,
    /// Tasks woken here since the last switch.
    arrived: bool,
}

impl Cpu {
    /// Between a wakeup's beginning and the switch to the woken task a trace shows the idle task for a while.
    fn is_idle(&self) -> bool {
        !self.runs && self.coming.is_empty() && !self.arrived
    }
}

/// The CPUs, and those wakeups of which the answer is not known yet, by who is woken: the waker's CPU.
#[derive(Default)]
struct Machine {
    cpus: BTreeMap<CpuId, Cpu>,
    asked: BTreeMap<Pid, CpuId>,
}

impl Wakeups {
    pub fn of(&self, log: &Log) -> f64 {
        // What cannot be read as a pattern is one name.
        let whom: TaskSelector = self.of.parse().unwrap_or(TaskSelector::Comm(self.of.clone()));
        let (mut names, mut machine) = (Names::of(log), Machine::of(log.head.machine.cpus));
        let (mut all, mut to_waker) = (0_u64, 0_u64);
        for record in &log.records {
            names.see(&record.event);
            if let Some(answer) = machine.see(record).filter(|answer| names.is(&whom, answer.woken)) {
                all += 1;
                to_waker += u64::from(answer.chosen == answer.waker);
            }
        }
        match self.take {
            Take::Count => all as f64,
            Take::WakerPercent => 100.0 * to_waker as f64 / all.max(1) as f64,
        }
    }
}

/// Where a task was put that was asked for.
struct Answer {
    woken: Pid,
    waker: CpuId,
    chosen: CpuId,
}

impl Machine {
    fn of(cpus: u32) -> Machine {
        let number = |cpu: u32| CpuId(u16::try_from(cpu).unwrap_or(u16::MAX));
        Machine { cpus: (0..cpus).map(|cpu| (number(cpu), Cpu::default())).collect(), asked: BTreeMap::new() }
    }

    fn see(&mut self, record: &LogRecord) -> Option<Answer> {
        match &record.event {
            LogEvent::SchedSwitch { next, .. } => {
                let cpu = self.cpus.entry(record.cpu).or_default();
                (cpu.runs, cpu.arrived) = (next.pid != Pid(0), false);
            }
            LogEvent::SchedWaking { task, target_cpu } => self.waking(record.cpu, *task, *target_cpu),
            LogEvent::SchedMigrateTask { task, dest_cpu, .. } if self.leave(task.pid) => {
                self.cpus.entry(*dest_cpu).or_default().coming.insert(task.pid);
            }
            LogEvent::SchedWakeup { task, target_cpu } => {
                self.leave(task.pid);
                self.cpus.entry(*target_cpu).or_default().arrived = true;
                let waker = self.asked.remove(&task.pid)?;
                return Some(Answer { woken: task.pid, waker, chosen: *target_cpu });
            }
            LogEvent::SchedWakeupNew { target_cpu, .. } => {
                self.cpus.entry(*target_cpu).or_default().arrived = true;
            }
            _ => {}
        }
        None
    }

    /// A wakeup begins on `waker`; the task was last on `previous`.
    fn waking(&mut self, waker: CpuId, task: LogTaskRef, previous: CpuId) {
        /// Of the least real-time priority.
        const LAST_REAL_TIME: i16 = 99;
        let fair = task.prio.0 > LAST_REAL_TIME;
        if fair && waker != previous && !self.cpus.values().any(Cpu::is_idle) {
            self.asked.insert(task.pid, waker);
        }
        self.cpus.entry(previous).or_default().coming.insert(task.pid);
    }

    /// The task comes to no CPU any more; whether it did, to one.
    fn leave(&mut self, task: Pid) -> bool {
        self.cpus.values_mut().any(|cpu| cpu.coming.remove(&task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{LogPrevState, Nanos, Prio};

    fn fair(pid: i32) -> LogTaskRef {
        LogTaskRef { pid: Pid(pid), prio: Prio(120) }
    }

    fn switch(to: i32) -> LogEvent {
        LogEvent::SchedSwitch { prev: fair(9), prev_state: LogPrevState::Runnable, next: fair(to) }
    }

    /// After these events a task that was last on CPU 1 is woken from CPU 0 and put on `chosen`.
    fn answers(events: &[(u16, LogEvent)], chosen: u16) -> Vec<bool> {
        let mut machine = Machine::of(2);
        let task = fair(5);
        let woken = [
            (0, LogEvent::SchedWaking { task, target_cpu: CpuId(1) }),
            (0, LogEvent::SchedWakeup { task, target_cpu: CpuId(chosen) }),
        ];
        let record = |(cpu, event): &(u16, LogEvent)| LogRecord {
            time: Nanos(0),
            cpu: CpuId(*cpu),
            pid: Pid(0),
            in_interrupt: false,
            event: event.clone(),
        };
        let records = events.iter().chain(&woken).map(record);
        records.filter_map(|record| machine.see(&record)).map(|a| a.chosen == a.waker).collect()
    }

    #[test]
    fn the_waker_s_cpu_is_told_from_the_last_one() {
        let both_run = [(0, switch(1)), (1, switch(2))];
        assert_eq!(answers(&both_run, 0), [true]);
        assert_eq!(answers(&both_run, 1), [false]);
    }

    #[test]
    fn with_an_idle_cpu_nothing_is_asked_but_one_to_which_a_task_comes_is_not_idle() {
        assert_eq!(
            answers(&[(0, switch(1)), (1, switch(2)), (1, switch(0))], 0),
            [false; 0],
            "CPU 1 is idle"
        );
        let coming = LogEvent::SchedWaking { task: fair(6), target_cpu: CpuId(1) };
        assert_eq!(answers(&[(0, switch(1)), (1, coming.clone())], 0), [true], "a wakeup is under way");
        let arrived = LogEvent::SchedWakeup { task: fair(6), target_cpu: CpuId(1) };
        assert_eq!(answers(&[(0, switch(1)), (1, coming), (1, arrived)], 0), [true], "no switch to it yet");
    }

    #[test]
    fn wakeups_of_real_time_tasks_do_not_count() {
        let mut machine = Machine::of(1);
        machine.cpus.entry(CpuId(0)).or_default().runs = true;
        machine.waking(CpuId(0), LogTaskRef { pid: Pid(5), prio: Prio(49) }, CpuId(1));
        assert!(machine.asked.is_empty());
    }
}
