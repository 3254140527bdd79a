//! Waits for devices. What a disk took to answer is a service time, not a time of day: it begins when the
//! task asks, and where a what-if lets the task ask sooner, the answer comes sooner.
//!
//! Where the trace has the events of block devices and of the network (`blocks`, `packets`), these say who
//! asked which device, when, and for how long it worked on that: the rest of a wait is not the device's. A
//! named block device has no more requests at once than it had in the recording.
//!
//! Elsewhere, a task that sleeps uninterruptibly (state D) until an interrupt wakes it has waited for a
//! device without a name. Often the interrupt wakes a thread of the kernel (a kworker) which finishes the
//! work and wakes the task: then that thread's wakeup is the answer.

use super::causes::{Answer, Cause, NamedDevice};
use super::recording::{ReplayStep, TaskIndex};
use super::track::{Behalf, By, Sleep, State, Track};
use super::walk::Kernel;
use machine::{DeviceId, DeviceSpec};
use scheduler::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use trace::{PrevState, Strings};

/// For whom a device's interrupt ended a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Served {
    /// For whoever asked, as the trace shows.
    Answered(Answer),
    /// For the sleeper.
    Itself,
    /// For a task that the sleeper works for.
    OnBehalf,
}

/// Whether a device ended this sleep.
pub(super) fn served(sleep: &Sleep) -> Option<Served> {
    let end = sleep.end.filter(|_| by_interrupt(sleep))?;
    if let Cause::Answer(answer) = end.cause {
        return Some(Served::Answered(answer));
    }
    if end.cause.is_timer() || sleep.timer.is_some() {
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
    let Some(idle) = tasks[worker.index()].work_came().map(|idle| *idle) else { return };
    let answers = matches!(idle.state, PrevState::Idle | PrevState::Unknown) && by_interrupt(&idle);
    let Some(end) = idle.end.filter(|end| answers && !end.cause.is_timer()) else { return };
    // Nobody is answered before asking: it was for the last one that asked in time. Where nobody had, the
    // task that it wakes first had asked, and was on its way to sleep. (Of what comes before, no task can be
    // the cause by its later sleep.)
    let asked_in_time = slept_ns <= end.at_ns;
    let better = match idle.on_behalf {
        None => asked_in_time || tasks[worker.index()].has_woken_one_since_work_came(),
        Some(before) if before.slept_ns <= end.at_ns => asked_in_time && before.slept_ns < slept_ns,
        Some(_) => asked_in_time,
    };
    if let (Some(idle), true) = (tasks[worker.index()].work_came(), better) {
        idle.on_behalf = Some(behalf);
    }
}

/// An interrupt has woken a worker of high priority (`kworker/1:1H`): those serve disks, here the task that
/// asked last. If no task waits, it is nobody's.
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

/// What tasks ask of devices.
#[derive(Debug)]
pub(super) struct Requests {
    /// By the sleeps in which they wait, where nothing shows when they asked.
    by_sleep: BTreeMap<(TaskIndex, usize), Vec<Request>>,
    /// By the steps in which they ask.
    by_step: BTreeMap<(TaskIndex, usize), Vec<Request>>,
    devices: Vec<DeviceSpec>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    /// Whom the answer wakes.
    wakes: TaskIndex,
    device: DeviceId,
    service: Nanos,
    work: Option<u32>,
}

impl Requests {
    /// `workers` says of each task whether it is one ([`super::work`]).
    pub fn of(tasks: &[Track], workers: &[bool], kernel: &Kernel, strings: &Strings) -> Requests {
        let answered = |sleep: &Sleep| match served(sleep) {
            Some(Served::Answered(answer)) => Some(answer.device),
            _ => None,
        };
        let named: BTreeSet<NamedDevice> =
            tasks.iter().flat_map(|track| track.sleeps.iter().filter_map(answered)).collect();
        let mut devices: Vec<DeviceSpec> =
            named.iter().map(|device| spec(*device, kernel.at_once(*device), strings)).collect();
        let id = |device: NamedDevice| DeviceId(named.range(..device).count() as u32);
        let nameless = DeviceId(devices.len() as u32);
        let (mut by_sleep, mut by_step) =
            (BTreeMap::<_, Vec<Request>>::new(), BTreeMap::<_, Vec<Request>>::new());
        for (task, track) in (0u32..).map(TaskIndex).zip(tasks) {
            for (number, sleep) in track.sleeps.iter().enumerate() {
                let work = workers[task.index()].then_some(number as u32);
                let request = |device, service| Request { wakes: task, device, service, work };
                let since = |slept_ns| Nanos(sleep.end.map_or(0, |end| end.at_ns.saturating_sub(slept_ns)));
                match (served(sleep), sleep.slept_ns, sleep.on_behalf) {
                    (Some(Served::Answered(answer)), ..) => {
                        let request = request(id(answer.device), Nanos(answer.service_ns));
                        by_step.entry((answer.asked.task, answer.asked.step)).or_default().push(request);
                    }
                    (Some(Served::Itself), Some(slept_ns), _) => {
                        by_sleep.entry((task, number)).or_default().push(request(nameless, since(slept_ns)));
                    }
                    (Some(Served::OnBehalf), _, Some(of)) => {
                        let request = request(nameless, since(of.slept_ns));
                        by_sleep.entry((of.task, of.sleep)).or_default().push(request);
                    }
                    _ => {}
                }
            }
        }
        if !by_sleep.is_empty() {
            devices.push(DeviceSpec { at_once: u32::MAX, name: NAMELESS.into() });
        }
        Requests { by_sleep, by_step, devices }
    }

    /// The steps before a sleep.
    pub fn before(&self, task: TaskIndex, sleep: usize) -> impl Iterator<Item = ReplayStep> + '_ {
        steps(self.by_sleep.get(&(task, sleep)))
    }

    /// The steps at the place of a drafted one.
    pub fn at(&self, task: TaskIndex, step: usize) -> impl Iterator<Item = ReplayStep> + '_ {
        steps(self.by_step.get(&(task, step)))
    }

    /// The devices that they name.
    pub fn devices(&self) -> Vec<DeviceSpec> {
        self.devices.clone()
    }
}

fn steps(requests: Option<&Vec<Request>>) -> impl Iterator<Item = ReplayStep> + '_ {
    requests.into_iter().flatten().map(|r| ReplayStep::Submit {
        task: r.wakes,
        device: r.device,
        service: r.service,
        work: r.work,
    })
}

fn spec(device: NamedDevice, at_once: Option<u32>, strings: &Strings) -> DeviceSpec {
    let name = match device {
        NamedDevice::Block(number) => format!("{},{}", number.major(), number.minor()),
        NamedDevice::Network(Some(name)) => strings[name].to_owned(),
        NamedDevice::Network(None) => "network".to_owned(),
    };
    DeviceSpec { at_once: at_once.unwrap_or(u32::MAX), name }
}

/// Stands for all devices where scheduler events alone do not tell them apart.
const NAMELESS: &str = "devices";

/// What is assumed of a device.
pub(super) fn note(device: &DeviceSpec) -> String {
    let DeviceSpec { at_once, name } = device;
    match (name.as_str(), *at_once) {
        (NAMELESS, _) => {
            "devices without a name serve all requests at once: nobody waits for another one's".to_owned()
        }
        (_, u32::MAX) => format!("{name} answers each question in its own time, however many there are"),
        (_, 1) => {
            format!("device {name} serves one request at a time, as it did in the recording: others wait")
        }
        _ => format!(
            "device {name} serves at most {at_once} requests at once, as it did in the recording: others wait"
        ),
    }
}
