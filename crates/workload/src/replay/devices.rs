//! Waits for devices. What a disk took to answer is a service time, not a time of day: it begins when the task asks, and where
//! a what-if lets the task ask sooner, the answer comes sooner.
//!
//! A task that sleeps uninterruptibly (state D) until an interrupt wakes it has waited for a device. Often the interrupt wakes
//! a thread of the kernel (a kworker) which finishes the work and wakes the task: then that thread's wakeup is the answer.

use super::recording::{Recorded, TaskIndex};
use super::track::{Behalf, By, Sleep, State, Track};
use super::work;
use machine::{DeviceId, DeviceSpec};
use scheduler::Nanos;
use std::collections::BTreeMap;
use trace::PrevState;

/// For whom a device's interrupt ended a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Served {
    /// For the sleeper.
    Itself,
    /// For a task that the sleeper works for.
    OnBehalf,
}

/// Whether a device ended this sleep.
pub(super) fn served(sleep: &Sleep) -> Option<Served> {
    if !by_interrupt(sleep) {
        return None;
    }
    if sleep.state == PrevState::Uninterruptible && sleep.slept_ns.is_some() {
        return Some(Served::Itself);
    }
    sleep.on_behalf.map(|_| Served::OnBehalf)
}

fn by_interrupt(sleep: &Sleep) -> bool {
    sleep.end.is_some_and(|end| matches!(end.by, By::Interrupt { .. } | By::Softirq { .. }))
}

/// `worker` wakes `sleeper`. If an interrupt had woken the worker from its idle sleep, it was for that.
pub(super) fn works_for(tasks: &mut [Track], worker: TaskIndex, sleeper: TaskIndex) {
    let waits = &tasks[sleeper.index()];
    let Some(sleep) = waits.sleeps.last().filter(|sleep| sleep.state == PrevState::Uninterruptible) else {
        return;
    };
    let Some(slept_ns) = sleep.slept_ns.filter(|_| sleep.end.is_none()) else { return };
    let behalf = Behalf { task: sleeper, sleep: waits.sleeps.len() - 1, slept_ns };
    let is_first = tasks[worker.index()].wakes_since_work_came() == 1;
    let Some(idle) = tasks[worker.index()].work_came() else { return };
    let answers = matches!(idle.state, PrevState::Idle | PrevState::Unknown) && by_interrupt(idle);
    let Some(end) = idle.end.filter(|_| answers) else { return };
    // Nobody is answered before asking: it was for the last one that asked in time. Where nobody had, the task that it wakes
    // first had asked, and was on its way to sleep. (Of what comes before, no task can be the cause by its later sleep.)
    let asked_in_time = slept_ns <= end.at_ns;
    let better = match idle.on_behalf {
        None => asked_in_time || is_first,
        Some(before) if before.slept_ns <= end.at_ns => asked_in_time && before.slept_ns < slept_ns,
        Some(_) => asked_in_time,
    };
    if better {
        idle.on_behalf = Some(behalf);
    }
}

/// An interrupt has woken a worker of high priority (`kworker/1:1H`): those serve disks, here the task that asked last. If no
/// task waits, it is nobody's.
pub(super) fn serves(tasks: &mut [Track], worker: TaskIndex, asked_last: Option<TaskIndex>) {
    let Some(asked_last) = asked_last.filter(|task| *task != worker) else { return };
    let waits = &tasks[asked_last.index()];
    let sleep = waits.sleeps.last().filter(|sleep| {
        waits.state == State::Asleep && sleep.state == PrevState::Uninterruptible && sleep.end.is_none()
    });
    let Some(slept_ns) = sleep.and_then(|sleep| sleep.slept_ns) else { return };
    let behalf = Behalf { task: asked_last, sleep: waits.sleeps.len() - 1, slept_ns };
    if let Some(idle) = tasks[worker.index()].sleeps.last_mut().filter(|sleep| by_interrupt(sleep)) {
        idle.on_behalf = Some(behalf);
    }
}

/// What tasks ask of devices, by the sleeps in which they wait.
#[derive(Debug)]
pub(super) struct Requests {
    by_sleep: BTreeMap<(TaskIndex, usize), Vec<Request>>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    /// Whom the answer wakes.
    wakes: TaskIndex,
    service: Nanos,
    work: Option<u32>,
}

impl Requests {
    /// `workers` says of each task whether it is one ([`super::work`]).
    pub fn of(tasks: &[Track], workers: &[bool]) -> Requests {
        let mut by_sleep: BTreeMap<_, Vec<Request>> = BTreeMap::new();
        for (task, track) in (0u32..).map(TaskIndex).zip(tasks) {
            for (number, sleep) in track.sleeps.iter().enumerate() {
                let work = (workers[task.index()] && work::awaits_work(sleep)).then_some(number as u32);
                let asked = match (served(sleep), sleep.on_behalf) {
                    (Some(Served::Itself), _) => sleep.slept_ns.map(|slept_ns| ((task, number), slept_ns)),
                    (Some(Served::OnBehalf), Some(of)) => Some(((of.task, of.sleep), of.slept_ns)),
                    _ => None,
                };
                if let Some(((key, asked_ns), end)) = asked.zip(sleep.end) {
                    let service = Nanos(end.at_ns.saturating_sub(asked_ns));
                    by_sleep.entry(key).or_default().push(Request { wakes: task, service, work });
                }
            }
        }
        Requests { by_sleep }
    }

    /// The steps before a sleep.
    pub fn before(&self, task: TaskIndex, sleep: usize) -> impl Iterator<Item = Recorded> + '_ {
        let requests = self.by_sleep.get(&(task, sleep)).into_iter().flatten();
        requests.map(|r| Recorded::Submit { task: r.wakes, device: DEVICE, service: r.service, work: r.work })
    }

    /// The devices that they name.
    pub fn devices(&self) -> Vec<DeviceSpec> {
        let all = DeviceSpec { at_once: u32::MAX, name: "devices".into() };
        if self.by_sleep.is_empty() { Vec::new() } else { vec![all] }
    }
}

/// Scheduler events do not tell devices apart.
const DEVICE: DeviceId = DeviceId(0);
