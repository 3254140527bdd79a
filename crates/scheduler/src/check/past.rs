//! Settings that were in force at some time and leave traces after they change.

use crate::fair;
use crate::platform::Platform;
use crate::registry::{
    DlServer, DlServerStop, FloorOrder, ForkPath, LoadTracking, NextDef, OverloadRule, PreemptModel,
    PushFail, ThrottledCount,
};
use crate::{Nanos, Scheduler};
use alloc::vec::Vec;

/// What has ever been in force since the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// `overload_rule=migratory`: a queue keeps its answer until its next enqueue or dequeue.
    pub(super) migratory: bool,
    /// `overload_rule=depth`.
    pub(super) depth: bool,
    /// `overload_rule=pushable`.
    pub(super) by_pushable: bool,
    /// `push_fail=drop_and_continue`: pushable tasks may be missing from the list.
    pub(super) dropped: bool,
    /// `next_def=second_best`: highest_prio.next is an approximation until the next change of the queue.
    pub(super) second_best: bool,
    /// `sched_child_runs_first`: a child may have taken its parent's place.
    pub(super) child_first: bool,
    /// Another `floor_order` than `with_task`: a floor that moved past a task does not count in its distance.
    pub(super) floor_passed: bool,
    /// `floor_order=without_task`, or `one_step` where a child is placed early: a new task takes its distance
    /// to the floor of its queue before that floor moves.
    pub(super) floor_passed_newcomers: bool,
    /// `throttled_count=left_out`, and `counted`: with RT_GROUP_SCHED `nr_running` keeps what it contains of
    /// real-time tasks until their queue changes next.
    pub(super) throttled_left_out: bool,
    pub(super) throttled_counted: bool,
    /// `load_tracking=weights`: a task that was queued then joins its queue's averages when it next runs.
    pub(super) untracked: bool,
    /// `preempt_model=lazy`: a request may still be a lazy one.
    pub(super) lazy: bool,
    /// There was a fair server.
    had_server: bool,
    /// It may have stopped under the task for which it stood (deadline-groups A11): with the last fair task,
    /// if that only changes (`dl_server_stop=on_empty`), or because it was switched off.
    pub(super) server_left: bool,
    /// The largest sleeper threshold, in virtual ns.
    pub(super) sleeper_threshold: u64,
    /// The most that a group's queue drew from its limit at a time, in µs.
    pub(super) bandwidth_slice_us: i64,
    /// Every `base_slice`: a request keeps that with which it began.
    pub(super) base_slices: Vec<Nanos>,
}

impl Past {
    /// Of a scheduler whose settings never changed.
    pub fn of<P: Platform>(k: &Scheduler<P>) -> Past {
        let mut past = Past::default();
        past.note(k);
        past
    }

    /// The settings have changed to what they are now.
    pub fn note<P: Platform>(&mut self, k: &Scheduler<P>) {
        let rules = &k.config.rules;
        self.migratory |= rules.overload_rule.get() == OverloadRule::Migratory;
        self.by_pushable |= rules.overload_rule.get() == OverloadRule::Pushable;
        self.depth |= rules.overload_rule.get() == OverloadRule::Depth;
        self.dropped |= rules.push_fail.get() == PushFail::DropAndContinue;
        self.second_best |= rules.next_def.get() == NextDef::SecondBest;
        self.child_first |= k.config.tunables.sched_child_runs_first.get() != 0;
        self.floor_passed |= rules.floor_order.get() != FloorOrder::WithTask;
        self.floor_passed_newcomers |= match rules.floor_order.get() {
            FloorOrder::WithoutTask => true,
            FloorOrder::OneStep => rules.fork_path.get() == ForkPath::Early,
            FloorOrder::WithTask => false,
        };
        self.throttled_left_out |= rules.throttled_count.get() == ThrottledCount::LeftOut;
        self.throttled_counted |= rules.throttled_count.get() == ThrottledCount::Counted;
        self.untracked |= rules.load_tracking.get() == LoadTracking::Weights;
        self.lazy |= rules.preempt_model.get() == PreemptModel::Lazy;
        let has_server = rules.dl_server.get() != DlServer::Off;
        self.server_left |= match rules.dl_server_stop.get() {
            DlServerStop::OnEmpty => has_server,
            DlServerStop::Lazy | DlServerStop::LazyIdle => self.had_server && !has_server,
        };
        self.had_server |= has_server;
        let slice = k.config.tunables.sched_cfs_bandwidth_slice_us.get();
        self.bandwidth_slice_us = self.bandwidth_slice_us.max(slice);
        self.sleeper_threshold = self.sleeper_threshold.max(fair::largest_sleeper_threshold(k));
        let base_slice = fair::Granularities::new(&k.config, k.cpus()).base_slice;
        if !self.base_slices.contains(&base_slice) {
            self.base_slices.push(base_slice);
        }
    }
}
