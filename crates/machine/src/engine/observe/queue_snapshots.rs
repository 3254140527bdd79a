//! What a snapshot shows of a CPU's queues.

use super::view::View;
use crate::snapshot::{
    DlQueueSnapshot, EevdfQueueSnapshot, FairEntitySnapshot, FairGroupQueueSnapshot, FairQueueSnapshot,
    RemovedSnapshot, RtGroupQueueSnapshot, RtQueueSnapshot,
};
use scheduler::fair::{CfsRq, EntityId, GroupQueue, QueueAverages};
use scheduler::rq::{RqState, RunQueue};
use scheduler::rt::Bandwidth;
use scheduler::{GroupId, TaskId, dl, fair};

impl View<'_> {
    pub(super) fn fair_queue(self, rq: &RunQueue, state: &RqState, group: GroupId) -> FairQueueSnapshot {
        let fair = state.queue(group);
        let published = &rq.published;
        let is_root = group == GroupId::ROOT;
        let QueueAverages { average, removed } = self.k.averages_of(group, rq.cpu);
        FairQueueSnapshot {
            exec_clock: fair.exec_clock,
            min_vruntime: self.k.floor_of(group, rq.cpu).get(),
            leftmost: fair.timeline.leftmost().map(|w| w.vruntime),
            rightmost: fair.timeline.rightmost().map(|w| w.vruntime),
            nr_running: fair.nr_running,
            h_nr_running: fair.h_nr_running,
            load: fair.load,
            nr_spread_over: fair.nr_spread_over,
            nr_idle: if is_root { published.nr_idle_policy.get() } else { fair.nr_idle },
            average: average.clone(),
            // The estimates of all tasks are summed in the root's queue.
            estimated: if is_root { published.pelt.estimated.get() } else { 0 },
            queued_load: if is_root { published.pelt.queued_load.get() } else { 0 },
            removed: RemovedSnapshot {
                load: removed.load_avg.get(),
                util: removed.util_avg.get(),
                runnable: removed.runnable_avg.get(),
                runnable_units: removed.runnable_units(average),
            },
            eevdf: self.eevdf_queue(state, fair),
        }
    }

    fn eevdf_queue(self, state: &RqState, fair: &CfsRq) -> EevdfQueueSnapshot {
        let tree = &fair.eevdf.tree;
        EevdfQueueSnapshot {
            left_deadline: tree.first().map(|c| c.deadline),
            left_vruntime: tree.least_vruntime(),
            right_vruntime: tree.in_order().last().map(|c| c.vruntime),
            greatest_vruntime: tree.in_order().into_iter().map(|c| c.vruntime).reduce(later),
            v0: fair.eevdf.v0,
            avg_vruntime: fair.zero_lag_point(&self.k.tasks),
            nr_delayed: self.delayed(state, fair),
        }
    }

    /// Tasks of a queue, and of those below it, that are queued and asleep.
    fn delayed(self, state: &RqState, fair: &CfsRq) -> u32 {
        let delayed = |entity: EntityId| match entity.is_group() {
            true => self.delayed(state, state.queue(entity.group())),
            false => u32::from(self.k.task(entity.task()).se.eevdf.sched_delayed.get()),
        };
        fair.waiting().chain(fair.curr).map(delayed).sum()
    }

    /// Those in which somebody is, or was so lately that their averages show it.
    pub(super) fn fair_group_queues(self, rq: &RunQueue, state: &RqState) -> Vec<FairGroupQueueSnapshot> {
        let lives = |queue: &GroupQueue, fair: &CfsRq| {
            fair.nr_running > 0 || queue.bandwidth.is_throttled() || queue.average.load_sum.get() > 0
        };
        let of = |group: GroupId| {
            let queue = self.k.group_queue(group, rq.cpu);
            lives(queue, state.queue(group)).then(|| FairGroupQueueSnapshot {
                group,
                queue: self.fair_queue(rq, state, group),
                contrib: queue.contrib.get(),
                group_load: self.k.groups.get(group).load_avg.get(),
                throttled: queue.bandwidth.is_throttled(),
                throttle_count: queue.bandwidth.above(),
                entity: self.fair_entity(EntityId::of_group(group, rq.cpu).task()),
            })
        };
        self.k.groups.ids().filter_map(of).collect()
    }

    fn fair_entity(self, entity: TaskId) -> FairEntitySnapshot {
        let task = self.k.task(entity);
        FairEntitySnapshot {
            exec_start: task.stats.exec_start.get(),
            vruntime: task.se.vruntime.get(),
            sum_exec_runtime: task.stats.sum_exec_runtime.get(),
            weight: task.se.exact_weight(),
            average: task.se.pelt.average.clone(),
        }
    }

    pub(super) fn rt_queue(self, rq: &RunQueue, state: &RqState) -> RtQueueSnapshot {
        RtQueueSnapshot {
            nr_migratory: state.rt.nr_migratory(),
            ..rt_queue_of(rq, state, GroupId::ROOT, &self.k.rt_bandwidth)
        }
    }

    pub(super) fn rt_group_queues(self, rq: &RunQueue, state: &RqState) -> Vec<RtGroupQueueSnapshot> {
        if !self.k.rt_bandwidth.has_groups() {
            return Vec::new();
        }
        let of = |group| {
            let bandwidth = self.k.groups.get(group).rt.as_ref()?;
            Some(RtGroupQueueSnapshot { group, queue: rt_queue_of(rq, state, group, bandwidth) })
        };
        self.k.groups.ids().filter_map(of).collect()
    }

    pub(super) fn dl_queue(self, rq: &RunQueue, state: &RqState) -> DlQueueSnapshot {
        DlQueueSnapshot {
            nr_running: state.dl.nr_running(),
            nr_migratory: state.dl.nr_migratory(),
            promises: dl::promises(self.k, rq.cpu),
        }
    }
}

/// The later of two virtual times, which may wrap around.
fn later(a: u64, b: u64) -> u64 {
    if fair::lag(a, b) < 0 { b } else { a }
}

fn rt_queue_of(rq: &RunQueue, state: &RqState, group: GroupId, of: &Bandwidth) -> RtQueueSnapshot {
    RtQueueSnapshot {
        nr_running: state.rt.nr_running_in(group),
        nr_migratory: 0,
        throttled: state.rt.is_throttled_in(group),
        time: of.rt_time(rq.cpu),
        runtime: of.rt_runtime(rq.cpu),
    }
}
