//! A CPU that is about to switch because of a wakeup makes up what the way to there still takes, where that
//! is known ([`crate::WakePaths`]).

use super::sim::Sim;
use crate::engine::hardware::{Arriving, Hw};
use scheduler::ThisCpu;

impl Sim {
    /// The CPU is about to switch.
    #[inline]
    pub fn take_the_way(&self, me: ThisCpu<'_, Hw>) {
        if let Some(arriving) = self.hw().cpu(me.id).arriving.take() {
            self.make_up(me, arriving);
        }
    }

    #[inline(never)]
    fn make_up(&self, me: ThisCpu<'_, Hw>, arriving: Arriving) {
        let (hw, tasks) = (self.hw(), &self.user.tasks);
        let Some(paths) = &hw.paths else { return };
        let stream = tasks.with(arriving.task, |task| task.stream);
        let nr_wakeups = me.task(arriving.task).stats.nr_wakeups.get();
        let Some(takes) = paths.draw(arriving.situation, stream, nr_wakeups) else { return };
        let costs = &hw.spec.costs;
        let to_come = hw.at_pace(me.id, costs.schedule) + costs.lock_uncontended;
        let left = (arriving.since + takes).saturating_sub(hw.local_now() + to_come);
        hw.charge_ns(tasks.with(me.curr(), |task| task.gives_way(left)));
    }
}
