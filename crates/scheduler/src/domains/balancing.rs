//! What a CPU remembers about balancing its domains.

use crate::Nanos;
use crate::shared::Kept;
use crate::stats::{BalanceCounts, DomainCounts};

/// How often a newly idle CPU has found something in a domain (NI_RANDOM, fair-placement 4.9).
#[derive(Clone, Debug)]
pub struct SearchLuck {
    calls: Kept<u64>,
    successes: Kept<u64>,
    /// Of 1024 calls.
    ratio: Kept<u64>,
    /// When that was computed last.
    since: Kept<Nanos>,
}

impl Default for SearchLuck {
    /// Every second one at first.
    fn default() -> SearchLuck {
        SearchLuck {
            calls: Kept::new(512),
            successes: Kept::new(256),
            ratio: Kept::new(512),
            since: Kept::default(),
        }
    }
}

impl SearchLuck {
    /// What a success counts if a number below 1024, drawn at random, lets this search be made.
    pub(crate) fn weight(&self, drawn: u64) -> Option<u64> {
        let weight = 1 + self.ratio.get();
        (drawn <= weight).then(|| (1024 + weight / 2) / weight)
    }

    /// A search was made, or passed over; `found`: what finding something counted. Under NI_RATE it is that
    /// time `now`, and rare calls count as worth it: 256 calls of a second in 1024.
    pub(crate) fn account(&self, found: u64, now: Option<Nanos>) {
        self.calls.set(self.calls.get() + 1);
        self.successes.set(self.successes.get() + found);
        if self.calls.get() >= 1024 {
            let rarity = now.map_or(0, |now| now.saturating_sub(self.since.replace(now)).0 >> 22);
            self.ratio.set((self.successes.get() + rarity).min(1024));
            self.calls.set(self.calls.get() / 2);
            self.successes.set(self.successes.get() / 2);
        }
    }
}

/// What a CPU remembers about balancing one of its domains (fair-class 8.5).
#[derive(Clone, Debug)]
pub struct BalanceState {
    /// When it was last balanced.
    pub last_balance: Kept<Nanos>,
    /// Current interval in ms; less than the domain's shortest one means that.
    pub balance_interval_ms: Kept<u64>,
    /// Attempts in a row that moved nothing although there was an imbalance.
    pub nr_balance_failed: Kept<u32>,
    /// What a search for work by a newly idle CPU took at most; it fades.
    pub max_newidle_lb_cost: Kept<Nanos>,
    /// When that last faded or rose.
    pub last_decay: Kept<Nanos>,
    /// How often a search by a newly idle CPU finds something.
    pub newidle_luck: SearchLuck,
    /// What balancing counts while the CPU is idle, while it is busy, and when it is about to idle.
    pub counts: [BalanceCounts; 3],
    /// What else is counted.
    pub other_counts: DomainCounts,
}

impl Default for BalanceState {
    fn default() -> BalanceState {
        BalanceState {
            last_balance: Kept::new(Nanos::ZERO),
            balance_interval_ms: Kept::new(0),
            nr_balance_failed: Kept::new(0),
            max_newidle_lb_cost: Kept::default(),
            last_decay: Kept::default(),
            newidle_luck: SearchLuck::default(),
            counts: Default::default(),
            other_counts: DomainCounts::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fair-placement E66, E67.
    #[test]
    fn a_search_that_seldom_finds_anything_is_seldom_made() {
        let luck = SearchLuck::default();
        let made = |luck: &SearchLuck| (0..1024).filter(|drawn| luck.weight(*drawn).is_some()).count();
        assert_eq!((made(&luck), luck.weight(0)), (514, Some(2)));
        (0..512).for_each(|_| luck.account(0, None));
        assert_eq!(made(&luck), 258, "256 of 1024");
        (0..10_000).for_each(|_| luck.account(0, None));
        assert_eq!((made(&luck), luck.weight(0)), (2, Some(1024)));
        luck.account(1024, None);
        (0..1024).for_each(|_| luck.account(0, None));
        assert!(made(&luck) > 500, "one of the few was a success");
    }

    /// eevdf-class 4.6, dice_rate: 512 calls in 4 s, 2 s, 1 s and a quarter of one add so much to the ratio.
    #[test]
    fn rare_searches_are_made_more_often() {
        let ratio = |millis: u64| {
            let luck = SearchLuck::default();
            luck.since.set(Nanos::from_secs(10));
            (0..512).for_each(|_| luck.account(0, Some(Nanos::from_secs(10) + Nanos::from_millis(millis))));
            luck.ratio.get() - 256
        };
        assert_eq!([4000, 2000, 1000, 250].map(ratio), [768, 476, 238, 59]);
    }
}
