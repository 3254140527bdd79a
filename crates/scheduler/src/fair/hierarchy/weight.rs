//! What the entity of a group weighs on a CPU: that CPU's part of the group's shares (deadline-groups B3).

use super::{GroupQueue, bandwidth};
use crate::fair::discipline;
use crate::fair::pelt;
use crate::fair::queue::{EntityId, Weight};
use crate::platform::Platform;
use crate::registry::{FairPolicy, GroupShares};
use crate::rq::RqGuard;
use crate::{GroupId, Nanos};

/// A queue publishes its load at most once in so much time (6.6 on).
const PUBLICATION_INTERVAL: Nanos = Nanos::from_millis(1);

/// What a queue is of its group, for its weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    /// Shares of the group.
    shares: u64,
    /// The load of this queue.
    load: u64,
    /// What of it is in the group's sum.
    contrib: u64,
    /// The group's sum.
    sum: u64,
}

impl Part {
    /// `shares × load / total`, between 2 and the shares, in 1024ths; before 4.7, which no profile with the
    /// later rule is, in whole units.
    fn weight(self, rule: GroupShares) -> Weight {
        let total = self.sum.saturating_sub(self.contrib) + self.load;
        let total = total.max(1);
        let shares = match rule {
            GroupShares::WeightMax => 1024 * self.shares,
            GroupShares::Avg => self.shares,
        };
        let part = match shares.checked_mul(self.load) {
            Some(product) => product / total,
            None => (u128::from(shares) * u128::from(self.load) / u128::from(total)) as u64,
        };
        let part = part.clamp(Weight::LEAST_WHOLE.min(shares), shares);
        match rule {
            GroupShares::WeightMax => Weight::of_parts(part),
            GroupShares::Avg => Weight::from(part),
        }
    }
}

/// The weight of the entity whose group has this queue, in which somebody competes; `None` while the queue is
/// throttled, which keeps the weight that it has.
fn calc_group_shares<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, queue: &GroupQueue) -> Option<Weight> {
    let queued = rq.queue(group).load;
    debug_assert!(queued > 0, "an entity whose queue is empty keeps its weight");
    if bandwidth::is_throttled_hierarchy(rq.me.k, group, rq.cpu) {
        return None;
    }
    let of = rq.me.k.groups.get(group);
    let rule = rq.me.k.config.rules.group_shares.get();
    let load = match rule {
        GroupShares::WeightMax => queued.max(queue.average.load_avg.get()),
        GroupShares::Avg => queued,
    };
    let (contrib, sum) = (queue.contrib.get(), of.load_avg.get());
    Some(Part { shares: of.shares, load, contrib, sum }.weight(rule))
}

/// The entity gets the weight that is right now; its queue is in front.
pub(super) fn update_cfs_group<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let group = entity.group();
    let on = rq.me.group_on(group, rq.cpu);
    let Some(weight) = calc_group_shares(rq, group, &on.queue) else { return };
    let se = &on.entity.se;
    let old = se.exact_weight();
    if old == weight {
        return;
    }
    discipline::reweight_group(rq, entity, weight);
    pelt::reweight_group(rq, se, old.whole());
}

/// Publishes what a queue, brought up to date a moment ago, brings to its group (update_tg_load_avg).
pub(super) fn publish<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, queue: &GroupQueue) {
    let tracked = pelt::tracked(rq.me);
    // Where nothing is tracked, the weights themselves count.
    let now = if tracked { queue.average.load_avg.get() } else { rq.queue(group).load };
    let before = queue.contrib.get();
    if tracked && now.abs_diff(before) <= before / 64 {
        return;
    }
    // The limit came with 6.6, as EEVDF did.
    if tracked && rq.me.k.config.rules.fair_policy.get() == FairPolicy::Eevdf {
        let since = rq.clock.saturating_sub(queue.published_at.get());
        if since < PUBLICATION_INTERVAL && queue.published_at.get() > Nanos::ZERO {
            return;
        }
        queue.published_at.set(rq.clock);
    }
    let sum = &rq.me.k.groups.get(group).load_avg;
    sum.set(sum.get() + now - before);
    queue.contrib.set(now);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuId;
    use crate::testing::{Lab, plain_group};
    use alloc::vec::Vec;

    fn weight(load: u64, contrib: u64, sum: u64) -> u64 {
        Part { shares: 1024, load, contrib, sum }.weight(GroupShares::WeightMax).whole()
    }

    /// deadline-groups B3, the table: hogs of nice 0 in a group of 1024 shares.
    #[test]
    fn table_of_b3() {
        assert_eq!(weight(1024, 1024, 1024), 1024, "one hog, alone");
        assert_eq!(weight(1024, 1024, 4 * 1024), 256, "4 hogs on 4 CPUs");
        assert_eq!(weight(3 * 1024, 3 * 1024, 4 * 1024), 768, "3 on CPU 0 ...");
        assert_eq!(weight(1024, 1024, 4 * 1024), 256, "... and 1 on CPU 1");
        assert_eq!(weight(1024, 0, 1024), 512, "a second hog has just started on another CPU ...");
        assert_eq!(weight(1024, 1024, 1024), 1024, "... of which the first CPU does not know yet");
        assert_eq!(weight(1024, 0, 3 * 1024), 256, "a hog has just started on the 4th of 4 CPUs");
        assert_eq!(weight(300, 300, 300 + 1024), 232, "blocked load of 300");
    }

    /// B3: contrib is published if the load differs from it by more than a 64th; from 6.6 on at most once in
    /// a ms.
    #[test]
    fn a_change_is_published_that_is_large_and_the_first_of_its_millisecond() {
        let publishes = |profile: &str, changes: &[(u64, u64)]| -> Vec<u64> {
            let mut lab = Lab::new(1, profile, &[]);
            let group = lab.k.create_group(plain_group(GroupId::ROOT));
            let change = |(at_us, load): &(u64, u64)| {
                lab.k.platform.now.set(Nanos::from_micros(*at_us));
                let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
                rq.update_clock();
                rq.me.group_queue(group, CpuId(0)).average.load_avg.set(*load);
                publish(&rq, group, rq.me.group_queue(group, CpuId(0)));
                assert_eq!(
                    rq.me.group_queue(group, CpuId(0)).contrib.get(),
                    lab.k.groups.get(group).load_avg.get()
                );
                lab.k.groups.get(group).load_avg.get()
            };
            changes.iter().map(change).collect()
        };
        let small = [(5_000, 6400), (7_000, 6500), (9_000, 6501), (11_000, 6400), (13_000, 6398)];
        for profile in ["6.1.y", "6.18.y"] {
            assert_eq!(publishes(profile, &small), [6400, 6400, 6501, 6501, 6398], "{profile}");
        }
        let quick = [(500, 10), (900, 20), (1_499, 30), (1_500, 40), (2_000, 50), (2_500, 60)];
        assert_eq!(publishes("6.1.y", &quick), [10, 20, 30, 40, 50, 60]);
        assert_eq!(publishes("6.18.y", &quick), [10, 10, 10, 40, 40, 60]);
    }

    /// Never more than the shares, and never nothing.
    #[test]
    fn weights_stay_within_the_shares() {
        let ten = Part { shares: 10, load: 1024, contrib: 1024, sum: 64 * 1024 };
        let exact = |part: Part| part.weight(GroupShares::WeightMax).parts();
        assert_eq!(weight(1024, 0, 0), 1024);
        assert_eq!(exact(ten), 160, "B3: 0.16 units");
        assert_eq!(exact(Part { load: 1, sum: 1 << 40, ..ten }), 2);
        // 4.4 has no finer ones.
        assert_eq!(ten.weight(GroupShares::Avg), Weight::from(2));
        assert_eq!(Part { shares: 64, ..ten }.weight(GroupShares::Avg), Weight::from(2));
        assert_eq!(Part { shares: 640, ..ten }.weight(GroupShares::Avg), Weight::from(10));
    }
}
