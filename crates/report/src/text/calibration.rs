//! What a calibration says: where every entry of the machine file comes from, then how late timers were.

use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use crate::numbers::{duration_ns, many};
use schema::calibration::{CalibratedEntry, CalibratedTimer, Calibration, EntryOrigin, Observed};

/// Columns for a value of several words.
const VALUE_COLUMNS: u16 = 24;
/// Columns for the name of a probe.
const PROBE_COLUMNS: u16 = 20;

/// Head; a table of what was measured; what was not, and why; what no entry says; a table of timers.
#[must_use]
pub fn calibration(calibration: &Calibration) -> String {
    let mut sections = vec![head(calibration), measured(&calibration.entries)];
    for from in [EntryOrigin::Published, EntryOrigin::Assumed, EntryOrigin::LeftOut] {
        sections.push(not_measured(&calibration.entries, from));
    }
    sections.push(observations(&calibration.observations));
    sections.push(timers(calibration));
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn head(calibration: &Calibration) -> String {
    let Calibration { version, machine, cpus, took_ms, command, .. } = calibration;
    let mut out = format!("schedlab {version}\n");
    out += &labelled("machine", &format!("{machine}, {}", many(u64::from(*cpus), "CPU")));
    out += &labelled("took", &duration_ns(took_ms * 1_000_000));
    let origins = [EntryOrigin::Measured, EntryOrigin::Published, EntryOrigin::Assumed, EntryOrigin::LeftOut];
    let count = |from: EntryOrigin| {
        let count = calibration.entries.iter().filter(|entry| entry.from == from).count();
        format!("{count} {}", from.name())
    };
    out += &labelled("entries", &origins.map(count).join(", "));
    if let Some(command) = command {
        out += &labelled("command", command);
    }
    out
}

fn measured(entries: &[CalibratedEntry]) -> String {
    let mut table = Table::new(&[
        ("measured", Align::Left),
        ("value", Align::Left),
        ("by", Align::Left),
        ("samples", Align::Right),
    ]);
    table.limit(1, VALUE_COLUMNS);
    table.limit(2, PROBE_COLUMNS);
    for entry in entries.iter().filter(|entry| entry.from == EntryOrigin::Measured) {
        table.row([
            entry.entry.clone(),
            entry.value.clone().unwrap_or_default(),
            entry.probe.clone().unwrap_or_default(),
            entry.samples.map_or(String::new(), |samples| samples.to_string()),
        ]);
    }
    table.render()
}

/// A line or two for each entry. Those next to each other of which the same is said are told together.
fn not_measured(entries: &[CalibratedEntry], from: EntryOrigin) -> String {
    let mut told: Vec<(String, &str)> = Vec::new();
    for CalibratedEntry { entry, value, how, .. } in entries.iter().filter(|entry| entry.from == from) {
        let value = value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
        match told.last_mut().filter(|(_, other)| other == how) {
            Some((names, _)) => *names += &format!(", {entry}{value}"),
            None => told.push((format!("{entry}{value}"), how)),
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let lines = told.into_iter().map(|(names, how)| wrap(&format!("{names}: {how}"), "  ", "    "));
    format!("{}\n{}", from.name(), lines.collect::<String>())
}

/// What no machine file says: what was seen, then what could not be.
fn observations(observations: &[Observed]) -> String {
    if observations.is_empty() {
        return String::new();
    }
    let line = |Observed { what, value, how }: &Observed| {
        let value = value.as_ref().map_or("not seen", String::as_str);
        wrap(&format!("{what}: {value}: {how}"), "  ", "    ")
    };
    format!("besides\n{}", observations.iter().map(line).collect::<String>())
}

fn timers(calibration: &Calibration) -> String {
    if calibration.timers.is_empty() {
        return String::new();
    }
    let mut columns = vec![("timers, late by\nof", Align::Left), ("\nthe CPU", Align::Left)];
    columns
        .extend(["\nn", "\nfloor", "\np10", "\np50", "\np90", "\np99", "\nmax"].map(|of| (of, Align::Right)));
    let mut table = Table::new(&columns).labelled_by(2);
    for timer in &calibration.timers {
        let CalibratedTimer { samples, floor_ns, p10_ns, p50_ns, p90_ns, p99_ns, max_ns, .. } = timer;
        let mut row = vec![timer.policy.clone(), timer.meanwhile.clone()];
        row.push(samples.to_string());
        row.extend([floor_ns, p10_ns, p50_ns, p90_ns, p99_ns, max_ns].map(|ns| duration_ns(*ns)));
        table.row(row);
    }
    let slack = match (calibration.slack_told_ns, calibration.slack_seen_ns) {
        (Some(told), Some(seen)) => {
            let [told, seen] = [told, seen].map(duration_ns);
            format!(
                "A fair task's timer slack is {told}, says the kernel; with it timers were {seen} later. \
                 Real-time tasks have none.\n"
            )
        }
        _ => String::new(),
    };
    let legend =
        "Busy: beside a fair task that spins. Latency 0: /dev/cpu_dma_latency is held, and the CPU polls.\n";
    table.render() + legend + &slack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_there_with_what_is_said_of_it() {
        insta::assert_snapshot!(calibration(&schema::example::calibration::calibration()));
    }

    #[test]
    fn entries_of_which_the_same_is_said_are_told_together() {
        let mut example = schema::example::calibration::calibration();
        let left_out = example.entries.remove(3);
        let other = CalibratedEntry { entry: "cold.path".to_owned(), ..left_out.clone() };
        example.entries = vec![left_out, other];
        let text = calibration(&example);
        assert!(text.contains("  noise.kthread, cold.path: who works"), "{text}");
        assert!(!text.contains("assumed\n"), "nothing is: {text}");
    }
}
