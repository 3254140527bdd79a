//! What a log says, in the order in which explanations ask for it.

use super::cpus::{Cpu, Since};
use super::mutexes;
use super::tasks::Task;
use super::wakeup::Wakeup;
use schema::why::Budget;
use schema::{CpuId, Log, LogBudget, LogGroup, Nanos, Pid, Prio};
use std::collections::BTreeMap;

/// CPUs, tasks, wakeups, budgets and mutexes of a run.
#[derive(Debug)]
pub(super) struct Course {
    pub cpus: Vec<Cpu>,
    pub tasks: BTreeMap<Pid, Task>,
    /// In the order of the tasks' first instructions.
    pub wakeups: Vec<Wakeup>,
    /// When the real-time tasks of a CPU, or a task group there, may not run.
    throttles: Vec<Throttle>,
    groups: Vec<LogGroup>,
    /// Who has each mutex.
    owners: Vec<Vec<Since<Option<Pid>>>>,
    /// Their names.
    mutexes: Vec<Box<str>>,
    /// The names of idle states, where CPUs have several.
    idle_states: Vec<String>,
}

/// A budget of a CPU, and when it was used up.
#[derive(Debug)]
struct Throttle {
    cpu: CpuId,
    budget: LogBudget,
    stops: Vec<Since<bool>>,
}

/// A task may not run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stopped {
    pub budget: Budget,
    pub until: Option<Nanos>,
}

impl Course {
    /// Of a log of which nothing is read yet.
    pub fn new(log: &Log) -> Course {
        Course {
            cpus: (0..log.head.machine.cpus).map(|_| Cpu::new()).collect(),
            tasks: BTreeMap::new(),
            wakeups: Vec::new(),
            throttles: Vec::new(),
            groups: log.head.groups.clone(),
            owners: Vec::new(),
            mutexes: names_of_mutexes(&log.head.objects),
            idle_states: log.head.idle_states.clone(),
        }
    }

    /// All of it is read.
    pub fn is_read(&mut self) {
        self.owners = mutexes::owners(self);
    }

    /// What a mutex is called; its number, if it has no name.
    pub fn mutex_name(&self, mutex: u32) -> Box<str> {
        let name = self.mutexes.get(mutex as usize).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| mutex.to_string().into())
    }

    /// What an idle state is called, if there are several.
    pub fn idle_state_name(&self, state: Option<u32>) -> Option<Box<str>> {
        self.idle_states.get(state? as usize).map(|name| name.as_str().into())
    }

    /// Who has a mutex, from each time on.
    pub fn owners(&self, mutex: u32) -> &[Since<Option<Pid>>] {
        self.owners.get(mutex as usize).map_or(&[], Vec::as_slice)
    }

    /// Why a task may not run on a CPU, because of a budget that it shares with others there, and until when.
    fn throttled(&self, time: Nanos, cpu: CpuId, pid: Pid, prio: Prio) -> Option<Stopped> {
        let concerns = |budget: LogBudget| match budget {
            LogBudget::RealTime {} => (0..100).contains(&prio.0),
            LogBudget::RtGroup { group } => (0..100).contains(&prio.0) && self.is_in_group(pid, group),
            LogBudget::Group { group } => prio.0 >= 100 && self.is_in_group(pid, group),
            LogBudget::Deadline { pid: whose } => whose == pid,
        };
        let stopped = |throttle: &Throttle| {
            let next = throttle.stops.partition_point(|since| since.from <= time);
            let holds = next.checked_sub(1).is_some_and(|last| throttle.stops[last].is);
            let until = throttle.stops.get(next).map(|since| since.from);
            holds.then(|| Stopped { budget: self.budget(throttle.budget), until })
        };
        let all = self.throttles.iter().filter(|throttle| throttle.cpu == cpu && concerns(throttle.budget));
        all.filter_map(stopped).next()
    }

    /// The same of its own budget, too.
    pub fn stopped(&self, time: Nanos, cpu: CpuId, pid: Pid, prio: Prio) -> Option<Stopped> {
        let own = self.tasks.get(&pid).and_then(|task| task.throttled_until(time));
        own.or_else(|| self.throttled(time, cpu, pid, prio))
    }

    /// When budgets of a CPU, or the task's own, begin or end to keep tasks away, in this stretch.
    pub fn throttle_times(&self, from: Nanos, to: Nanos, cpu: CpuId, pid: Pid) -> Vec<Nanos> {
        let inside = |states: &[Since<bool>]| {
            let first = states.partition_point(|since| since.from <= from);
            let inside = states[first..].iter().take_while(|since| since.from < to);
            inside.map(|since| since.from).collect::<Vec<_>>()
        };
        let own = self.tasks.get(&pid).map(|task| inside(&task.throttled)).unwrap_or_default();
        let all = self.throttles.iter().filter(|throttle| throttle.cpu == cpu);
        let mut times: Vec<Nanos> = all.flat_map(|throttle| inside(&throttle.stops)).chain(own).collect();
        times.sort_unstable();
        times
    }

    /// A budget of a CPU begins, or ends, to keep tasks away.
    pub fn throttles(&mut self, from: Nanos, cpu: CpuId, budget: LogBudget, is: bool) {
        let all = &mut self.throttles;
        let known = all.iter().position(|throttle| throttle.cpu == cpu && throttle.budget == budget);
        let place = known.unwrap_or_else(|| {
            all.push(Throttle { cpu, budget, stops: Vec::new() });
            all.len() - 1
        });
        all[place].stops.push(Since { from, is });
    }

    fn budget(&self, budget: LogBudget) -> Budget {
        match budget {
            LogBudget::RealTime {} => Budget::RealTime {},
            LogBudget::Deadline { .. } => Budget::Deadline {},
            LogBudget::RtGroup { group } => Budget::RtGroup {
                group: self.groups.get(group as usize).map_or("", |group| group.path.as_str()).into(),
            },
            LogBudget::Group { group } => Budget::Group {
                group: self.groups.get(group as usize).map(|group| group.path.as_str().into()),
            },
        }
    }

    fn is_in_group(&self, pid: Pid, group: u32) -> bool {
        let Some(above) = self.groups.get(group as usize) else { return false };
        let below = |path: &str| schema::is_in_group(path, &above.path);
        self.groups.iter().any(|group| below(&group.path) && group.tasks.binary_search(&pid).is_ok())
    }

    pub fn cpu(&self, cpu: CpuId) -> &Cpu {
        &self.cpus[cpu.index()]
    }
}

/// By number, from the words of a workload file.
fn names_of_mutexes(objects: &[String]) -> Vec<Box<str>> {
    let names = objects.iter().filter_map(|object| {
        let rest = object.strip_prefix("mutex ")?;
        Some(rest.split_once("name=")?.1.into())
    });
    names.collect()
}
