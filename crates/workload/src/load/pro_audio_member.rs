//! The family of loads of which `pro_audio` is one (deadline-groups E4): what varies, and how far.

use machine::{Purpose, Rng};
use scheduler::Nanos;
use std::fmt;

/// Who may run on some CPUs only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Pinning {
    /// Nobody.
    Nobody,
    /// Each worker has a CPU of its own.
    Workers,
    /// The window and the helpers have the first two CPUs.
    Window,
}

/// Who takes the mutexes beside the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Sharing {
    /// The clients.
    Clients,
    /// The clients and the workers.
    Workers,
    /// The clients, the workers and the helpers.
    Helpers,
}

/// One of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub period: Nanos,
    pub clients: u32,
    pub chain: bool,
    pub workers: u32,
    pub locks: u32,
    pub hogs_per_cpu: u32,
    pub helpers: u32,
    pub pinning: Pinning,
    /// For so long a worker spins before it sleeps.
    pub spin: Nanos,
    pub sharing: Sharing,
}

/// 32 to 256 frames at 48 kHz.
const PERIODS_US: [u64; 4] = [667, 1_333, 2_667, 5_333];
const CLIENTS: [u32; 5] = [4, 8, 16, 32, 64];
const HOGS: [u32; 3] = [0, 1, 4];
const MOST_LOCKS: u64 = 4;
const MOST_HELPERS: u64 = 8;
const PINNINGS: [Pinning; 3] = [Pinning::Nobody, Pinning::Workers, Pinning::Window];
/// E4 says up to 20 µs; the longer ones are those of hypothesis H3, workers that spin.
const SPINS_US: [u64; 3] = [20, 500, 5_000];
/// E4 says clients; the others make owners that are real-time tasks themselves, as hypotheses H1 and H2 want.
const SHARINGS: [Sharing; 3] = [Sharing::Clients, Sharing::Workers, Sharing::Helpers];

impl Member {
    /// That of a number: 0 is the one that the table calls the default, any other is drawn, each value of its
    /// ranges being as likely as the next.
    pub fn drawn(number: u64, cpus: u32) -> Member {
        if number == 0 {
            return Member {
                period: Nanos::from_micros(PERIODS_US[1]),
                clients: 8,
                chain: false,
                workers: cpus,
                locks: 1,
                hogs_per_cpu: 0,
                helpers: 0,
                pinning: Pinning::Nobody,
                spin: Nanos::from_micros(SPINS_US[0]),
                sharing: Sharing::Clients,
            };
        }
        let mut rng = Rng::keyed(number, Purpose::Load, 0);
        let mut one_of = |count: usize| rng.below(count as u64) as usize;
        Member {
            period: Nanos::from_micros(PERIODS_US[one_of(PERIODS_US.len())]),
            clients: CLIENTS[one_of(CLIENTS.len())],
            chain: one_of(2) == 1,
            workers: [cpus.div_ceil(2), cpus, 2 * cpus][one_of(3)],
            locks: 1 + one_of(MOST_LOCKS as usize) as u32,
            hogs_per_cpu: HOGS[one_of(HOGS.len())],
            helpers: one_of(MOST_HELPERS as usize + 1) as u32,
            pinning: PINNINGS[one_of(PINNINGS.len())],
            spin: Nanos::from_micros(SPINS_US[one_of(SPINS_US.len())]),
            sharing: SHARINGS[one_of(SHARINGS.len())],
        }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Member { period, clients, workers, locks, hogs_per_cpu, helpers, .. } = self;
        let graph = if self.chain { "one after the other" } else { "all at once" };
        let pinned = match self.pinning {
            Pinning::Nobody => "nobody has an affinity",
            Pinning::Workers => "each worker has a CPU of its own",
            Pinning::Window => "the window and the helpers have two CPUs",
        };
        let sharing = match self.sharing {
            Sharing::Clients => "the clients",
            Sharing::Workers => "the clients and the workers",
            Sharing::Helpers => "the clients, the workers and the helpers",
        };
        write!(
            f,
            "period {} us, {clients} clients, {graph}, {workers} workers that spin {} us, {locks} mutexes of \
             the window and {sharing}, {hogs_per_cpu} loops for each CPU, {helpers} helpers, {pinned}",
            period.0 / 1_000,
            self.spin.0 / 1_000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E4's table: each value of each range comes up, and nothing beyond.
    #[test]
    fn numbers_draw_the_whole_table() {
        let members: Vec<Member> = (1..=400).map(|number| Member::drawn(number, 16)).collect();
        let seen = |of: fn(&Member) -> u64| {
            let mut values: Vec<u64> = members.iter().map(of).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        assert_eq!(seen(|m| m.period.0 / 1_000), PERIODS_US);
        assert_eq!(seen(|m| m.clients.into()), [4, 8, 16, 32, 64]);
        assert_eq!(seen(|m| m.chain.into()), [0, 1]);
        assert_eq!(seen(|m| m.workers.into()), [8, 16, 32]);
        assert_eq!(seen(|m| m.locks.into()), [1, 2, 3, 4]);
        assert_eq!(seen(|m| m.hogs_per_cpu.into()), [0, 1, 4]);
        assert_eq!(seen(|m| m.helpers.into()), (0..=8).collect::<Vec<_>>());
        assert_eq!(seen(|m| m.pinning as u64), [0, 1, 2]);
        assert_eq!(seen(|m| m.spin.0 / 1_000), [20, 500, 5_000]);
        assert_eq!(seen(|m| m.sharing as u64), [0, 1, 2]);
        assert_eq!(Member::drawn(7, 16), Member::drawn(7, 16));
    }
}
