//! From a file to tasks and objects of one machine.

use super::error::{Fault, RtAppError};
use super::log::RtAppResult;
use super::model::{Cpus, RtApp, Task, What};
use super::shared::{FORKS_LIMIT, Forks, Shared, State};
use super::thread;
use machine::{ChannelId, ChannelSpec, MutexKind, Setup, TaskSpec};
use scheduler::{CpuId, CpuMask, Nanos};
use std::cell::RefCell;
use std::rc::Rc;

/// A load that was added to a setup. Its result can be read at any time, best after the run.
#[derive(Clone, Debug)]
pub struct RtAppLoad(pub(super) Rc<Shared>);

impl RtAppLoad {
    /// What the threads have measured so far.
    pub fn result(&self) -> RtAppResult {
        let state = self.0.state.borrow();
        let fork_limit = state.fork_limit.map(|task| self.0.app.tasks[task].name.clone());
        RtAppResult { threads: state.log.clone(), fork_limit }
    }
}

impl RtApp {
    /// Adds the threads and what they share to a setup. All start at time 0.
    ///
    /// # Errors
    ///
    /// A CPU in `cpus` that the setup's machine does not have, as in rt-app.
    pub fn build(&self, setup: &mut Setup) -> Result<RtAppLoad, RtAppError> {
        let shared = self.shared(setup)?;
        for spec in specs(&shared, setup) {
            setup.spawn(Nanos::ZERO, spec);
        }
        Ok(RtAppLoad(shared))
    }

    pub(super) fn shared(&self, setup: &mut Setup) -> Result<Rc<Shared>, RtAppError> {
        let cpus = setup.cpus();
        let phase_cpus =
            self.tasks.iter().map(|task| self.phase_cpus(task, cpus)).collect::<Result<Vec<_>, _>>()?;
        let kind = if self.global.pi_enabled { MutexKind::Pi } else { MutexKind::Plain };
        let forks = (0..self.tasks.len()).map(|task| self.forks(task, setup)).collect();
        Ok(Rc::new(Shared {
            app: self.clone(),
            mutexes: self.resources.mutexes.iter().map(|name| setup.mutex(name, kind)).collect(),
            // A barrier of none is of tasks that never run.
            barriers: self.resources.parties.iter().map(|parties| setup.barrier((*parties).max(1))).collect(),
            semaphores: self.resources.semaphores.iter().map(|_| channel(setup, SEM_VALUE_MAX)).collect(),
            phase_cpus,
            state: RefCell::new(State::new(self, forks)),
        }))
    }

    fn phase_cpus(&self, task: &Task, count: usize) -> Result<Vec<Option<CpuMask>>, RtAppError> {
        let of_task = task.cpus.as_ref().map(|cpus| self.mask(cpus, count)).transpose()?;
        let of_phase = |cpus: &Option<Cpus>| match cpus {
            Some(cpus) => self.mask(cpus, count).map(Some),
            None => Ok(of_task),
        };
        task.phases.iter().map(|phase| of_phase(&phase.cpus)).collect()
    }

    fn mask(&self, cpus: &Cpus, count: usize) -> Result<CpuMask, RtAppError> {
        let mut mask = CpuMask::EMPTY;
        for number in &cpus.0 {
            match u16::try_from(number.cpu) {
                Ok(cpu) if usize::from(cpu) < count => mask.insert(CpuId(cpu)),
                _ => {
                    let fault = Fault::NoSuchCpu { cpu: number.cpu, count };
                    return Err(RtAppError::new(&self.source, &number.span, fault));
                }
            }
        }
        Ok(mask)
    }

    /// Forked threads cannot make channels while the machine runs, so those that may need one get it now.
    fn forks(&self, task: usize, setup: &mut Setup) -> Forks {
        let events =
            |task: &Task| task.phases.iter().flat_map(|phase| phase.events.clone()).collect::<Vec<_>>();
        let is_forked = self.tasks.iter().flat_map(events).any(|event| event.what == What::Fork(task));
        let channels = if is_forked && waits(&self.tasks[task]) { FORKS_LIMIT } else { 0 };
        Forks { count: 0, channels: (0..channels).map(|_| channel(setup, 1)).collect() }
    }
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

/// Largest value of a POSIX semaphore.
const SEM_VALUE_MAX: u32 = i32::MAX as u32;

fn channel(setup: &mut Setup, capacity: u32) -> ChannelId {
    setup.channel(ChannelSpec {
        capacity,
        writers_wake_at: capacity - 1,
        sync: false,
        send_cost: Nanos::ZERO,
        receive_cost: Nanos::ZERO,
    })
}

/// Whether threads of this task wait on conditions.
fn waits(task: &Task) -> bool {
    task.phases.iter().flat_map(|phase| &phase.events).any(|event| event.what.waits_on().is_some())
}
