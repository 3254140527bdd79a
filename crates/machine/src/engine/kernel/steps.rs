//! The table of steps: which object of the kernel each one goes to, now or after a sleep.

use super::rcu::CallbacksOf;
use super::sim::Sim;
use crate::engine::hardware::{Hw, Mode};
use crate::engine::userland::{Activity, Caller, ForMutex, InSections, KernelMutexes, Rest, Resume, Slow};
use crate::engine::userland::{process, sched_calls, sleep_until};
use crate::objects::ChannelId;
use crate::spec::Operation;
use crate::step::Step;
use scheduler::cpu_clock::task_sched_runtime;
use scheduler::fair::run_rebalance_domains;
use scheduler::fork::sched_exec;
use scheduler::mutex::{lock_resume, lock_slow, unlock_slow};
use scheduler::policy::sched_setattr_runtime;
use scheduler::schedule::sched_yield;
use scheduler::wakeup::try_to_wake_up;
use scheduler::{Nanos, TaskId, ThisCpu};
use schema::LogEvent;

impl Sim {
    /// Starts a step of the current task, whose activity is [`Activity::Ready`]. (Always inline, and in one
    /// place: so a step is not moved.)
    #[inline(always)]
    pub fn start(&self, me: ThisCpu<'_, Hw>, p: TaskId, step: Step) -> Rest {
        let (call, user) = (self.caller(me, p), &self.user);
        match step {
            Step::Compute(length) => call.with(|t| t.compute(length)),
            Step::ComputeByClock(length) => return call.slowly(Slow::ByClock(length)),
            Step::KernelCompute(length) => {
                call.does(Activity::Kernel { left: length, then: Resume::Return });
            }
            Step::SpinUntil(until) => {
                let late = self.hw().spec.noise.spin_overshoot;
                let late = late.map_or(Nanos::ZERO, |s| self.hw().dice(me.id, |rng| s.draw(rng)));
                call.does(Activity::SpinUntil(until + late));
            }
            Step::SleepUntil(until) => return sleep_until(call, until),
            Step::SleepFor(span) => return sleep_until(call, self.hw().local_now() + span),
            Step::Lock(mutex) => return user.mutexes.lock(call, mutex),
            Step::Unlock(mutex) => return user.mutexes.unlock(call, mutex),
            Step::SpinLock(lock) => return user.spinlocks.lock(call, lock),
            Step::SpinUnlock(lock) => return user.spinlocks.unlock(call, lock),
            Step::Sections(work) => call.with(|t| t.sections.begin(InSections::new(work))),
            Step::Send(channel) => {
                let cost = user.channels.send_cost(channel);
                // One for a message written and read.
                let cost = call.with_locks(Operation::Call, cost);
                return self.message(call, channel, cost, Resume::Send(channel));
            }
            Step::TrySend(channel) => return user.channels.try_send(channel),
            Step::TrySendAll(channels) => {
                call.syscall();
                return call.slowly(Slow::SendAll(channels));
            }
            Step::GiveBack { policy, wakes } => {
                call.syscall();
                return call.slowly(Slow::GiveBack { policy, wakes });
            }
            Step::Receive(channel) => {
                let cost = user.channels.receive_cost(channel);
                return self.message(call, channel, cost, Resume::Receive(channel));
            }
            Step::Submit { device, service, done } => user.devices.submit(call, device, service, done),
            Step::FutexWait(futex) => return user.futexes.wait(call, futex),
            Step::FutexWake { futex, count } => {
                call.syscall();
                return call.slowly(Slow::FutexWake { futex, count });
            }
            Step::BarrierWait(barrier) => return user.barriers.wait(call, barrier),
            Step::Fork { child, kind } => {
                call.syscall();
                return call.slowly(Slow::Fork { child, kind });
            }
            Step::Exec(comm) => {
                user.processes.exec(call, comm);
                return call.slowly(Slow::Exec);
            }
            Step::WaitChild => return process::wait_child(call),
            Step::Exit => return self.in_kernel(call, process::exit_begins(call), Resume::Exit),
            Step::Yield => {
                call.syscall();
                return call.slowly(Slow::Yield);
            }
            Step::SetPolicy { target, policy } => {
                call.syscall();
                return call.slowly(Slow::SetPolicy { target: target.unwrap_or(p), policy });
            }
            Step::SetNice { target, nice } => {
                call.syscall();
                return call.slowly(Slow::SetNice { target: target.unwrap_or(p), nice });
            }
            Step::SetSlice(runtime) => {
                call.syscall();
                return call.slowly(Slow::SetSlice { runtime });
            }
            Step::SetClamps(request) => {
                call.syscall();
                return call.slowly(Slow::SetClamps(request));
            }
            Step::SetAffinity { target, cpus } => {
                call.syscall();
                return call.slowly(Slow::SetAffinity { target: target.unwrap_or(p), cpus });
            }
            Step::Marker(text) => {
                call.syscall();
                self.hw().note_detail(me.id, || LogEvent::Marker { text });
            }
        }
        Rest::Nothing
    }

    /// A read or a write: the same, and of a pipe with its mutex.
    #[inline]
    fn message(&self, call: Caller<'_>, channel: ChannelId, cost: Nanos, then: Resume) -> Rest {
        match self.user.channels.mutex(channel).filter(|_| cost > Nanos::ZERO) {
            Some(mutex) => {
                call.syscall();
                self.user.kernel_mutexes.enter(call, ForMutex::new(channel, mutex, cost, then))
            }
            None => self.in_kernel(call, cost, then),
        }
    }

    /// A system call that works in the kernel for `cost`, with interrupts on, and then goes on.
    #[inline]
    fn in_kernel(&self, call: Caller<'_>, cost: Nanos, then: Resume) -> Rest {
        call.syscall();
        if cost == Nanos::ZERO {
            return self.go_on(call, then);
        }
        call.does(Activity::Kernel { left: cost, then });
        Rest::Nothing
    }

    /// The current task goes on with a system call after its work in the kernel, or after a sleep.
    pub fn resume(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Resume) -> Rest {
        let call = self.caller(me, p);
        call.does(Activity::Ready);
        self.go_on(call, then)
    }

    fn go_on(&self, call: Caller<'_>, then: Resume) -> Rest {
        match then {
            Resume::Return => Rest::Nothing,
            Resume::Send(channel) | Resume::SendAgain(channel) | Resume::Receive(channel) => {
                self.at_pipe(call, channel, then)
            }
            Resume::KernelLock => call.slowly(Slow::KernelLock),
            Resume::KernelUnlock => call.slowly(Slow::KernelUnlock),
            Resume::SpinLock(attempt) => self.user.spinlocks.lock_again(call, attempt),
            Resume::Lock(mutex) => call.slowly(Slow::LockAgain(mutex)),
            Resume::Forked { child, vfork } => call.slowly(Slow::Forked { child, vfork }),
            Resume::Execed => process::execed(call),
            Resume::WaitChild => process::wait_child(call),
            Resume::Exit => call.slowly(Slow::Exit),
            Resume::Softirq => self.looks_for_softirqs(call),
            Resume::SoftirqLock => self.locks_softirqs_again(call),
            Resume::SoftirqRound => self.serves_softirq(call),
            Resume::TaskletDone { timer, began } => self.tasklet_is_done(call, timer, began),
        }
    }

    /// The task sends or receives, and gives the mutex of a pipe back. If it has slept meanwhile, it has
    /// none, and waits for who has it.
    fn at_pipe(&self, call: Caller<'_>, id: ChannelId, then: Resume) -> Rest {
        let Some(mutex) = self.user.channels.mutex(id) else { return self.at_channel(call, id, then) };
        match self.k.mutexes.living_owner(mutex, &self.k.tasks) {
            None => self.at_channel(call, id, then),
            Some(owner) if owner == call.p => {
                let rest = self.at_channel(call, id, then);
                self.user.kernel_mutexes.unlock(call, mutex, rest)
            }
            Some(_) => KernelMutexes::comes_to(call, ForMutex::new(id, mutex, Nanos::ZERO, then)),
        }
    }

    /// The task sends or receives. With PREEMPT_RT who wakes a reader can be preempted by that while it has
    /// the lock of the queue in which readers wait; and one that has read everything needs it to wait there.
    fn at_channel(&self, call: Caller<'_>, id: ChannelId, then: Resume) -> Rest {
        let (channels, locks) = (&self.user.channels, &self.user.kernel_locks);
        let waits = matches!(then, Resume::Receive(_)) && channels.is_empty(id);
        let had_it = waits && call.with(|t| std::mem::take(&mut t.had_channel_lock));
        if waits && !had_it && locks.any() && locks.wants_channel(call, id, then) {
            return call.slowly(Slow::KernelLock);
        }
        let rest = match then {
            Resume::SendAgain(_) => channels.send_again(call, id),
            Resume::Receive(_) => channels.receive(call, id),
            _ => channels.send(call, id),
        };
        match rest {
            Rest::Wake { task, flags } if self.wakes_under_locks_that_sleep() => {
                call.slowly(Slow::WakeUnderLock { channel: id, task, flags })
            }
            rest => rest,
        }
    }

    /// What is left of a step, in which others have to be waited for.
    pub async fn follow(&self, me: ThisCpu<'_, Hw>, p: TaskId) {
        let (call, user) = (self.caller(me, p), &self.user);
        let Some(slow) = user.tasks.take_slow() else { return };
        match slow {
            Slow::WakeAll(tasks) => {
                for task in tasks {
                    call.wake(task).await;
                }
            }
            Slow::WakeBoth { first, second, flags } => {
                try_to_wake_up(me, first, flags).await;
                try_to_wake_up(me, second, flags).await;
            }
            Slow::WakeWriters { channel, waiting } => user.channels.wake_writers(me, channel, waiting).await,
            Slow::Lock(mutex) => user.mutexes.lock_slow(call, mutex).await,
            Slow::LockAgain(mutex) if user.kernel_locks.waits_for(call, mutex) => {
                user.kernel_locks.lock_again(call).await;
            }
            Slow::LockAgain(mutex) if user.kernel_mutexes.waits_for(call, mutex) => {
                user.kernel_mutexes.lock_again(call, mutex).await;
            }
            Slow::LockAgain(mutex) => user.mutexes.lock_again(call, mutex).await,
            Slow::KernelLock => {
                self.meets(call).await;
                user.kernel_locks.lock(call).await;
            }
            Slow::KernelUnlock => user.kernel_locks.unlock(call).await,
            Slow::KernelMutex => user.kernel_mutexes.lock(call).await,
            Slow::KernelMutexUnlock { mutex, rest, slow } => {
                unlock_slow(me, p, mutex).await;
                match rest {
                    Rest::Nothing => {}
                    Rest::Sleep => call.schedule().await,
                    Rest::Wake { task, flags } => {
                        try_to_wake_up(me, task, flags).await;
                    }
                    Rest::Slow => {
                        if let Some(slow) = slow {
                            user.tasks.put_slow(*slow);
                        }
                        Box::pin(self.follow(me, p)).await;
                    }
                }
            }
            Slow::WakeUnderLock { channel, task, flags } => {
                try_to_wake_up(me, task, flags).await;
                self.preempted_under_lock(call, channel);
            }
            Slow::Unlock(mutex) => unlock_slow(me, p, mutex).await,
            Slow::SendAll(channels) => user.channels.try_send_all(call, channels).await,
            Slow::GiveBack { policy, wakes } => {
                sched_calls::set_policy(call, p, policy).await;
                user.channels.try_send_all(call, wakes).await;
            }
            Slow::FutexWake { futex, count } => user.futexes.wake(call, futex, count).await,
            Slow::Open { barrier, waiting } => user.barriers.open(call, barrier, waiting).await,
            Slow::Fork { child, kind } => user.processes.fork(call, *child, kind).await,
            Slow::Forked { child, vfork } => process::forked(call, child, vfork).await,
            Slow::Exec => {
                self.leaves_callbacks(me, CallbacksOf::Exec);
                sched_exec(me).await;
            }
            Slow::Exit => {
                let is_thread = call.with(|t| t.family.thread);
                self.leaves_callbacks(me, if is_thread { CallbacksOf::Thread } else { CallbacksOf::Process });
                user.processes.exit(call).await;
                // Nobody else looks at the slot before it is used again.
                self.observed.task_exits(self.view(), p);
                self.k.tasks.reap(p);
            }
            Slow::Yield => {
                self.hw().note_detail(me.id, || LogEvent::Schedule {});
                sched_yield(me).await;
            }
            Slow::SetPolicy { target, policy } => sched_calls::set_policy(call, target, policy).await,
            Slow::SetNice { target, nice } => sched_calls::set_nice(call, target, nice).await,
            Slow::SetSlice { runtime } => sched_setattr_runtime(me, p, runtime).await,
            Slow::SetClamps(request) => sched_calls::set_clamps(call, request).await,
            Slow::ByClock(length) => {
                let read = task_sched_runtime(me, p).await;
                call.does(Activity::ByClock { read, until: read + length });
            }
            Slow::ReadClock { until } => {
                let read = task_sched_runtime(me, p).await;
                call.does(Activity::ByClock { read, until });
            }
            Slow::SetAffinity { target, cpus } => sched_calls::set_affinity(call, target, *cpus).await,
            Slow::SoftirqRound => self.softirq(me).await,
            Slow::SoftirqLock(lock) => self.softirq_lock(call, lock_slow(me, p, lock).await).await,
            Slow::SoftirqLockAgain(lock) => self.softirq_lock(call, lock_resume(me, p, lock).await).await,
            Slow::SoftirqUnlock(lock) => unlock_slow(me, p, lock).await,
            Slow::Balance(balancing) => run_rebalance_domains(me, balancing).await,
            Slow::Handle(work) => self.do_irq_work(me, work).await,
            Slow::Message(message) => self.message_from_outside(me, message).await,
            // The engine stops at the next suspension; make sure that there is one.
            Slow::Stop => self.hw().suspend(me.id, Mode::Spinning).await,
        }
    }
}
