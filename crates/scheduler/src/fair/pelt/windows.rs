//! What real-time tasks use of a CPU, as counted up to 4.18: their time in windows of half a second, where
//! what lies before a window counts half as much (fair-placement 8.5, `cpu_capacity=windows`).

use super::average::FULL;
use crate::Nanos;
use crate::shared::Kept;

const WINDOW: Nanos = Nanos::from_millis(500);

/// A CPU's time for real-time tasks.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// That time in ns, times 1024; halved with each window.
    sum: Kept<u64>,
    /// Beginning of the present window.
    since: Kept<Nanos>,
}

impl Windows {
    /// So much more, up to now.
    pub fn add(&self, now: Nanos, ran: Nanos) {
        self.sum.set(self.sum.get() + FULL * ran.0);
        self.enter_window(now);
    }

    /// In 1024ths of the CPU.
    pub fn used(&self, now: Nanos) -> u64 {
        self.enter_window(now);
        self.sum.get() / (WINDOW + now.saturating_sub(self.since.get())).0
    }

    fn enter_window(&self, now: Nanos) {
        let windows = now.saturating_sub(self.since.get()).0 / WINDOW.0;
        self.since.set(self.since.get() + WINDOW * windows);
        // With 64 halvings nothing is left.
        self.sum.set(self.sum.get() >> windows.min(63));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8.5: `sum / (0.5 s + since the last halving)`. Who always runs uses 1024 × t / (0.5 s + t) in the
    /// first window; of n whole windows (1 − 2⁻ⁿ) of the CPU.
    #[test]
    fn the_time_of_real_time_tasks_halves_with_each_window() {
        let windows = Windows::default();
        let ms = Nanos::from_millis;
        let runs_until = |until: u64| {
            windows.add(ms(until), ms(50));
            windows.used(ms(until))
        };
        let hog: [u64; 200] = core::array::from_fn(|n| runs_until(50 * (n as u64 + 1)));
        assert_eq!(hog[4], 341, "1024 × 250 / 750");
        assert_eq!([hog[9], hog[19], hog[29], hog[199]], [512, 768, 896, 1023]);
        let left = |ms_later: u64| windows.used(ms(10_000 + ms_later));
        assert_eq!([left(250), left(500), left(750), left(1_000)], [682, 511, 341, 255]);
        assert_eq!(left(60_000), 0);
    }
}
