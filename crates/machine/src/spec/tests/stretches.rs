//! `[kernel.stretch]` of a machine file.

use super::builtin;
use super::errors::good;
use crate::spec::{BUILTIN, MachineSpec, Operation};
use scheduler::Nanos;

const EXEC: &str = r#"[kernel.stretch.exec]
cond_every_ns = 8000
might_every_ns = 4000
longest_ns = 50000
atomic_percent = 25
atomic_mean_ns = 1500
atomic_max_ns = 20000
origin = "assumed: a test"
"#;

/// The good file with a section.
fn with(section: &str) -> Result<MachineSpec, String> {
    // Top-level keys come first.
    let text = good().replacen("[topology]", &format!("{section}[topology]"), 1);
    MachineSpec::parse(&text, "m.toml").map_err(|error| error.to_string())
}

#[test]
fn a_section_is_read_with_its_origin() {
    let spec = with(EXEC).expect("a sound file");
    let exec = spec.stretches.of(Operation::Exec).expect("it is described");
    assert_eq!((exec.points.map(|p| p.cond_every), exec.atomic_max), (Some(Nanos(8_000)), Nanos(20_000)));
    assert_eq!(spec.stretches.of(Operation::Fork), None);
    let origin = spec.origins.iter().find(|o| o.field == "kernel.stretch.exec").expect("it has one");
    assert!(origin.value.starts_with("a point every 8000 ns (4000 ns with might_sleep)"), "{origin}");
}

#[test]
fn a_section_may_have_no_points() {
    let points = "cond_every_ns = 8000\nmight_every_ns = 4000\nlongest_ns = 50000\n";
    let spec = with(&EXEC.replace(points, "")).expect("a sound file");
    assert_eq!(spec.stretches.of(Operation::Exec).map(|exec| exec.points), Some(None));
}

#[test]
fn stretches_that_cannot_be() {
    for (old, new, problem) in [
        ("might_every_ns = 4000", "might_every_ns = 9000", "might_every_ns: is above cond_every_ns"),
        ("longest_ns = 50000", "longest_ns = 7000", "cond_every_ns: is above longest_ns"),
        ("atomic_max_ns = 20000", "atomic_max_ns = 1000", "atomic_mean_ns: is above atomic_max_ns"),
        ("atomic_percent = 25", "atomic_percent = 101", "atomic_percent: 101 percent is impossible"),
        ("cond_every_ns = 8000", "cond_every_ns = 0", "cond_every_ns: 0 ns is impossible"),
        ("longest_ns = 50000\n", "", "longest_ns: is missing"),
        ("origin = \"assumed: a test\"\n", "", "origin: is missing"),
    ] {
        let said = with(&EXEC.replace(old, new)).expect_err("it cannot be");
        assert!(said.contains(&format!("kernel.stretch.exec.{problem}")), "{said}");
    }
    let unknown = with(&EXEC.replace("stretch.exec", "stretch.exce")).expect_err("a slip");
    assert!(unknown.contains("kernel.stretch.exce: is not known here; did you mean exec?"), "{unknown}");
}

/// The machines of the published experiments have blocks, as when those were measured against the documents.
#[test]
fn machines_of_today_are_described() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        let described = Operation::ALL.map(|operation| spec.stretches.of(operation).is_some());
        let expected = ["laptop", "hybrid", "phone", "vm2", "nested"].contains(&entry.name);
        assert_eq!(described, [expected; Operation::ALL.len()], "{}", entry.name);
    }
}
