//! How fast experiments ran: simulated time by CPU time, for each variant.

use lab::FinishedRun;
use scheduler::Nanos;
use std::sync::{Mutex, PoisonError};

/// Sums over the runs of each variant, in the order in which the first of them ended.
#[derive(Debug, Default)]
pub struct Speed {
    variants: Mutex<Vec<Variant>>,
}

#[derive(Debug)]
struct Variant {
    name: String,
    simulated: Nanos,
    cpu: Nanos,
}

impl Speed {
    /// Counts a run of which it is known what it took; from any thread.
    pub fn count(&self, run: FinishedRun<'_>) {
        let Some(cpu) = run.cpu else { return };
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let found = variants.iter().position(|variant| variant.name == run.variant);
        let index = found.unwrap_or(variants.len());
        if found.is_none() {
            variants.push(Variant { name: run.variant.to_owned(), simulated: Nanos::ZERO, cpu: Nanos::ZERO });
        }
        variants[index].simulated += run.simulated;
        variants[index].cpu += cpu;
    }

    /// A line for each variant.
    pub fn lines(self, experiment: &str) -> String {
        let variants = self.variants.into_inner().unwrap_or_else(PoisonError::into_inner);
        let line = |variant: &Variant| {
            let Variant { name, simulated, cpu } = variant;
            let [simulated, cpu] = [simulated, cpu].map(|time| time.0.max(1) as f64 / 1e9);
            let times = simulated / cpu;
            format!(
                "speed    {experiment}, {name}: {times:.2} times real time ({simulated:.3} s in {cpu:.3} s)\n"
            )
        };
        variants.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_simulated_time_by_time_over_all_runs_of_a_variant() {
        let speed = Speed::default();
        let run = |variant, simulated| {
            let cpu = Some(Nanos::from_secs(1));
            speed.count(FinishedRun { variant, simulated: Nanos::from_secs(simulated), cpu });
        };
        run("pull", 1);
        run("push", 8);
        run("pull", 2);
        let lines = speed.lines("001");
        assert!(lines.starts_with("speed    001, pull: 1.50 times real time"), "{lines}");
        assert!(lines.contains("001, push: 8.00 times"), "{lines}");
    }
}
