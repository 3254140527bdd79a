//! `CompactSched`: switches and wakings of a CPU as columns, each a list of numbers. Times are distances from
//! the row before, names are places in a list, and a switch does not say who leaves: that is who came before.

use super::wire::{Field, Fields, Numbers};
use crate::model::{Cpu, Pid, TaskRef};
use crate::strings::{StrId, Strings};

const SWITCH_TIME: usize = 1;
const SWITCH_PREV_STATE: usize = 2;
const SWITCH_NEXT_PID: usize = 3;
const SWITCH_NEXT_PRIO: usize = 4;
const INTERN_TABLE: usize = 5;
const SWITCH_NEXT_COMM: usize = 6;
const WAKING_TIME: usize = 7;
const WAKING_PID: usize = 8;
const WAKING_TARGET_CPU: usize = 9;
const WAKING_PRIO: usize = 10;
const WAKING_COMM: usize = 11;
const WAKING_FLAGS: usize = 12;

/// A row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Switch { time_ns: u64, prev_state: i64, next: TaskRef },
    Waking { time_ns: u64, task: TaskRef, target_cpu: Cpu, flags: Option<u64> },
}

impl Entry {
    pub(super) fn time_ns(&self) -> u64 {
        match self {
            Entry::Switch { time_ns, .. } | Entry::Waking { time_ns, .. } => *time_ns,
        }
    }
}

/// All rows of a message by time.
pub(super) struct Columns<'a> {
    columns: [Numbers<'a>; 13],
    comms: Vec<StrId>,
    switch_time: u64,
    waking_time: u64,
    /// The next row of each kind.
    switch: Option<Entry>,
    waking: Option<Entry>,
    broken: bool,
}

impl<'a> Columns<'a> {
    pub(super) fn new(message: &'a [u8], strings: &mut Strings) -> Self {
        let mut this = Columns {
            columns: [Numbers::default(); 13],
            comms: Vec::new(),
            switch_time: 0,
            waking_time: 0,
            switch: None,
            waking: None,
            broken: false,
        };
        let mut fields = Fields::new(message);
        for Field { number, value } in fields.by_ref() {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            match (number, value.bytes()) {
                (INTERN_TABLE, Some(name)) => this.comms.push(strings.intern_bytes(name)),
                (_, Some(bytes)) if number < this.columns.len() && this.columns[number].0.is_empty() => {
                    this.columns[number] = Numbers(bytes);
                }
                // A column in pieces, or not packed: no recorder writes that.
                (..) => this.broken |= number < this.columns.len(),
            }
        }
        this.broken |= fields.is_broken();
        this.switch = this.next_switch();
        this.waking = this.next_waking();
        this
    }

    /// Whether the columns contradict each other. To be asked when the rows are exhausted.
    pub(super) fn is_broken(&self) -> bool {
        self.broken || self.columns.iter().any(|column| !column.0.is_empty())
    }

    fn number(&mut self, column: usize) -> Option<u64> {
        self.columns[column].next()
    }

    fn task(&mut self, comm: usize, pid: usize, prio: usize) -> Option<TaskRef> {
        let (pid, prio, comm) = (self.number(pid)?, self.number(prio)?, self.number(comm)?);
        let comm = *self.comms.get(usize::try_from(comm).ok()?)?;
        Some(TaskRef { comm, pid: Pid(pid as i32), prio: prio as i32 })
    }

    fn next_switch(&mut self) -> Option<Entry> {
        let distance = self.number(SWITCH_TIME)?;
        self.switch_time = self.switch_time.saturating_add(distance);
        let prev_state = self.number(SWITCH_PREV_STATE)? as i64;
        let next = self.task(SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO)?;
        Some(Entry::Switch { time_ns: self.switch_time, prev_state, next })
    }

    fn next_waking(&mut self) -> Option<Entry> {
        let distance = self.number(WAKING_TIME)?;
        self.waking_time = self.waking_time.saturating_add(distance);
        let target_cpu = Cpu(self.number(WAKING_TARGET_CPU)? as u32);
        let task = self.task(WAKING_COMM, WAKING_PID, WAKING_PRIO)?;
        // Recordings before 2022 have no such column.
        let flags = self.number(WAKING_FLAGS);
        Some(Entry::Waking { time_ns: self.waking_time, task, target_cpu, flags })
    }
}

impl Iterator for Columns<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let waking_first = match (&self.switch, &self.waking) {
            (Some(switch), Some(waking)) => waking.time_ns() <= switch.time_ns(),
            (None, _) => true,
            (_, None) => false,
        };
        if waking_first {
            let row = self.waking.take();
            self.waking = self.next_waking();
            row
        } else {
            let row = self.switch.take();
            self.switch = self.next_switch();
            row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message with these columns: field number and numbers below 128.
    fn message(columns: &[(u8, &[u8])]) -> Vec<u8> {
        columns
            .iter()
            .flat_map(|(field, bytes)| [&[field << 3 | 2, bytes.len() as u8], *bytes].concat())
            .collect()
    }

    const SWITCHES: [(u8, &[u8]); 7] = [
        (5, b"idle"),
        (5, b"cat"),
        (1, &[100, 20, 30]),
        (2, &[1, 0, 1]),
        (3, &[7, 0, 7]),
        (4, &[120, 120, 120]),
        (6, &[1, 0, 1]),
    ];
    const WAKINGS: [(u8, &[u8]); 5] =
        [(7, &[110, 40]), (8, &[7, 7]), (9, &[0, 1]), (10, &[120, 119]), (11, &[1, 1])];

    fn rows(columns: &[(u8, &[u8])]) -> (Vec<(u64, i32)>, bool) {
        let mut strings = Strings::new();
        let message = message(columns);
        let mut columns = Columns::new(&message, &mut strings);
        let rows = columns.by_ref().map(|row| match row {
            Entry::Switch { time_ns, next, .. } => (time_ns, next.pid.0),
            Entry::Waking { time_ns, task, .. } => (time_ns, -task.pid.0),
        });
        (rows.collect(), columns.is_broken())
    }

    #[test]
    fn times_add_up_and_both_kinds_come_by_time() {
        let all = [&SWITCHES[..], &WAKINGS[..]].concat();
        assert_eq!(rows(&all), (vec![(100, 7), (110, -7), (120, 0), (150, -7), (150, 7)], false));
    }

    #[test]
    fn columns_of_different_lengths_and_names_that_are_not_there_are_told() {
        let mut short = SWITCHES;
        short[3].1 = &[1, 0];
        assert_eq!(rows(&short), (vec![(100, 7), (120, 0)], true));
        let mut unnamed = SWITCHES;
        unnamed[6].1 = &[1, 9, 1];
        assert_eq!(rows(&unnamed), (vec![(100, 7)], true));
        let twice = [&SWITCHES[..], &[(1, &[1][..])]].concat();
        assert_eq!(rows(&twice), (vec![(100, 7), (120, 0), (150, 7)], true));
    }
}
