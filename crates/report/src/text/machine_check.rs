//! What `calibrate --check` says: each program's figures here and in the simulation, then what the programs
//! are.

use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use crate::numbers::{change, count_u64, duration_ns, many};
use schema::machine_check::{CheckedFigure, CheckedProgram, CheckedUnit, MachineCheck};

/// Head; a table of figures; how many are where they were to be; what the programs do.
#[must_use]
pub fn machine_check(check: &MachineCheck) -> String {
    let mut sections = vec![head(check), figures(check), verdict(check)];
    sections.push(check.programs.iter().map(program).collect());
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn head(check: &MachineCheck) -> String {
    let MachineCheck { version, machine, cpus, kernel, release, settings, repetitions, seeds, .. } = check;
    let mut out = format!("schedlab {version}\n");
    out += &labelled("machine", &format!("{machine}, {}", many(u64::from(*cpus), "CPU")));
    let of = release.as_ref().map_or(String::new(), |release| format!(" (this computer runs {release})"));
    let set: String = settings.iter().map(|change| format!(" {}", change.setting)).collect();
    // Said already, if somebody set it.
    let ticks = check.ticks_a_second.filter(|_| !settings.iter().any(|set| set.setting.starts_with("hz=")));
    let ticks = ticks.map_or(String::new(), |ticks| format!(", {ticks} ticks a second"));
    out += &labelled("kernel", &format!("{kernel}{set}{ticks}{of}"));
    let runs = many(u64::from(*repetitions), "time");
    out += &labelled(
        "ran",
        &format!("{runs} here, with {} in the simulation", many(seeds.len() as u64, "seed")),
    );
    out += &labelled("took", &duration_ns(check.took_ms * 1_000_000));
    if let Some(command) = &check.command {
        out += &labelled("command", command);
    }
    out
}

fn figures(check: &MachineCheck) -> String {
    let mut table = Table::new(&[
        ("program", Align::Left),
        ("figure", Align::Left),
        ("here", Align::Right),
        ("simulated", Align::Right),
        ("off", Align::Right),
        ("wanted", Align::Left),
        ("", Align::Left),
    ])
    .labelled_by(2);
    for program in &check.programs {
        for figure in &program.figures {
            let value = |value| in_unit(figure.unit, value);
            table.row([
                program.name.clone(),
                figure.what.clone(),
                value(figure.median()),
                value(figure.simulated),
                off(figure),
                format!("{} to {}", value(figure.at_least), value(figure.at_most)),
                if figure.is_within() { String::new() } else { "missed".to_owned() },
            ]);
        }
    }
    table.render()
}

fn in_unit(unit: CheckedUnit, value: u64) -> String {
    match unit {
        CheckedUnit::Ns => duration_ns(value),
        CheckedUnit::PerSecond => count_u64(value),
        CheckedUnit::Ppm => format!("{}.{:02}%", value / 10_000, value % 10_000 / 100),
    }
}

/// By how much the simulation is off; nothing where nothing was seen here.
fn off(figure: &CheckedFigure) -> String {
    let here = figure.median();
    if here == 0 { String::new() } else { change(figure.simulated as f64 / here as f64 - 1.0) }
}

fn verdict(check: &MachineCheck) -> String {
    let (all, missed) = (check.figures(), check.missed().len());
    let words = format!(
        "{} of {} are where they were to be: no less than the least of the repetitions here and no more than the \
         most, widened by 25 %, for p99 by 50 %, for the longest by a factor of 3.",
        all - missed,
        many(all as u64, "figure")
    );
    wrap(&words, "", "")
}

fn program(program: &CheckedProgram) -> String {
    let CheckedProgram { name, about, told_ns, left_out, .. } = program;
    let told = told_ns.map_or(String::new(), |ns| {
        format!(". Its own work, {}, was measured here and is given to the simulation", duration_ns(ns))
    });
    let left_out = left_out.as_ref().map_or(String::new(), |why| format!(". Not run: {why}"));
    wrap(&format!("{name}: {about}{told}{left_out}."), "  ", "    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_here_and_in_the_simulation_and_what_it_is_of() {
        insta::assert_snapshot!(machine_check(&schema::example::machine_check::machine_check()));
    }
}
