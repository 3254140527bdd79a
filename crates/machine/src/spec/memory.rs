//! The `[memory]` of a machine file: how much can be read from memory at a time (machine.md 6.4).

use super::entries;
use super::error::SpecError;
use super::origin::Origin;
use super::parse::read_figure;
use super::reader::Field;

/// How much can be read from memory at a time. One byte in a nanosecond is 1000 in a microsecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// By a CPU that does nothing else, beside idle ones, in bytes a microsecond.
    pub cpu_bytes_per_us: u64,
    /// By all CPUs of a node together, as long as none of them has to wait, in bytes a microsecond.
    pub node_bytes_per_us: u64,
}

/// Most that a file may give: a thousand bytes in a nanosecond.
const MOST_BYTES_PER_US: u64 = 1_000_000;

/// How a share of something is told here: in so many parts.
const WHOLE: u64 = 10_000;

impl Memory {
    /// How often what a node has is wanted at once, where its CPUs want to read so much together: in ten
    /// thousandths, one and more.
    #[must_use]
    pub fn crowding(&self, wanted_bytes_per_us: u64) -> u64 {
        (wanted_bytes_per_us * WHOLE / self.node_bytes_per_us.max(1)).max(WHOLE)
    }

    /// How fast a task executes that reads so much at full speed, where memory is crowded like that: in ten
    /// thousandths. The part of its time in which it reads takes longer.
    #[must_use]
    pub fn speed(&self, reads_bytes_per_us: u64, crowding: u64) -> u64 {
        let cpu = self.cpu_bytes_per_us.max(1);
        let reads = reads_bytes_per_us.min(cpu);
        WHOLE * cpu * WHOLE / ((cpu - reads) * WHOLE + reads * crowding)
    }
}

pub(super) fn read_memory(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Memory, SpecError> {
    let table = field.table(&entries::MEMORY)?;
    let [cpu, node] = entries::MEMORY.map(|key| table.required(key));
    let mut figure = |field: &Field<'_>| read_figure(field, "bytes_per_us", 1, MOST_BYTES_PER_US, origins);
    let (cpu, node) = (cpu?, node?);
    let cpu_bytes_per_us = figure(&cpu)?;
    let node_bytes_per_us = figure(&node)?;
    if node_bytes_per_us < cpu_bytes_per_us {
        let problem = format!("is less than what one CPU reads alone, {cpu_bytes_per_us} bytes_per_us");
        return Err(node.error(problem, "give what all CPUs of a node read together"));
    }
    Ok(Memory { cpu_bytes_per_us, node_bytes_per_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// machine.md M34: two streams of 25 bytes a nanosecond, where the node has 28.
    #[test]
    fn m34_two_streams_run_at_little_more_than_half() {
        let memory = Memory { cpu_bytes_per_us: 25_000, node_bytes_per_us: 28_000 };
        let crowding = memory.crowding(50_000);
        assert_eq!((crowding, memory.speed(25_000, crowding)), (17_857, 5_600));
        // Who reads in a fifth of its time loses in that only: 1 / (0.8 + 0.2 × 50/28).
        assert_eq!(memory.speed(5_000, crowding), 8_641);
        // Nobody waits as long as there is enough, and who reads nothing never does.
        assert_eq!(
            (memory.crowding(28_000), memory.speed(25_000, memory.crowding(28_000))),
            (10_000, 10_000)
        );
        assert_eq!(memory.speed(0, crowding), 10_000);
    }
}
