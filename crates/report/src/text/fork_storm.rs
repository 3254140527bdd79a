//! What a storm of forks left to the hogs beside it.

use super::paragraph::wrap;
use crate::numbers::many;
use schema::ForkStormResult;

/// Forks, finished jobs, and the hogs' share of a CPU.
#[must_use]
pub fn fork_storm(result: &ForkStormResult) -> String {
    let share = result.hog_share_permille() as f64 / 10.0;
    let (forks, finished) = (many(result.forks, "fork"), many(result.finished, "job"));
    let hogs = many(result.hogs.into(), "hog");
    wrap(&format!("{forks}, {finished} done; {hogs} had {share:.1} % of a CPU"), "", "  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_hogs_is_that_of_one_cpu() {
        let result = ForkStormResult {
            load: "fork_storm".to_owned(),
            jobs: 20,
            forks: 5_020,
            finished: 1,
            hogs: 1,
            hog_cpu_ns: 2_150_000_000,
            elapsed_ns: 10_000_000_000,
        };
        assert_eq!(fork_storm(&result), "5020 forks, 1 job done; 1 hog had 21.5 % of a CPU\n");
    }
}
