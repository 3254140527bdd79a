//! The next buddy: who becomes it, and who asks for it (3.5, 3.6).

use super::preempt::{Stage, WOKEN};
use crate::class::PreemptCause;
use crate::fair::EntityId;
use crate::{CpuId, Policy, Reason, TaskId};

impl Stage {
    fn next(&self) -> Option<TaskId> {
        let rq = self.lab.run(self.lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.next.map(EntityId::task)
    }

    /// Another one, which waits with a deadline of 30, is the next buddy.
    fn with_next(self) -> (Stage, TaskId) {
        let other = self.third(10.5);
        self.lab.run(self.lab.cpu(0).lock(CpuId(0))).fair.buddies.next = Some(EntityId::of(other));
        (self, other)
    }
}

/// 3.5, 3.7: a SCHED_IDLE entity never becomes it, nor one that sleeps in the queue.
#[test]
fn who_never_becomes_it() {
    for profile in ["6.18.y", "7.0"] {
        let becomes = |theirs: Policy, delayed: bool| {
            let stage = Stage::new(profile, &["fork_preempts=yes"]).slices(10.0, 10.0);
            let stage = stage.policies(theirs, theirs);
            stage.lab.k.config.set("NEXT_BUDDY").expect("a legal setting");
            stage.lab.k.task(stage.p).se.eevdf.sched_delayed.set(delayed);
            stage.check(WOKEN);
            stage.next() == Some(stage.p)
        };
        assert!(becomes(Policy::Normal, false), "{profile}");
        assert!(!becomes(Policy::Normal, true), "{profile}");
        assert!(!becomes(Policy::Idle, false), "{profile}");
    }
}

/// 3.5: under `wake_buddy=deadline` a wakee with a shorter slice does not become it: it asks at once.
#[test]
fn a_shorter_slice_needs_no_buddy() {
    for (slice, becomes) in [(10.0, true), (0.5, false)] {
        let stage = Stage::new("7.0", &["NEXT_BUDDY"]).slices(10.0, slice);
        let before = stage.next();
        stage.check(WOKEN);
        assert_eq!((before, stage.next() == Some(stage.p)), (None, becomes), "{slice}");
    }
}

/// 3.6: before 6.19 it is part of the pick, but not of the question whether a wakee would be picked.
#[test]
fn since_when_the_question_counts_it() {
    for (profile, reason) in [("6.18.y", Reason::PreemptDeadline), ("7.0", Reason::NoPreemptDeadline)] {
        let (stage, other) = Stage::new(profile, &["NO_NEXT_BUDDY"]).slices(10.0, 10.0).with_next();
        stage.lab.protect(0.0);
        assert_eq!(stage.check(WOKEN), reason, "{profile}");
        assert_eq!(stage.lab.would_pick(0), Some(other), "{profile}");
    }
}

/// 3.5: at a sync wakeup that decides at once, the wakee has to be before the running one, however cheap a
/// migration is.
#[test]
fn a_sync_wakee_has_to_be_earlier() {
    let sync = PreemptCause::Wakeup { sync: true };
    for (d, reason) in [
        (20.0 - 1e-6, Reason::PreemptDeadline),
        (20.0, Reason::NoPreemptDeadline),
        (25.0, Reason::NoPreemptDeadline),
    ] {
        let stage = Stage::new("7.0", &["NEXT_BUDDY", "sched_migration_cost_ns=0"]).slices(10.0, 10.0);
        stage.lab.stand(stage.p, 10.5, d);
        assert_eq!(stage.check(sync), reason, "{d}");
    }
}
