//! The head of every result: all that is needed to run it again.

use super::paragraph::wrap;
use crate::numbers::{duration_ns, exact_duration, moment};
use schema::{Kernel, Machine, RunResult, Window};

/// Width of the column of labels.
const LABEL: usize = 9;

/// Version and seed, machine, kernel profile with its changes, loads, length, command line.
#[must_use]
pub fn head(run: &RunResult) -> String {
    let engine = &run.engine;
    let mut out = format!("schedlab {}, seed {}\n", engine.version, engine.seed);
    out += &labelled("machine", &machine(&run.machine));
    out += &labelled("kernel", &kernel(&run.kernel));
    for load in &run.loads {
        out += &labelled("load", load.load());
    }
    out += &labelled(
        "ran",
        &format!("{} simulated, {} events", duration_ns(engine.simulated_ns), engine.events),
    );
    if let Some(window) = run.window {
        let text = format!(
            "{} of it: tasks, CPUs, counters and decisions; what loads report is of all of it",
            stretch(window)
        );
        out += &labelled("window", &text);
    }
    if let Some(command) = &run.command {
        out += &labelled("command", command);
    }
    out
}

/// A machine, its size, and where its costs come from if not from its file alone.
pub fn machine(machine: &Machine) -> String {
    let paths = if machine.recorded_paths.is_empty() { "" } else { ", wakeup paths as recorded" };
    format!("{}{paths}", machine_name(machine))
}

/// A stretch of a run: `1s to 1.5s`. Where its ends are too close for that, exactly.
pub fn stretch(window: Window) -> String {
    let [from, to] = [window.from_ns, window.to_ns].map(moment);
    if from != to {
        return format!("{from} to {to}");
    }
    format!("{} to {}", exact_duration(window.from_ns), exact_duration(window.to_ns))
}

/// A machine and its size.
pub fn machine_name(machine: &Machine) -> String {
    let plural = if machine.cpus == 1 { "" } else { "s" };
    format!("{}, {} CPU{plural}", machine.name, machine.cpus)
}

/// A profile, what was asked for if that is something else, and what was set on top of it, in the syntax of
/// `--set`.
pub fn kernel(kernel: &Kernel) -> String {
    let mut text = kernel.profile.clone();
    if let Some(asked) = &kernel.asked {
        text += &format!(" for {asked}");
    }
    for change in &kernel.changes {
        text.push(' ');
        if change.at_ns > 0 {
            text += &format!("{}:", exact_duration(change.at_ns));
        }
        text += &change.setting;
    }
    text
}

/// One entry of a head, over as many lines as it needs.
pub fn labelled(label: &str, text: &str) -> String {
    wrap(text, &format!("{label:LABEL$}"), &" ".repeat(LABEL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn a_kernel_that_is_no_profile_is_named_beside_it() {
        let mut run = example::run();
        run.kernel.asked = Some("debian12".to_owned());
        assert_eq!(kernel(&run.kernel), "6.1 for debian12 NO_RT_PUSH_IPI 2s:sched_latency_ns=12000000");
    }

    #[test]
    fn a_machine_that_takes_costs_from_a_recording_says_so() {
        let mut run = example::run();
        assert_eq!(machine(&run.machine), "laptop, 2 CPUs");
        run.machine = example::reference().machine;
        assert_eq!(machine(&run.machine), "recorded, 2 CPUs, wakeup paths as recorded");
    }

    #[test]
    fn a_stretch_of_the_run_is_named() {
        let mut run = example::run();
        run.window = Some(Window { from_ns: 1_000_000_000, to_ns: 1_500_000_000 });
        assert!(
            head(&run)
                .contains("\nwindow   1s to 1.5s of it: tasks, CPUs, counters and decisions; what loads\n")
        );
        let stretch_to = |to_ns| stretch(Window { from_ns: 6_000_000_000, to_ns });
        assert_eq!(stretch_to(8_035_865_566), "6s to 8.036s");
        assert_eq!(stretch_to(6_000_100_000), "6s to 6000100us", "of two that look the same");
    }

    #[test]
    fn the_head_names_all_that_a_repetition_needs() {
        let mut run = example::run();
        run.loads.truncate(2);
        run.command = Some(format!("schedlab run {} --seed 42", "'cyclictest -t2 -p90 -i100' ".repeat(3)));
        insta::assert_snapshot!(head(&run), @r"
        schedlab 0.1.0, seed 42
        machine  laptop, 2 CPUs
        kernel   6.1 NO_RT_PUSH_IPI 2s:sched_latency_ns=12000000
        load     cyclictest -t2 -p90 -i100 -h 10
        load     rt-migrate
        ran      10.0s simulated, 1234567 events
        command  schedlab run 'cyclictest -t2 -p90 -i100' 'cyclictest -t2 -p90 -i100'
                 'cyclictest -t2 -p90 -i100' --seed 42
        ");
    }
}
