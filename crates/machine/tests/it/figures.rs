//! Figures of small loads, each of which a few entries of a machine file decide.

use crate::script::{Clock, FREE_CHANNEL, fifo, ms, run_with, script, us};
use machine::{ForkKind, MachineSpec, MutexKind, Outcome, RunOptions, Setup, Step};
use scheduler::{CpuId, CpuMask, Nanos};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Figure {
    /// From when a FIFO task's timer is due to the task, which preempts a fair one that executes.
    Timer,
    /// The same on an idle CPU that had halted.
    Idle,
    /// From a message of CPU 0 to who waits on a hardware thread beside it,
    ToSibling,
    /// on a core with the same cache,
    ToCore,
    /// on one without,
    ToCache,
    /// in another node.
    ToNode,
    /// What a message to a real-time task takes of the fair one that executes on its CPU.
    Asked,
    /// How long ten messages to and fro between two tasks of a CPU take.
    Messages,
    /// What a task that computes for 20 ms takes, ticks included.
    Computes,
    /// The same after five threads have ended.
    Callbacks,
    /// The same beside a sibling that does so.
    BesideSibling,
    /// What a task that computes between two ticks takes while it and one of another core read from memory.
    BesideReader,
    /// How long fork takes,
    Fork,
    /// pthread_create,
    Thread,
    /// exec,
    Exec,
    /// to wait for a child that has exited,
    Wait,
    /// and from the exit of a process to its parent, which waits,
    Exit,
    /// of a thread to the next task.
    ThreadExit,
    /// How long the owner of a PI mutex is held up by a higher task that comes to wait for it.
    Lends,
    /// How long a task takes for its work that has been away while another one used the caches.
    Refills,
    /// The same of one that moves to a core with the same cache,
    MovesToCore,
    /// and to the sibling.
    MovesToSibling,
    /// When the second thread of a program starts.
    Starts,
    /// How much too late a busy-wait until 1 ms ends.
    Spins,
}

use Figure::*;

pub(crate) const ALL: [Figure; 24] = [
    Timer,
    Idle,
    ToSibling,
    ToCore,
    ToCache,
    ToNode,
    Asked,
    Messages,
    Computes,
    Callbacks,
    BesideSibling,
    BesideReader,
    Fork,
    Thread,
    Exec,
    Wait,
    Exit,
    ThreadExit,
    Lends,
    Refills,
    MovesToCore,
    MovesToSibling,
    Starts,
    Spins,
];

/// A run of tasks, each on a CPU.
pub(crate) struct Stage {
    pub spec: MachineSpec,
    pub setup: Setup,
}

impl Stage {
    pub fn new(spec: &MachineSpec) -> Stage {
        Stage { spec: spec.clone(), setup: Setup::new(8) }
    }

    fn task(&mut self, cpu: u16, priority: u8, steps: Vec<Step>) -> Clock {
        let (mut task, clock) = script("task", steps);
        task.cpus = Some(CpuMask::single(CpuId(cpu)));
        task.working_set_bytes = 100_000;
        if priority > 0 {
            task.policy = fifo(priority);
        }
        self.setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), task);
        clock
    }

    pub fn run(self) -> Outcome {
        let options = RunOptions { check: true, ..RunOptions::default() };
        run_with(self.spec, "6.1", self.setup, options).expect("a sound run")
    }
}

/// From one look at the clock to a later one.
fn between(clock: &Clock, from: usize, to: usize) -> Nanos {
    clock.borrow()[to] - clock.borrow()[from]
}

/// A figure on a machine.
pub(crate) fn figure(figure: Figure, spec: &MachineSpec) -> Nanos {
    let mut stage = Stage::new(spec);
    match figure {
        Timer | Idle => {
            let due = us(1_500);
            let woken = stage.task(0, 50, vec![Step::SleepUntil(due)]);
            if figure == Timer {
                stage.task(0, 0, vec![Step::Compute(ms(3))]);
            }
            stage.run();
            woken.borrow()[1] - due
        }
        ToSibling | ToCore | ToCache | ToNode => {
            let to = [1, 2, 4, 6][figure as usize - ToSibling as usize];
            let channel = stage.setup.channel(FREE_CHANNEL);
            let sent = stage.task(0, 50, vec![Step::SpinUntil(us(1_500)), Step::Send(channel)]);
            let received = stage.task(to, 50, vec![Step::Receive(channel)]);
            stage.run();
            received.borrow()[1] - sent.borrow()[1]
        }
        Asked => {
            let channel = stage.setup.channel(FREE_CHANNEL);
            stage.task(0, 50, vec![Step::SpinUntil(us(1_500)), Step::Send(channel)]);
            stage.task(2, 50, vec![Step::Receive(channel)]);
            let asked = stage.task(2, 0, vec![Step::Compute(us(1_800))]);
            stage.run();
            between(&asked, 0, 1)
        }
        Messages => {
            let (there, back) = (stage.setup.channel(FREE_CHANNEL), stage.setup.channel(FREE_CHANNEL));
            let asks = (0..10).flat_map(|_| [Step::Send(there), Step::Receive(back)]).collect();
            let answers = (0..10).flat_map(|_| [Step::Receive(there), Step::Send(back)]);
            let clock = stage.task(0, 50, asks);
            // It is still there when the last one has arrived.
            stage.task(0, 50, answers.chain([Step::SleepFor(ms(5))]).collect());
            stage.run();
            between(&clock, 0, 20)
        }
        Computes | BesideSibling => {
            let clock = stage.task(0, 0, vec![Step::Compute(ms(20))]);
            if figure == BesideSibling {
                stage.task(1, 0, vec![Step::Compute(ms(20))]);
            }
            stage.run();
            between(&clock, 0, 1)
        }
        Callbacks => {
            let threads = (0..5).flat_map(|_| {
                let (mut child, _) = script("thread", []);
                child.cpus = Some(CpuMask::single(CpuId(0)));
                let child = Box::new(child);
                [Step::Fork { child, kind: ForkKind::Thread }, Step::WaitChild]
            });
            let clock = stage.task(0, 0, threads.chain([Step::Compute(ms(20))]).collect());
            stage.run();
            between(&clock, 10, 11)
        }
        BesideReader => {
            let mut reader = |cpu| {
                let (mut task, clock) =
                    script("reader", [Step::SpinUntil(us(1_500)), Step::Compute(us(200))]);
                task.cpus = Some(CpuMask::single(CpuId(cpu)));
                task.reads_bytes_per_us = 16_000;
                stage.setup.spawn_on(Nanos::ZERO, task.cpus.and_then(|cpus| cpus.first()), task);
                clock
            };
            let clocks = [reader(0), reader(2)];
            stage.run();
            between(&clocks[0], 1, 2)
        }
        Fork | Thread | Wait | Exit => {
            let (mut child, born) = script("child", [Step::Compute(us(100))]);
            child.cpus = Some(CpuMask::single(CpuId(0)));
            let kind = if figure == Thread { ForkKind::Thread } else { ForkKind::Fork };
            let mut steps = vec![Step::Fork { child: Box::new(child), kind }];
            if figure == Wait {
                // The child has exited by then.
                steps.push(Step::SleepFor(ms(1)));
            }
            if matches!(figure, Wait | Exit) {
                steps.push(Step::WaitChild);
            }
            let clock = stage.task(0, 0, steps);
            stage.run();
            match figure {
                Wait => between(&clock, 2, 3),
                Exit => clock.borrow()[2] - born.borrow()[1],
                _ => between(&clock, 0, 1),
            }
        }
        ThreadExit => {
            let (mut thread, _) = script("thread", []);
            (thread.cpus, thread.policy) = (Some(CpuMask::single(CpuId(0))), fifo(60));
            let steps = vec![Step::Fork { child: Box::new(thread), kind: ForkKind::Thread }];
            let clock = stage.task(0, 50, steps);
            stage.run();
            between(&clock, 0, 1)
        }
        Exec => {
            let clock = stage.task(0, 50, vec![Step::Exec("other".into())]);
            stage.run();
            between(&clock, 0, 1)
        }
        Lends => {
            let mutex = stage.setup.mutex("m", MutexKind::Pi);
            let hold = vec![Step::Lock(mutex), Step::Compute(us(900)), Step::Unlock(mutex)];
            let owner = stage.task(0, 10, hold);
            stage.task(0, 20, vec![Step::SleepUntil(us(500)), Step::Lock(mutex), Step::Unlock(mutex)]);
            stage.run();
            between(&owner, 1, 2)
        }
        Refills => {
            let clock =
                stage.task(0, 0, vec![Step::Compute(us(100)), Step::SleepFor(ms(6)), Step::Compute(us(100))]);
            stage.task(0, 0, vec![Step::Compute(ms(5)), Step::SleepFor(ms(20))]);
            stage.run();
            between(&clock, 2, 3)
        }
        MovesToCore | MovesToSibling => {
            let to = if figure == MovesToCore { 2 } else { 1 };
            let moves = Step::SetAffinity { target: None, cpus: Box::new(CpuMask::single(CpuId(to))) };
            let clock = stage.task(0, 0, vec![Step::Compute(us(100)), moves, Step::Compute(us(100))]);
            stage.run();
            between(&clock, 2, 3)
        }
        Starts => {
            let [_, second] = [0, 1].map(|number| {
                let (thread, clock) = script("thread", []);
                stage.setup.spawn_thread(number, thread);
                clock
            });
            stage.run();
            second.borrow()[0]
        }
        Spins => {
            let clock = stage.task(0, 50, vec![Step::SpinUntil(ms(1))]);
            stage.run();
            clock.borrow()[1] - ms(1)
        }
    }
}
