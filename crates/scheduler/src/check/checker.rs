//! The checker: told of every event, asked for a look at every opportunity.

use super::budgets::Budgets;
use super::debts::Debts;
use super::eevdf_course::EevdfCourse;
use super::limits::Limits;
use super::memory::{QueueMemory, Stamp, TaskMemories};
use super::moves::Moves;
use super::placing::Placing;
use super::walkers::Flying;
use super::{Findings, Moment, Past, Violation, best_run, counters, look, order, vruntime, wakeups};
use crate::platform::{Ipi, Platform};
use crate::{CpuId, CpuMask, Event, Scheduler, ThisCpu};
use alloc::boxed::Box;

/// Watches one scheduler through one run. The platform tells it of events, interrupts and changes of the
/// settings, and calls [`Checker::look`] whenever no path is being executed, or between two.
#[derive(Debug)]
pub struct Checker {
    past: Past,
    memory: Memory,
    flying: Flying,
    moves: Moves,
    placing: Placing,
    limits: Limits,
    debts: Debts,
    budgets: Budgets,
    pub(super) eevdf: EevdfCourse,
    pub(super) best_run: best_run::BestRun,
    pub(super) found: Findings,
}

/// What all the course checks share.
#[derive(Debug)]
pub(super) struct Memory {
    pub tasks: TaskMemories,
    pub queues: Box<[QueueMemory]>,
    pub now: Stamp,
}

impl Checker {
    /// For a scheduler that has not run yet.
    pub fn new<P: Platform>(k: &Scheduler<P>) -> Checker {
        let queue = |rq: &crate::rq::RunQueue| QueueMemory {
            min_vruntime: rq.published.min_vruntime.get(),
            switches: rq.inspect().map_or(0, |state| state.nr_switches),
            ..QueueMemory::default()
        };
        Checker {
            past: Past::of(k),
            memory: Memory {
                tasks: TaskMemories::default(),
                queues: k.rqs().iter().map(queue).collect(),
                now: 1,
            },
            flying: Flying::new(k),
            moves: Moves::default(),
            placing: Placing::new(k),
            limits: Limits::default(),
            debts: Debts::default(),
            budgets: Budgets::default(),
            eevdf: EevdfCourse::new(k),
            best_run: best_run::BestRun::default(),
            found: Findings::default(),
        }
    }

    /// Something happened. To be called while it happens, by [`Platform::event`].
    pub fn event<P: Platform>(&mut self, me: ThisCpu<'_, P>, event: Event) {
        let Checker { memory, found, eevdf, .. } = self;
        memory.now += 1;
        wakeups::event(memory, me, event, found);
        counters::event(memory, me, event, found);
        vruntime::event(&self.past, me, event, found);
        super::eevdf::event(me, event, found);
        eevdf.event(memory, me, event, found);
        order::event(memory, me, event);
        self.moves.event(me, event, found);
        self.budgets.event(me, event, found);
        self.placing.event(me, event, found);
        self.best_run.event(&self.past, me, event);
    }

    /// An interrupt was sent to `to`.
    pub fn ipi_sent(&mut self, to: CpuId, ipi: Ipi) {
        self.flying.sent(to, ipi, &mut self.found);
    }

    /// The handler of an interrupt begins on `at`.
    pub fn ipi_arrived(&mut self, at: CpuId, ipi: Ipi) {
        self.flying.arrived(at, ipi);
    }

    /// A feature, rule or tunable has another value now.
    pub fn settings_changed<P: Platform>(&mut self, k: &Scheduler<P>) {
        self.past.note(k);
        self.flying.settings_changed(k);
        self.eevdf.settings_changed();
        self.budgets.settings_changed();
        self.best_run.excuse();
    }

    /// Looks at the state of this moment only, for who does not tell of events (but of interrupts and of
    /// settings). Returns the first violation.
    pub fn look_at_state<P: Platform>(
        &mut self,
        k: &Scheduler<P>,
        idle_or_user: &CpuMask,
    ) -> Option<Violation> {
        let at_rest = self.at_rest(k, idle_or_user);
        look(&Moment::new(k, &at_rest, &self.past), &mut self.found);
        self.flying.look(k);
        self.found.first()
    }

    /// Those of them for which no interrupt is on its way.
    fn at_rest<P: Platform>(&self, k: &Scheduler<P>, idle_or_user: &CpuMask) -> CpuMask {
        let mut at_rest = *idle_or_user;
        k.online.iter().filter(|cpu| self.flying.is_coming(*cpu)).for_each(|cpu| at_rest.remove(cpu));
        at_rest
    }

    /// Looks at everything that can be looked at now. `idle_or_user` holds the CPUs on which no kernel path
    /// is under way and no interrupt is pending; interrupts on their way the checker knows itself.
    /// `stoppable` holds those of them that idle or execute a user's code in user space, where a limit stops
    /// it. Returns the first violation since the last look.
    pub fn look<P: Platform>(
        &mut self,
        k: &Scheduler<P>,
        idle_or_user: &CpuMask,
        stoppable: &CpuMask,
    ) -> Option<Violation> {
        let at_rest = self.at_rest(k, idle_or_user);
        let Checker { past, memory, flying, placing, limits, debts, eevdf, best_run, found, .. } = self;
        memory.now += 1;
        let moment = Moment::new(k, &at_rest, past);
        memory.tasks.notice_changes(&moment);
        look(&moment, found);
        counters::look(memory, &moment, found);
        vruntime::look(memory, &moment, found);
        super::eevdf::references_only_rise(memory, &moment, found);
        order::look(memory, &moment, found);
        placing.look(&moment, found);
        limits.look(&moment, found);
        debts.look(&moment, stoppable, found);
        eevdf.look(&moment, found);
        best_run.look(memory, &moment, found);
        flying.look(k);
        found.first()
    }
}
