//! What the recorded machine's work around the tasks cost, so that it is not paid twice.
//!
//! A recorded burst contains the context switch that began it, its system calls, the wakeups and forks it
//! made and the interrupts it served. The simulated machine charges all of that again, at its own prices. So
//! each burst is shortened by what the machine *from which the trace came* would charge for its steps; what a
//! run on another machine or kernel pays more or less than that is then a result.
//!
//! What depends on others at that moment cannot be told from a recording and stays in the bursts: waiting for
//! locks, and cache lines that other CPUs have just written. Eight real-time threads that all wake at once
//! pay 3 to 6 % too much so.

use super::recording::{Brought, Interrupt, RecordedTask, ReplayStep, Waking};
use machine::{Costs, MachineSpec, Spread};
use scheduler::Nanos;

/// Prices of the machine on which a trace was recorded, by the steps of its tasks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Overhead {
    /// Coming onto a CPU and leaving it again.
    stay: Nanos,
    syscall: Nanos,
    /// Falling asleep in a system call.
    sleep: Nanos,
    /// Setting a timer.
    timer: Nanos,
    wake: Nanos,
    /// Interrupting another CPU for that.
    ipi: Nanos,
    fork: Nanos,
    exec: Nanos,
    exit: Nanos,
    set_prio: Nanos,
    /// Coming into an interrupt and out of it again.
    interrupt: Nanos,
    /// What it costs more if it is a timer's: setting the next one.
    timer_interrupt: Nanos,
    /// A wakeup by an interrupt.
    interrupt_wake: Nanos,
    /// What it costs more if it is a timer's: taking that off its queue.
    timer_expiry: Nanos,
    /// Ticks and interrupts held off by the host, in parts per million of the CPU time.
    background_ppm: u64,
    /// From a timer's time to `sched_waking`, its least lateness included: for times, which are those of
    /// early wakeups.
    timer_latency: Nanos,
    /// The same with its mean lateness: for spans, which are those of usual sleeps.
    mean_timer_latency: Nanos,
    /// From the arrival of an interrupt to `sched_waking`.
    interrupt_latency: Nanos,
}

impl Overhead {
    /// The machine's prices.
    pub fn of(spec: &MachineSpec) -> Overhead {
        let c: &Costs = &spec.costs;
        let lock = c.lock_uncontended;
        let wake = c.wakeup + c.enqueue + lock * 2;
        let interrupt = c.irq_entry + c.irq_exit;
        let jitter = |of: fn(&Spread) -> Nanos| spec.noise.timer_lateness().as_ref().map_or(Nanos::ZERO, of);
        let timer_path = c.irq_entry + c.timer_expiry + c.wakeup;
        let held_off = |irq_off: &machine::IrqOff| {
            u64::from(irq_off.per_minute_per_cpu) * (irq_off.length.mean() + interrupt).0 / 60
        };
        let ticks = TICKS_PER_SECOND * (c.tick + interrupt).0;
        let background = ticks + spec.noise.irq_off.iter().map(held_off).sum::<u64>();
        Overhead {
            stay: c.context_switch + c.schedule + lock,
            syscall: c.syscall,
            sleep: c.syscall + c.dequeue,
            timer: c.timer_program,
            wake: c.syscall + wake,
            ipi: c.ipi_send,
            fork: c.syscall + c.thread_create + c.enqueue + lock,
            exec: c.syscall + c.exec,
            exit: c.syscall + c.thread_exit + c.dequeue,
            set_prio: c.syscall + c.set_prio,
            interrupt,
            timer_interrupt: c.timer_program,
            interrupt_wake: wake,
            timer_expiry: c.timer_expiry,
            background_ppm: background / 1000,
            timer_latency: jitter(Spread::min) + timer_path,
            mean_timer_latency: jitter(Spread::mean) + timer_path,
            interrupt_latency: c.irq_entry + c.wakeup,
        }
    }

    /// An interrupt is sent, and a timer set, so that the wakeup comes when it was recorded, with what the
    /// machine adds.
    fn sooner(&self, waking: Waking) -> Waking {
        match waking {
            Waking::At(at) => Waking::At(at.saturating_sub(self.timer_latency)),
            Waking::After(span) => Waking::After(span.saturating_sub(self.mean_timer_latency)),
            Waking::Outside { at, cpu, slept } => Waking::Outside {
                at: at.saturating_sub(self.interrupt_latency),
                cpu,
                slept: slept.map(|slept| slept.saturating_sub(self.interrupt_latency)),
            },
            Waking::Served { at, cpu } => {
                Waking::Served { at: at.saturating_sub(self.interrupt_latency), cpu }
            }
            Waking::Work { number, by } => Waking::Work { number, by: self.brought_sooner(by) },
            Waking::Rest { number, by } => Waking::Rest { number, by: self.brought_sooner(by) },
            Waking::Task | Waking::Tick { .. } | Waking::Never => waking,
        }
    }

    fn brought_sooner(&self, by: Brought) -> Brought {
        let sooner = |interrupt: Interrupt| Interrupt {
            at: interrupt.at.saturating_sub(self.interrupt_latency),
            ..interrupt
        };
        match by {
            Brought::Task | Brought::Tick(_) => by,
            Brought::Outside(interrupt) => Brought::Outside(sooner(interrupt)),
            Brought::Served(interrupt) => Brought::Served(sooner(interrupt)),
        }
    }

    /// What a wakeup by an interrupt costs that comes so long after another one, of the same task's CPU time.
    /// Several timers that expire at one time are served by one interrupt, and it alone is followed by the
    /// next wakeup as soon as the first one is done.
    fn interrupted(&self, by_timer: bool, since_another: Option<Nanos>) -> Nanos {
        let for_timer = |cost| if by_timer { cost } else { Nanos::ZERO };
        let own = self.interrupt_wake + for_timer(self.timer_expiry);
        let around = self.interrupt + for_timer(self.timer_interrupt);
        // Half-way between what lies between two wakeups of one interrupt and between those of two.
        let same = since_another.is_some_and(|since| since < own + Nanos(around.0 / 2));
        own + if same { Nanos::ZERO } else { around }
    }

    /// The task's steps with its runs shortened and its wakeups by interrupts brought forward.
    pub fn without(&self, task: &RecordedTask) -> Vec<ReplayStep> {
        if task.told.is_some() {
            return task.steps.clone();
        }
        let mut bill = Bill { paid: Vec::with_capacity(task.steps.len()), debt: Nanos::ZERO };
        let sleeps = task.steps.iter().filter(|step| matches!(step, ReplayStep::Sleep(_))).count() as u64;
        // Where a task was preempted is not in its program: those switches are spread over its CPU time.
        let preempted = task.arrivals.saturating_sub(sleeps + 1);
        let spread = preempted * self.stay.0;
        bill.debt = self.stay;
        let mut since_interrupt = None;
        for step in &task.steps {
            match step {
                ReplayStep::Run(length) => {
                    since_interrupt = since_interrupt.map(|since: Nanos| since.saturating_add(*length));
                    let share =
                        u128::from(spread) * u128::from(length.0) / u128::from(task.cpu_time.0.max(1));
                    let background = u128::from(self.background_ppm) * u128::from(length.0) / 1_000_000;
                    bill.run(*length, Nanos((share + background) as u64));
                }
                // The clock ends it, whatever comes on top.
                ReplayStep::RunUntil(_) => bill.debt = Nanos::ZERO,
                ReplayStep::Exit => bill.pay_back(self.exit),
                ReplayStep::Sleep(waking) => {
                    let timer = matches!(waking, Waking::At(_) | Waking::After(_));
                    bill.pay(self.sleep + if timer { self.timer } else { Nanos::ZERO });
                    bill.paid.push(ReplayStep::Sleep(self.sooner(*waking)));
                    bill.debt += self.stay;
                    since_interrupt = None;
                    continue;
                }
                ReplayStep::Wake { interrupts, same_call, .. } => {
                    bill.pay(self.wake + if *interrupts { self.ipi } else { Nanos::ZERO });
                    if *same_call {
                        bill.put_into_the_call(step.clone());
                        continue;
                    }
                }
                // As a sleep and a wakeup; who spins is not switched out, but enters the kernel, too.
                ReplayStep::Lock { waited: true, .. } => {
                    bill.pay(self.sleep);
                    bill.paid.push(step.clone());
                    bill.debt += self.stay;
                    continue;
                }
                ReplayStep::Unlock { wakes: true, .. } => bill.pay(self.wake),
                ReplayStep::Lock { .. } | ReplayStep::Unlock { .. } => {}
                ReplayStep::Fork { .. } => bill.pay(self.fork),
                ReplayStep::Submit { task, device, service, work } => {
                    bill.pay(self.syscall);
                    let (task, device, work) = (*task, *device, *work);
                    let service = service.saturating_sub(self.interrupt_latency);
                    bill.paid.push(ReplayStep::Submit { task, device, service, work });
                    continue;
                }
                ReplayStep::Told(_) => {}
                ReplayStep::Exec(_) => bill.pay(self.exec),
                ReplayStep::SetPrio(_) | ReplayStep::Lend { .. } | ReplayStep::GiveBack(_) => {
                    bill.pay(self.set_prio)
                }
                ReplayStep::Yield
                | ReplayStep::Marker(_)
                | ReplayStep::Pin
                | ReplayStep::Bind(_)
                | ReplayStep::Unbind => bill.pay(self.syscall),
                ReplayStep::Interrupted { by_timer } => {
                    bill.pay(self.interrupted(*by_timer, since_interrupt));
                    since_interrupt = Some(Nanos::ZERO);
                }
            }
            if !matches!(step, ReplayStep::Run(_)) {
                bill.paid.push(step.clone());
            }
        }
        bill.paid
    }
}

/// Kernels of the recorded data have HZ=250; at 1000 the error is a third of a per mille of the CPU time.
const TICKS_PER_SECOND: u64 = 250;

/// Steps paid for so far.
struct Bill {
    paid: Vec<ReplayStep>,
    /// What the runs to come must pay.
    debt: Nanos,
}

impl Bill {
    /// What lies between the wakes of one system call is the kernel's way from each to the next, and timers
    /// that seemed to be wakeups of the task's: it comes after all of them.
    fn put_into_the_call(&mut self, wake: ReplayStep) {
        let between = |step: &ReplayStep| matches!(step, ReplayStep::Run(_) | ReplayStep::Interrupted { .. });
        let begun = |step: &ReplayStep| matches!(step, ReplayStep::Wake { .. } | ReplayStep::GiveBack(_));
        let call = self.paid.iter().rposition(|step| !between(step)).filter(|call| begun(&self.paid[*call]));
        // Of a call that began with a wakeup without effect, the last part is left.
        let rest = self.paid.len() - usize::from(matches!(self.paid.last(), Some(ReplayStep::Run(_))));
        self.paid.insert(call.map_or(rest, |call| call + 1), wake);
    }

    /// A run pays its own share and what is owed.
    fn run(&mut self, length: Nanos, share: Nanos) {
        self.debt += share;
        let paid = self.debt.min(length);
        self.debt = self.debt.saturating_sub(paid);
        self.paid.push(ReplayStep::Run(length.saturating_sub(paid)));
    }

    /// A step is paid from the run before it, so that its effect comes when it was recorded.
    fn pay(&mut self, price: Nanos) {
        self.debt += price;
        if let Some(ReplayStep::Run(length)) = self.paid.last_mut() {
            let paid = self.debt.min(*length);
            *length = length.saturating_sub(paid);
            self.debt = self.debt.saturating_sub(paid);
        }
    }

    /// After the last step nobody can pay: all runs before it must, from the last one on.
    fn pay_back(&mut self, price: Nanos) {
        self.debt += price;
        for step in self.paid.iter_mut().rev() {
            match step {
                ReplayStep::Run(length) => {
                    let paid = self.debt.min(*length);
                    *length = length.saturating_sub(paid);
                    self.debt = self.debt.saturating_sub(paid);
                }
                ReplayStep::RunUntil(_) => self.debt = Nanos::ZERO,
                _ => {}
            }
            if self.debt == Nanos::ZERO {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Topology;

    fn us(us: u64) -> ReplayStep {
        ReplayStep::Run(Nanos::from_micros(us))
    }

    fn idle_task() -> RecordedTask {
        RecordedTask {
            pid: trace::Pid(7),
            incarnation: 0,
            comm: "a".into(),
            begin: super::super::Begin::Asleep,
            prio: 120,
            round_robin: false,
            fair: super::super::FairPolicy::default(),
            deadline: None,
            cpu_time: Nanos::ZERO,
            exited: None,
            steps: Vec::new(),
            arrivals: 0,
            placement: super::super::Placement::default(),
            told: None,
        }
    }

    fn check(steps: Vec<ReplayStep>, arrivals: u64, expected: Vec<ReplayStep>) {
        let mut spec = MachineSpec::ideal(Topology::flat(1));
        spec.costs.context_switch = Nanos::from_micros(2);
        spec.costs.exec = Nanos::from_micros(300);
        spec.costs.thread_exit = Nanos::from_micros(50);
        spec.costs.dequeue = Nanos::from_micros(1);
        let runs =
            steps.iter().filter_map(|s| if let ReplayStep::Run(length) = s { Some(length.0) } else { None });
        let task = RecordedTask { cpu_time: Nanos(runs.sum()), steps, arrivals, ..idle_task() };
        assert_eq!(Overhead::of(&spec).without(&task), expected);
    }

    #[test]
    fn switches_and_sleeps_are_paid_by_the_burst_around_them() {
        let sleep = ReplayStep::Sleep(Waking::Task);
        check(vec![us(10), sleep.clone(), us(20)], 2, vec![us(10 - 2 - 1), sleep, us(20 - 2)]);
    }

    /// Entry and exit take 4 us, taking the timer off and waking 2 us, setting the next one 1 us.
    #[test]
    fn wakeups_close_together_are_one_interrupts() {
        let mut spec = MachineSpec::ideal(Topology::flat(1));
        let c = &mut spec.costs;
        (c.irq_entry, c.irq_exit) = (Nanos::from_micros(2), Nanos::from_micros(2));
        (c.timer_expiry, c.enqueue) = (Nanos::from_micros(1), Nanos::from_micros(1));
        c.timer_program = Nanos::from_micros(1);
        let overhead = Overhead::of(&spec);
        let after = |us: u64| overhead.interrupted(true, Some(Nanos::from_micros(us)));
        assert_eq!(overhead.interrupted(true, None), Nanos::from_micros(7));
        assert_eq!(overhead.interrupted(false, None), Nanos::from_micros(5));
        assert_eq!((after(2), after(4)), (Nanos::from_micros(2), Nanos::from_micros(2)));
        assert_eq!((after(5), after(7)), (Nanos::from_micros(7), Nanos::from_micros(7)));
        let irq = ReplayStep::Interrupted { by_timer: true };
        let steps = vec![us(100), irq.clone(), us(2), irq.clone(), us(200), irq, us(10)];
        let task = RecordedTask { steps, cpu_time: Nanos::from_micros(312), arrivals: 1, ..idle_task() };
        let runs = overhead.without(&task).into_iter().map(|step| match step {
            ReplayStep::Run(length) => length.0,
            _ => 0,
        });
        // The tick takes a thousandth.
        assert_eq!(runs.sum::<u64>(), 312_000 - 312 - 7_000 - 2_000 - 7_000);
    }

    /// All of them, and a timer that expires in between does not make two calls of it.
    #[test]
    fn the_wakeups_of_a_call_are_put_together() {
        let wake = |same_call| ReplayStep::Wake {
            task: super::super::TaskIndex(0),
            interrupts: false,
            work: None,
            same_call,
        };
        let irq = ReplayStep::Interrupted { by_timer: true };
        check(
            vec![
                us(9),
                wake(false),
                us(2),
                wake(true),
                us(3),
                wake(true),
                us(4),
                irq.clone(),
                us(5),
                wake(true),
            ],
            1,
            vec![us(7), wake(false), wake(true), wake(true), wake(true), us(2), us(3), us(4), irq, us(5)],
        );
    }

    #[test]
    fn preemptions_are_spread() {
        check(
            vec![us(100), ReplayStep::Yield, us(300)],
            5,
            vec![us(100 - 2 - 2), ReplayStep::Yield, us(300 - 6)],
        );
    }

    #[test]
    fn what_a_burst_cannot_pay_the_next_one_does() {
        let exec = ReplayStep::Exec("cc1".into());
        check(vec![us(100), exec.clone(), us(500)], 1, vec![us(0), exec, us(500 - 202)]);
    }

    #[test]
    fn the_exit_is_paid_before_the_end() {
        let wake = ReplayStep::Wake {
            task: super::super::TaskIndex(0),
            interrupts: false,
            work: None,
            same_call: false,
        };
        check(
            vec![us(100), wake.clone(), us(20), ReplayStep::Exit],
            1,
            vec![us(100 - 2 - 31), wake, us(0), ReplayStep::Exit],
        );
    }
}
