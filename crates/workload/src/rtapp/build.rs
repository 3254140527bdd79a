//! From a file to tasks and objects of one machine.

use super::error::{Fault, RtAppError};
use super::log::RtAppThread;
use super::main_thread::main_thread;
use super::model::{App, Cpus, Repeat, RtApp, Task, TaskGroup, What};
use super::shared::{FORKS_LIMIT, Forks, Shared, State};
use super::thread;
use crate::groups::group_at;
use crate::load::{BuiltLoad, Length, Load, LoadError, Remaining, Results, numbered};
use machine::{ChannelId, ChannelSpec, MutexKind, Setup, TaskSpec};
use scheduler::{CpuId, CpuMask, GroupId, Nanos};
use schema::{LoadResult, RtappResult};
use std::cell::RefCell;
use std::rc::Rc;

impl Load for RtApp {
    fn length(&self) -> Length {
        match self.0.global.duration {
            Some(duration) => Length::Time(duration),
            None if self.0.tasks.iter().any(is_endless) => Length::Endless,
            None => Length::Work,
        }
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes.iter().map(ToString::to_string).collect()
    }

    /// A CPU in `cpus` that the machine does not have is an error, as in rt-app.
    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let shared = shared(self, setup)?;
        for (number, spec) in specs(&shared, setup).into_iter().enumerate() {
            let (_, pid) = setup.spawn(Nanos::ZERO, spec);
            shared.state.borrow_mut().log[number].pid = Some(pid);
        }
        if let Some(spec) = main_thread(&shared) {
            setup.spawn(Nanos::ZERO, spec);
        }
        Ok(BuiltLoad::new(shared.remaining.clone(), Log(shared)))
    }
}

#[derive(Debug)]
struct Log(Rc<Shared>);

impl Results for Log {
    fn result(&self, load: String) -> LoadResult {
        let threads = numbered(&self.0.state.borrow().log, RtAppThread::result);
        LoadResult::Rtapp(RtappResult { load, threads })
    }

    fn notes(&self, load: &str) -> Vec<String> {
        let ended = self.0.fork_limit();
        let note = |task| format!("{load}: ended early, because task \"{task}\" was forked too often");
        ended.map(note).into_iter().collect()
    }
}

impl Shared {
    /// The task whose 1025th fork ended the use case, if one did.
    pub fn fork_limit(&self) -> Option<&str> {
        self.state.borrow().fork_limit.map(|task| self.app.tasks[task].name.as_str())
    }
}

/// Whether a thread that exists from the start would go on for ever. Those that only forks start do not
/// count.
fn is_endless(task: &Task) -> bool {
    task.instances > 0
        && (task.repeat == Repeat::Forever || task.phases.iter().any(|phase| phase.repeat == Repeat::Forever))
}

/// The file with the machine's objects for it.
pub(super) fn shared(app: &RtApp, setup: &mut Setup) -> Result<Rc<Shared>, RtAppError> {
    let app = &app.0;
    let cpus = setup.cpus();
    let phase_cpus =
        app.tasks.iter().map(|task| phase_cpus(app, task, cpus)).collect::<Result<Vec<_>, _>>()?;
    let kind = if app.global.pi_enabled { MutexKind::Pi } else { MutexKind::Plain };
    let forks = (0..app.tasks.len()).map(|task| forks(app, task, setup)).collect();
    let threads = app.tasks.iter().map(|task| task.instances).sum();
    Ok(Rc::new(Shared {
        app: app.clone(),
        mutexes: app.resources.mutexes.iter().map(|name| setup.mutex(name, kind)).collect(),
        // A barrier of none is of tasks that never run.
        barriers: app.resources.parties.iter().map(|parties| setup.barrier((*parties).max(1))).collect(),
        semaphores: app.resources.semaphores.iter().map(|_| channel(setup, SEM_VALUE_MAX)).collect(),
        phase_cpus,
        groups: app.tasks.iter().map(|task| group(task, setup)).collect(),
        remaining: Remaining::new(threads),
        state: RefCell::new(State::new(app, forks)),
    }))
}

/// The threads that exist from the start, in the order of the file.
pub(super) fn specs(shared: &Rc<Shared>, setup: &mut Setup) -> Vec<TaskSpec> {
    let all = CpuMask::first_n(setup.cpus());
    let mut specs = Vec::new();
    for (number, task) in shared.app.tasks.iter().enumerate() {
        for _ in 0..task.instances {
            let own = waits(task).then(|| channel(setup, 1));
            let name = format!("{}-{}", task.name, specs.len());
            specs.push(thread::spec(shared, number, name, own, all));
        }
    }
    specs
}

fn phase_cpus(app: &App, task: &Task, count: usize) -> Result<Vec<Option<CpuMask>>, RtAppError> {
    let of_task = task.cpus.as_ref().map(|cpus| mask(app, cpus, count)).transpose()?;
    let of_phase = |cpus: &Option<Cpus>| match cpus {
        Some(cpus) => mask(app, cpus, count).map(Some),
        None => Ok(of_task),
    };
    task.phases.iter().map(|phase| of_phase(&phase.cpus)).collect()
}

fn mask(app: &App, cpus: &Cpus, count: usize) -> Result<CpuMask, RtAppError> {
    let mut mask = CpuMask::EMPTY;
    for number in &cpus.0 {
        match u16::try_from(number.cpu) {
            Ok(cpu) if usize::from(cpu) < count => mask.insert(CpuId(cpu)),
            _ => {
                let fault = Fault::NoSuchCpu { cpu: number.cpu, count };
                return Err(RtAppError::new(&app.source, &number.span, fault));
            }
        }
    }
    Ok(mask)
}

fn group(task: &Task, setup: &mut Setup) -> Option<GroupId> {
    Some(match task.group.as_ref()? {
        TaskGroup::Root => GroupId::ROOT,
        TaskGroup::Below(path) => group_at(setup, path, &[]),
    })
}

/// Forked threads cannot make channels while the machine runs, so those that may need one get it now.
fn forks(app: &App, task: usize, setup: &mut Setup) -> Forks {
    let mut events = app.tasks.iter().flat_map(|task| &task.phases).flat_map(|phase| &phase.events);
    let needs_channels = waits(&app.tasks[task]) && events.any(|event| event.what == What::Fork(task));
    let channels = if needs_channels { FORKS_LIMIT } else { 0 };
    Forks { count: 0, channels: (0..channels).map(|_| channel(setup, 1)).collect() }
}

/// Largest value of a POSIX semaphore.
const SEM_VALUE_MAX: u32 = i32::MAX as u32;

fn channel(setup: &mut Setup, capacity: u32) -> ChannelId {
    setup.channel(ChannelSpec::new(capacity))
}

/// Whether threads of this task wait on conditions.
fn waits(task: &Task) -> bool {
    task.phases.iter().flat_map(|phase| &phase.events).any(|event| event.what.waits_on().is_some())
}
