//! Buddies: preferences of a queue that may beat the leftmost task (seed 004; fair-class 7).
//!
//! - **next** looks forward: the task that was woken, which will consume what its waker has just produced.
//! - **last** looks backward: the task that a wakeup interrupted; giving it the CPU back keeps its cache
//!   useful, and lets it release the lock that it may hold.
//!
//! From 2.6.39 on **skip** names a task that yielded: it is passed over if the second from the left is near.
//!
//! A buddy is picked only where it is no further right of the leftmost than the wakeup granularity, so
//! buddies cannot drift away (D5). Before seed 004 a `last` that was too far right was forgotten at the very
//! pick that followed its recording, so it rarely helped.

use super::preempt::{Lead, wakeup_preempt_entity};
use crate::class::PreemptCause;
use crate::fair::queue::EntityId;
use crate::fair::scale;
use crate::platform::Platform;
use crate::registry::{BuddyGate, Feature, HotBuddyDstBusy, LastSet, NextSet, PickMode};
use crate::rq::RqGuard;
use crate::{Policy, Reason, TaskId};

/// The references of a queue; each is empty or names a runnable task of the queue that is not SCHED_IDLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Buddies {
    /// Who was woken.
    pub next: Option<EntityId>,
    /// Who was interrupted.
    pub last: Option<EntityId>,
    /// Who yielded; SCHED_IDLE tasks too.
    pub skip: Option<EntityId>,
}

impl Buddies {
    /// Whether a task is one of them.
    pub(in crate::fair) fn contains(self, entity: EntityId) -> bool {
        self.next == Some(entity) || self.last == Some(entity)
    }

    /// Drops the references to a task: it leaves the queue, its turn is over, or it was picked (7.4).
    pub(in crate::fair) fn clear(&mut self, entity: EntityId) {
        self.next = self.next.filter(|b| *b != entity);
        self.last = self.last.filter(|b| *b != entity);
        self.skip = self.skip.filter(|b| *b != entity);
    }
}

/// At every wakeup check of a fair task against a running fair one, before anything is decided (7.2).
pub(super) fn record_at_wakeup<P: Platform>(rq: &mut RqGuard<'_, P>, woken: EntityId, cause: PreemptCause) {
    let me = rq.me;
    let rules = &me.k.config.rules;
    if rules.last_set.get() == LastSet::EveryWake {
        set_last_buddy(rq);
    }
    let counts = cause != PreemptCause::Fork || rules.next_set.get() == NextSet::WakeOrFork;
    if counts && me.has(Feature::NextBuddy) && gate_is_open(rq) {
        set_next_buddy(rq, woken);
    }
}

/// A wakeup preempts: by virtual time, or by habit under WAKEUP_RUNNING.
pub(super) fn set_next_buddy<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    if !is_idle_policy(rq, entity) {
        rq.fair.buddies.next = Some(entity);
    }
}

/// The running fair task is preempted: by virtual time, or for another reason.
pub(super) fn record_at_preemption<P: Platform>(rq: &mut RqGuard<'_, P>, by_vruntime: bool) {
    let records = match rq.me.k.config.rules.last_set.get() {
        LastSet::EveryWake => false,
        LastSet::PreemptVr => by_vruntime,
        LastSet::PreemptAny | LastSet::PreemptFair => true,
    };
    if records {
        set_last_buddy(rq);
    }
}

/// A task of a higher class takes the CPU from the running fair task.
pub(crate) fn preempted_by_higher_class<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.last_set.get() != LastSet::PreemptFair {
        record_at_preemption(rq, false);
    }
}

fn set_last_buddy<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let Some(curr) = rq.fair.curr else { return };
    // A group that runs has no cache of its own to keep warm.
    let runnable = !curr.is_group() && rq.me.task(curr.task()).is_in_queue();
    if runnable && rq.me.has(Feature::LastBuddy) && gate_is_open(rq) && !is_idle_policy(rq, curr) {
        rq.fair.buddies.last = Some(curr);
    }
}

/// Buddies serve throughput under load; with few tasks they only hurt latency.
fn gate_is_open<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.me.k.config.rules.buddy_gate.get() == BuddyGate::Off
        || rq.fair.nr_running >= scale::nr_latency(rq.me.k)
}

fn is_idle_policy<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId) -> bool {
    rq.me.task(entity.task()).policy.get() == Policy::Idle
}

/// Who runs: the leftmost, a buddy, or the second from the left if the leftmost yielded; and which references
/// are used up (7.3).
pub(in crate::fair) fn pick<P: Platform>(rq: &mut RqGuard<'_, P>, left: EntityId) -> EntityId {
    let before = rq.fair.buddies;
    if before == Buddies::default() {
        return left;
    }
    let mode = rq.me.k.config.rules.pick_mode.get();
    let picked = match mode {
        PickMode::NextFirst | PickMode::ClearAll | PickMode::ClearTested => {
            acceptable(rq, before.next, left).or_else(|| acceptable(rq, before.last, left))
        }
        PickMode::LastFirst => {
            acceptable(rq, before.last, left).or_else(|| acceptable(rq, before.next, left))
        }
    };
    if let Some(buddy) = picked.filter(|b| *b != left) {
        rq.me.decide(
            buddy.task(),
            if before.last == Some(buddy) { Reason::BuddyLast } else { Reason::BuddyNext },
        );
    }
    let next_won = picked.is_some() && picked == before.next;
    let picked = picked.or_else(|| instead_of_skipped(rq, left)).unwrap_or(left);
    match mode {
        PickMode::NextFirst | PickMode::LastFirst => {}
        PickMode::ClearAll => rq.fair.buddies = Buddies { next: None, last: None, ..before },
        // Each was taken out when it was tested; next was tested first.
        PickMode::ClearTested => {
            let last = before.last.filter(|_| next_won);
            rq.fair.buddies = Buddies { next: None, last, ..before };
        }
    }
    rq.fair.buddies.clear(picked);
    picked
}

/// The second from the left, if the leftmost yielded and the second is near.
fn instead_of_skipped<P: Platform>(rq: &RqGuard<'_, P>, left: EntityId) -> Option<EntityId> {
    if rq.fair.buddies.skip != Some(left) {
        return None;
    }
    let second = rq.fair.timeline.second()?.entity;
    let near = wakeup_preempt_entity(rq, rq.me.entity(second), rq.me.entity(left)) != Lead::Enough;
    if near {
        rq.me.decide(left.task(), Reason::BuddySkipped);
    }
    near.then_some(second)
}

/// The buddy, if it is not too far right of the leftmost.
fn acceptable<P: Platform>(rq: &RqGuard<'_, P>, buddy: Option<EntityId>, left: EntityId) -> Option<EntityId> {
    let buddy = buddy?;
    if wakeup_preempt_entity(rq, rq.me.entity(buddy), rq.me.entity(left)) == Lead::Enough {
        rq.me.decide(buddy.task(), Reason::BuddyRefused);
        return None;
    }
    Some(buddy)
}

/// Whether balancing should leave a task alone because it is a buddy of its queue (7.6). Since seed 004 a CPU
/// that has nothing to do may take buddies too; it is the CPU that balances that counts, not the one it
/// balances for.
pub(crate) fn is_hot<P: Platform>(from: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = from.me;
    me.has(Feature::CacheHotBuddy)
        && from.queue(me.task(p).se.group.get()).buddies.contains(EntityId::of(p))
        && (me.k.config.rules.hot_buddy_dst_busy.get() == HotBuddyDstBusy::Off
            || me.k.rq(me.id).published.nr_running.get() > 0)
}
