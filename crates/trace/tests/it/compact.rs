//! Writes switches and wakings as Perfetto's recorders do: in columns. A second hand for what the importer
//! reads.

use trace::{Cpu, Event, EventKind, Trace};

/// Rows in a bundle.
const ROWS: usize = 100;

/// A Perfetto trace of the switches and wakings.
pub fn encode(trace: &Trace) -> Vec<u8> {
    let mut file = Vec::new();
    for cpu in 0..trace.cpus {
        let of_cpu = trace.events.iter().filter(|event| event.cpu == Cpu(cpu));
        let rows: Vec<&Event> = of_cpu
            .filter(|event| matches!(event.kind, EventKind::SchedSwitch(_) | EventKind::SchedWaking(_)))
            .collect();
        for rows in rows.chunks(ROWS) {
            let mut bundle = Vec::new();
            number(&mut bundle, 1, cpu.into());
            bytes(&mut bundle, 4, &columns(trace, rows));
            let mut packet = Vec::new();
            bytes(&mut packet, 1, &bundle);
            bytes(&mut file, 1, &packet);
        }
    }
    file
}

fn columns(trace: &Trace, rows: &[&Event]) -> Vec<u8> {
    let mut columns: [Vec<u8>; 13] = Default::default();
    let mut names: Vec<&str> = Vec::new();
    let mut name = |text| {
        let known = names.iter().position(|name| *name == text);
        known.unwrap_or_else(|| {
            names.push(text);
            names.len() - 1
        }) as u64
    };
    let (mut last_switch, mut last_waking) = (0, 0);
    for row in rows {
        let values = match &row.kind {
            EventKind::SchedSwitch(switch) => {
                let distance = row.time_ns - std::mem::replace(&mut last_switch, row.time_ns);
                let (pid, prio) = (switch.next.pid.0 as u64, switch.next.prio as u64);
                let comm = name(&trace.strings[switch.next.comm]);
                vec![(1, distance), (2, switch.prev_state.bits() as u64), (3, pid), (4, prio), (6, comm)]
            }
            EventKind::SchedWaking(waking) => {
                let distance = row.time_ns - std::mem::replace(&mut last_waking, row.time_ns);
                let (pid, prio) = (waking.task.pid.0 as u64, waking.task.prio as u64);
                let comm = name(&trace.strings[waking.task.comm]);
                let cpu = waking.target_cpu.0.into();
                vec![(7, distance), (8, pid), (9, cpu), (10, prio), (11, comm), (12, 1)]
            }
            _ => Vec::new(),
        };
        for (column, value) in values {
            varint(&mut columns[column], value);
        }
    }
    let mut message = Vec::new();
    names.iter().for_each(|name| bytes(&mut message, 5, name.as_bytes()));
    for (field, column) in columns.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
        bytes(&mut message, field as u64, column);
    }
    message
}

pub fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

pub fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
