//! `perf_sched_timehist.txt.gz`: what `perf sched timehist -MVw` printed, packed. Its times are whole
//! microseconds, cut off.

use super::Counted;
use crate::error::Error;
use crate::sources::{Input, Sources};
use flate2::read::MultiGzDecoder;
use report::validate::median;
use std::collections::BTreeMap;
use std::io::Read;

/// What the cut takes from a time on the average.
const CUT_US: f64 = 0.5;

/// What was counted of one task.
#[derive(Default)]
struct Lines {
    switches: u64,
    migrations: u64,
    delays_us: Vec<f64>,
}

/// The tasks that are known, with what perf lists of them.
pub(super) fn tasks(
    path: &str,
    mut known: BTreeMap<u32, Counted>,
    files: &dyn Sources,
) -> Result<BTreeMap<u32, Counted>, Error> {
    let packed = Input::open(path, files)?.into_bytes()?;
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .map_err(|source| Error::File { path: path.to_owned(), source })?;
    let mut of_tasks: BTreeMap<u32, Lines> = BTreeMap::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        if let Some((pid, delay_us)) = ran(line) {
            let task = of_tasks.entry(pid).or_default();
            task.switches += 1;
            if delay_us > 0.0 {
                task.delays_us.push(delay_us + CUT_US);
            }
        } else if let Some(pid) = migrated(line) {
            of_tasks.entry(pid).or_default().migrations += 1;
        }
    }
    for (pid, task) in &mut known {
        let Lines { switches, migrations, delays_us } = of_tasks.remove(pid).unwrap_or_default();
        (task.switches, task.migrations, task.by) = (switches, Some(migrations), "perf sched timehist");
        task.latencies = delays_us.len() as u64;
        task.mean_us =
            (!delays_us.is_empty()).then(|| delays_us.iter().sum::<f64>() / delays_us.len() as f64);
        task.p50_us = median(delays_us);
    }
    Ok(known)
}

/// `1.234567 [0001]  comm[8009/8005]  0.011  0.002  1.300`: who ran, and the time from its wakeup on, in
/// microseconds.
fn ran(line: &str) -> Option<(u32, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, cpu, rest @ ..] = words.as_slice() else { return None };
    time.parse::<f64>().ok()?;
    cpu.strip_prefix('[')?.strip_suffix(']')?.parse::<u32>().ok()?;
    rest.windows(4).find_map(|four| {
        let [name, wait, delay, run] = four else { return None };
        let pid = tid(name)?;
        wait.parse::<f64>().and(run.parse::<f64>()).ok()?;
        Some((pid, delay.parse::<f64>().ok()? * 1e3))
    })
}

/// `migrated: comm[8009] cpu 0 => 1`.
fn migrated(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("migrated: ")?;
    let (name, cpus) = rest.rsplit_once(" cpu ")?;
    cpus.contains(" => ").then(|| tid(name))?
}

/// The number in `comm[8009/8005]` or `comm[8009]`.
fn tid(name: &str) -> Option<u32> {
    let (_, ids) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (tid, tgid) = ids.split_once('/').unwrap_or((ids, "0"));
    tgid.parse::<u32>().ok()?;
    tid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_perf_are_read() {
        let line = "  5239.642517 [0001]  Web Content[8009/8005]     0.000      0.011      3.123 ";
        assert_eq!(ran(line), Some((8009, 11.0)));
        assert_eq!(ran("  5239.642517 [0001]  <idle>    0.000      0.000      3.123"), None);
        assert_eq!(ran("Samples do not have callchains."), None);
        let line = "  5239.6 [0000] sh[12]   migrated: make[8008/8008] cpu 0 => 1";
        assert_eq!((ran(line), migrated(line)), (None, Some(8008)));
    }
}
