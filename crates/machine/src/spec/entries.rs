//! What a machine file may say: the keys of its tables, from which the reader takes them, and the list of all
//! entries, so that whoever writes such files can tell whether something is missing.

use super::costs::{Costs, Distance};
use super::stretch::Operation;
use super::{MachineSpec, Origin};

/// Keys of the whole file.
pub(super) const FILE: [&str; 14] = [
    "name",
    "meaning",
    "idle_monitor",
    "idle",
    "rcu_callback",
    "topology",
    "costs",
    "cache",
    "cold",
    "speed",
    "memory",
    "frequency",
    "kernel",
    "noise",
];
/// Keys of `[idle]`.
pub(super) const IDLE: [&str; 2] = ["governor", "states"];
/// Keys of `[costs]` that are neither times nor by distance.
pub(super) const COST_PERCENTS: [&str; 2] = ["ticket_spinner_percent", "ipi_stolen_percent"];
/// Keys of `[cache]`.
pub(super) const CACHE: [&str; 4] =
    ["refill_ps_per_byte", "tau", "shared_cache_lost_percent", "smt_lost_percent"];
/// Keys of `[cold]`.
pub(super) const COLD: [&str; 3] = ["path", "bytes", "halted"];
/// Keys of `[speed]`.
pub(super) const SPEED: [&str; 2] = ["smt_busy_percent", "cpus"];
/// Keys of `[memory]`.
pub(super) const MEMORY: [&str; 2] = ["cpu", "node"];
/// Keys of `[frequency]`.
pub(super) const FREQUENCY: [&str; 1] = ["domains"];
/// Keys of `[kernel]`.
pub(super) const KERNEL: [&str; 2] = ["stretch", "rwsem"];
/// Keys of `[kernel.rwsem]`.
pub(super) const RWSEM: [&str; 2] = ["mapping_hold", "address_space_hold"];
/// Keys of `[noise]`.
pub(super) const NOISE: [&str; 6] =
    ["timer_jitter", "timer_delivery", "thread_start", "spin_overshoot", "irq_off", "kthread"];

/// Keys of `[costs]`.
pub(super) fn costs() -> Vec<&'static str> {
    let named = Costs::FIXED.iter().chain(Costs::BY_DISTANCE).map(|cost| cost.name);
    named.chain(COST_PERCENTS).collect()
}

impl MachineSpec {
    /// Every entry that a machine file may have and whose origin it then tells, in the order of the file:
    /// `costs.line.own`. One of which there may be several (`noise.irq_off`) stands there once.
    #[must_use]
    pub fn entries() -> Vec<String> {
        FILE.iter().flat_map(|key| below(key)).collect()
    }
}

/// The entries under a key of the file.
fn below(key: &str) -> Vec<String> {
    let in_table = |keys: &[&str]| keys.iter().map(|k| format!("{key}.{k}")).collect();
    match key {
        // They say what the file is, and have no origin.
        "name" | "meaning" => Vec::new(),
        "costs" => {
            let by_distance = |cost: &str| Costs::BY_DISTANCE.iter().any(|of| of.name == cost);
            let entries = costs().into_iter().flat_map(|cost| match by_distance(cost) {
                true => Distance::ALL.map(|d| format!("{key}.{cost}.{}", d.name())).to_vec(),
                false => vec![format!("{key}.{cost}")],
            });
            entries.collect()
        }
        "idle" => in_table(&IDLE),
        "cache" => in_table(&CACHE),
        "cold" => in_table(&COLD),
        "speed" => in_table(&SPEED),
        "memory" => in_table(&MEMORY),
        "frequency" => in_table(&FREQUENCY),
        "kernel" => {
            let [stretch, rwsem] = KERNEL;
            let stretches = Operation::ALL.map(|of| format!("{key}.{stretch}.{}", of.name()));
            let rwsems = RWSEM.map(|of| format!("{key}.{rwsem}.{of}"));
            stretches.into_iter().chain(rwsems).collect()
        }
        "noise" => in_table(&NOISE),
        // A table of one entry, as every new one until it is divided above.
        _ => vec![key.to_owned()],
    }
}

impl Origin {
    /// The entry of the file that this figure belongs to: `noise.irq_off` of `noise.irq_off[2]`.
    #[must_use]
    pub fn entry(&self) -> &str {
        self.field.split('[').next().unwrap_or(&self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BUILTIN, SpecError};
    use super::*;

    /// The reader is asked what it knows: it lists that where it meets a key that it does not.
    #[test]
    fn the_entries_are_what_the_reader_takes() {
        let laptop = BUILTIN.iter().find(|machine| machine.name == "laptop").expect("it is built in").text;
        let entries = MachineSpec::entries();
        let mut tables =
            vec!["idle", "costs", "cache", "cold", "speed", "memory", "frequency", "kernel.stretch", "noise"];
        tables.extend(["costs.ipi", "costs.line", "kernel.rwsem"]);
        for table in tables {
            let text = match laptop.contains(&format!("[{table}]\n")) {
                true => {
                    laptop.replace(&format!("[{table}]\n"), &format!("[{table}]\nqqqqqqqqqqqqqqqq = 1\n"))
                }
                false => format!("{laptop}\n[{table}]\nqqqqqqqqqqqqqqqq = 1\n"),
            };
            let Err(SpecError::Field { advice, field, .. }) = MachineSpec::parse(&text, "a file") else {
                panic!("{table} takes anything");
            };
            assert_eq!(field, format!("{table}.qqqqqqqqqqqqqqqq"));
            let known = advice.strip_prefix("known are ").expect("a list").split(", ");
            for key in known {
                let entry = format!("{table}.{key}");
                let has = |listed: &String| *listed == entry || listed.starts_with(&format!("{entry}."));
                assert!(entries.iter().any(has), "{entry} is read and not listed");
            }
        }
    }

    #[test]
    fn whatever_the_files_here_say_is_an_entry() {
        let entries = MachineSpec::entries();
        for machine in BUILTIN {
            let spec = MachineSpec::parse(machine.text, machine.name).expect("our own file");
            for origin in &spec.origins {
                assert!(entries.iter().any(|e| e == origin.entry()), "{}: {}", machine.name, origin.field);
            }
        }
    }
}
