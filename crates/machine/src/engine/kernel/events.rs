//! What happens to a machine: the events of its queue, and the CPUs that go on because of them.

use super::sim::Sim;
use crate::engine::hardware::{Irq, Mode, OneShot, Source};
use crate::objects::ChannelId;
use crate::outcome::RunError;
use crate::setup::{Arrival, Outside};
use crate::step_text::change_text;
use crate::told::ToldMessage;
use scheduler::dl::promises_hold;
use scheduler::registry::IdleTick;
use scheduler::{Class, CpuId, Nanos, TaskId, TaskState};
use schema::LogEvent;

impl Sim {
    /// When a message from outside sets out: for a tick, half a period before its time, so that the next tick
    /// is the nearest.
    pub fn leaves_at(&self, message: &Outside) -> Nanos {
        match message.by {
            Arrival::Own => message.at,
            Arrival::Tick => message.at.saturating_sub(self.half_a_tick()),
        }
    }

    /// An event happens; the CPU that goes on because of it, if one does.
    #[inline]
    pub fn handle(&self, source: Source) -> Option<CpuId> {
        match source {
            // A CPU that spins for a lock goes on when it gets it, not when some older plan of it comes due.
            Source::Work(cpu) => {
                self.hw().catch_up(cpu);
                (self.hw().cpu(cpu).mode.get() != Mode::Spinning).then_some(cpu)
            }
            Source::Timer(task) if self.k.task(task).state.get() == TaskState::New => self.spawn_due(task),
            Source::Timer(task) => self.timer_fires(task),
            Source::Tick(cpu) => {
                self.hw().cpu(cpu).ticks.set(false);
                let governed = self.keeps_tick_in_idle(cpu);
                if !self.is_idle(cpu) || governed == Some(true) || self.rcu.needs_tick(cpu) {
                    let next = self.next_tick(cpu);
                    self.hw().tick_at(cpu, next);
                } else if (governed.is_some() || self.k.config.rules.idle_tick.get() != IdleTick::Keep)
                    && self.hw().cpu(cpu).by_tick.borrow().is_empty()
                {
                    return None;
                }
                self.hw().raise(cpu, Irq::Tick)
            }
            Source::Deadline(cpu) => self.hw().raise(cpu, Irq::Deadline),
            Source::Hrtick(cpu) => self.hw().raise(cpu, Irq::Hrtick),
            Source::IrqOff { cpu, source } => {
                // A governor counts what ends an idle time.
                let nobody_notices = self.rests(cpu)
                    && self.hw().idle.is_none()
                    && self.surroundings.kthread_wakes.none_by_irq_off()
                    && !self.is_handled_in_thread(source);
                let length = self.hw().stretch_begins(cpu, source as usize, nobody_notices)?;
                self.hw().raise(cpu, Irq::Off { source, length })
            }
            Source::OneShot(place) => self.handle_one_shot(self.hw().one_shot(place)),
        }
    }

    /// A task's timer expires, or the interrupt arrives that it was fetched by.
    #[inline]
    fn timer_fires(&self, task: TaskId) -> Option<CpuId> {
        let cpu = self.user.tasks.with(task, |t| t.timer_base);
        let Some(delivery) = self.hw().spec.noise.timer_delivery else {
            return self.hw().raise(cpu, Irq::Timer(task));
        };
        let slot = self.user.tasks.with(task, |t| t.timer);
        self.hw().timer_fires(cpu, task, slot, delivery)
    }

    /// A task of the setup, or of the machine's background, is to start.
    fn spawn_due(&self, task: TaskId) -> Option<CpuId> {
        let index = task.0 - self.k.cpus() as u32;
        let cpu = self.surroundings.spawn_cpus[index as usize].filter(|c| c.index() < self.k.cpus());
        self.hw().raise(cpu.unwrap_or_else(|| self.forks_from(task)), Irq::Spawn(index))
    }

    /// The CPU on which a task is forked of which nobody says more: the first one, or the first that the
    /// task may use where it may use none of that one's partition.
    fn forks_from(&self, task: TaskId) -> CpuId {
        let (first, allowed) = (CpuId(0), self.k.task(task).cpus_allowed.get());
        let here = self.k.root_domain(first).span.intersects(&allowed);
        if here { first } else { allowed.first().unwrap_or(first) }
    }

    /// Whether a CPU idles, with nothing on the way that it would find when it looks around.
    fn rests(&self, cpu: CpuId) -> bool {
        let (hw, rq) = (self.hw().cpu(cpu), &self.k.rq(cpu).published);
        hw.mode.get() == Mode::Interruptible
            && rq.curr.get() == self.k.idle_task(cpu)
            && !rq.is_asked()
            && hw.pending.borrow().is_empty()
    }

    fn handle_one_shot(&self, once: OneShot) -> Option<CpuId> {
        match once {
            OneShot::Ipi { to, ipi, stolen } => {
                let so_far = &self.hw().cpu(to).stolen;
                so_far.set(so_far.get() + stolen);
                self.hw().raise(to, Irq::Ipi(ipi))
            }
            OneShot::Notice { to, ipi } => self.hw().raise(to, Irq::Notice(ipi)),
            OneShot::RtPeriod { cpu } => self.hw().raise(cpu, Irq::RtPeriod),
            OneShot::Outside(index) => {
                let message = self.surroundings.outside[index as usize];
                if let Some(period) = message.every {
                    self.hw().at(self.hw().now.get() + period.max(Nanos(1)), OneShot::Outside(index));
                }
                let cpu = message.cpu.unwrap_or_else(|| self.near(message.channel));
                let Outside { by, channel, .. } = message;
                let now = self.hw().now.get();
                match by {
                    Arrival::Own => self.hw().raise(cpu, Irq::Outside { channel, by, at: now }),
                    Arrival::Tick => {
                        let at = now + self.half_a_tick();
                        self.hw().cpu(cpu).by_tick.borrow_mut().push(ToldMessage { channel, by, at });
                        self.keep_ticking(cpu);
                        None
                    }
                }
            }
            OneShot::Softirq(index) => {
                let gap = self.surroundings.until_next_softirq(index);
                self.surroundings.softirq_at(self.hw(), index, self.hw().now.get() + gap);
                self.hw().raise(self.surroundings.softirqs[index as usize].cpu, Irq::Softirq(index))
            }
            OneShot::Served(channel) => self.hw().raise(self.near(channel), Irq::Served(channel)),
            OneShot::Setting(index) => {
                let setting = &self.surroundings.settings[index as usize];
                let changes = || LogEvent::Setting { setting: setting.as_str().into() };
                self.hw().note_detail(CpuId(0), changes);
                if let Err(error) = self.write_setting(setting) {
                    self.hw().recorder.fail(error);
                }
                self.hw().locks.timing.kind.set(self.k.config.rules.lock_kind.get());
                if let Some(watch) = self.hw().watch() {
                    watch.checker.borrow_mut().settings_changed(&self.k);
                }
                self.hw().raise(CpuId(0), Irq::Settings)
            }
            OneShot::Redraw(index) => {
                let seed = self.surroundings.redraws[index as usize];
                self.hw().redraw(seed);
                self.surroundings.redraw(seed);
                self.user.redraw(seed, &self.k);
                None
            }
            OneShot::Change(index) => {
                let change = self.surroundings.changes[index as usize];
                let changes = || LogEvent::Setting { setting: change_text(change).into() };
                self.hw().note_detail(CpuId(0), changes);
                self.hw().raise(CpuId(0), Irq::Change(index))
            }
            OneShot::Snapshot => {
                self.observed.snapshots.begin(self.view(), self.hw().now.get());
                None
            }
            OneShot::WindowBegins => {
                self.observed.begin_window(self.view());
                None
            }
            OneShot::WindowEnds => {
                self.observed.end_window(self.view(), self.hw().now.get());
                None
            }
            // The loop ends when the next event lies behind it.
            OneShot::End => None,
        }
    }

    /// Writes a setting, unless the kernel refuses that.
    fn write_setting(&self, setting: &str) -> Result<(), RunError> {
        self.k.config.set_later(setting).map_err(|error| RunError::Setting(error.to_string()))?;
        promises_hold(&self.k).map_err(|why| {
            let (setting, at) = (setting.to_owned(), self.hw().now.get());
            RunError::Refused { setting, at, why: Box::new(RunError::Promised(why)) }
        })
    }

    /// Where an interrupt for this channel arrives unless somebody says otherwise: where its reader last ran.
    fn near(&self, channel: ChannelId) -> CpuId {
        let reader = self.user.channels.last_reader(channel);
        reader.map(|reader| self.k.task(reader).cpu.get()).unwrap_or_default()
    }

    /// Whether `cpu` executes its idle task.
    pub fn is_idle(&self, cpu: CpuId) -> bool {
        self.k.task(self.k.rq(cpu).published.curr.get()).class.get() == Class::Idle
    }
}
