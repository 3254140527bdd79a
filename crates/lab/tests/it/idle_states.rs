//! Machines with idle states: what is said of them, and what would have helped against their latencies.

use lab::schema::{ExperimentText, LoadText, MachineText};
use lab::{Experiment, Files, Question, why};
use schema::why::Cause;

/// The laptop with two states, the deeper one with these figures, in us.
fn machine(governor: &str, latency: u32, residency: u32) -> MachineText {
    let laptop = include_str!("../../../../machines/laptop.toml");
    let state = |name, by, latency: u32, residency: u32| {
        format!(
            "{{ name = \"{name}\", by = \"{by}\", exit_latency_ns = {}, target_residency_ns = {}, \
             origin = \"assumed: a test\" }}",
            1_000 * latency,
            1_000 * residency
        )
    };
    let mut states = vec![state("POLL", "poll", 0, 0)];
    if governor != "haltpoll" {
        states.push(state("C1", "mwait", 2, 2));
    }
    states.push(state("C10", "mwait", latency, residency));
    let (governor, states) =
        (format!("name = \"{governor}\", origin = \"assumed: a test\""), states.join(", "));
    let idle = format!("[idle]\ngovernor = {{ {governor} }}\nstates = [{states}]\n");
    MachineText { name: Some("m.toml".into()), content: Some(format!("{laptop}\n{idle}")), cpus: Some(2) }
}

fn experiment(machine: MachineText, kernel: &str) -> Experiment {
    let load = LoadText { load: "cyclictest -t1 -p95 -i 20ms -D 1 --laptop".to_owned(), file: None };
    let text = ExperimentText {
        loads: vec![load],
        machine,
        kernel: Some(kernel.to_owned()),
        ..ExperimentText::default()
    };
    Experiment::open(&text, &Files::new()).expect("sound")
}

/// What is said of the idle states of a machine under a kernel: notes, then warnings.
fn said(machine: MachineText, kernel: &str) -> [Option<String>; 2] {
    let result = experiment(machine, kernel).run().expect("it runs").result;
    let of_it = |all: &[String]| all.iter().find(|one| one.contains("idle ")).cloned();
    [of_it(&result.notes), of_it(&result.warnings)]
}

#[test]
fn a_governor_that_the_kernel_has_not_is_said() {
    let note = |governor: &str, kernel: &str| {
        let [note, warning] = said(machine(governor, 680, 2_000), kernel);
        assert_eq!(warning, None);
        note.unwrap_or_default()
    };
    for (governor, kernel, since) in [
        ("haltpoll", "5.3", "5.4"),
        ("haltpoll", "4.4", "5.4"),
        ("teo", "5.0", "5.1"),
        ("menu", "2.6.23", "2.6.24"),
    ] {
        let begins = format!(
            "the machine's idle governor is {governor}, which Linux has from {since} on: {kernel} had"
        );
        assert!(note(governor, kernel).starts_with(&begins), "{}", note(governor, kernel));
    }
    let older =
        "the idle governor menu chooses as from 4.17 on; what it did otherwise in 4.4 is not modelled";
    assert!(note("menu", "4.4").starts_with(older), "{}", note("menu", "4.4"));
    for (governor, kernel) in [("haltpoll", "5.4"), ("teo", "6.1"), ("menu", "6.18.y"), ("none", "4.4")] {
        assert_eq!(note(governor, kernel), "", "{governor}, {kernel}");
    }
}

#[test]
fn a_state_that_is_left_more_slowly_than_it_has_to_last_is_warned_of() {
    let [_, warning] = said(machine("menu", 2_000, 680), "6.18.y");
    let warning = warning.expect("a warning");
    let told = "the idle state C10 takes 2ms to leave, and is to be worth it from 680us on";
    assert!(warning.contains(told), "{warning}");
}

/// A timer that wakes the CPU from C10, which takes 0.3 to 1 of 680 us: that is told, and that it would have
/// helped to keep CPUs from it.
#[test]
fn why_names_the_state_and_tries_to_keep_cpus_from_it() {
    let question = Question { worst: 1, tries: Some(1), ..Question::default() };
    let mut experiment = experiment(machine("menu", 680, 2_000), "6.18.y");
    experiment.tasks = vec!["cyclictest".parse().expect("a name")];
    let found = why(&experiment, question).expect("wakeups");
    let [one] = &found.explanations[..] else { panic!("one was asked for") };
    let longest = one.stretches.iter().max_by_key(|stretch| stretch.length().0).expect("stretches");
    assert_eq!(longest.cause, Cause::IdleExit { state: Some("C10".into()) });
    assert!(longest.length().0 > 400_000, "{longest:?}");
    let remedies = one.remedies.as_ref().expect("tried");
    let tried = |begin: &str| {
        let of_it = remedies.tried.iter().find(|remedy| remedy.change.starts_with(begin));
        of_it.unwrap_or_else(|| panic!("{remedies:#?}"))
    };
    let [polls, shallow] = ["/dev/cpu_dma_latency held at 0", "/dev/cpu_dma_latency held at 2us"].map(tried);
    assert!(polls.helps && shallow.helps, "{remedies:#?}");
    assert!(polls.latency.0 < 20_000 && shallow.latency.0 < 25_000, "{remedies:#?}");
    assert!(shallow.change.ends_with(": C1 at most"), "{}", shallow.change);
}
