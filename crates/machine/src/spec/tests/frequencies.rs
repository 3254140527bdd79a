//! What a machine file may say of frequencies.

use super::errors::good;
use crate::spec::MachineSpec;
use scheduler::{CpuId, CpuMask};

/// The good machine with these lines for its frequencies.
fn with(frequency: &str) -> Result<MachineSpec, String> {
    MachineSpec::parse(&format!("{}\n[frequency]\n{frequency}", good()), "m")
        .map_err(|error| error.to_string())
}

const TWO: &str = "domains = [
  { cpus = \"0-1\", levels = [{ mhz = 500, mw = 20 }, { mhz = 1000, mw = 70 }], origin = \"assumed: a\" },
  { cpus = \"2-3\", levels = [{ mhz = 2000, mw = 900 }], origin = \"published: b\" },
]";

#[test]
fn domains_with_their_levels_and_origins() {
    let spec = with(TWO).expect("a machine file");
    let domains = &spec.topology.frequencies;
    let seen: Vec<_> = domains[0].levels.iter().map(|level| (level.khz, level.milliwatts)).collect();
    assert_eq!(seen, [(500_000, Some(20)), (1_000_000, Some(70))]);
    assert_eq!(domains[1].cpus, [CpuId(2), CpuId(3)].into_iter().collect());
    let origins: Vec<String> = spec.origins.iter().map(ToString::to_string).collect();
    assert!(origins.contains(&"frequency.domains[1] = 1 frequencies of CPUs 2-3 (published: b)".to_owned()));
}

#[test]
fn a_machine_of_another_size_has_the_same_domains_again() {
    let spec = with(TWO).expect("a machine file");
    let spans = |cpus| -> Vec<CpuMask> {
        let resized = spec.with_cpus(cpus).expect("a machine");
        resized.topology.frequencies.iter().map(|domain| domain.cpus).collect()
    };
    let of = |cpus: &[u16]| -> CpuMask { cpus.iter().map(|cpu| CpuId(*cpu)).collect() };
    assert_eq!(spans(7), [of(&[0, 1]), of(&[2, 3]), of(&[4, 5]), of(&[6])]);
    assert_eq!(spans(2), [of(&[0, 1])]);
    let phone = MachineSpec::builtin("phone").expect("it is built in");
    assert_eq!(phone.topology.frequencies.len(), 2);
}

#[test]
fn what_cannot_be_is_refused() {
    for (change, to, why) in [
        ("2-3", "1-3", "domains[1].cpus: CPU 1 is in a frequency domain already; name every CPU once"),
        ("mhz = 500", "mhz = 1000", "levels[1].mhz: is no higher than the one before"),
        ("mhz = 500", "mhz = 0", "0 MHz is impossible"),
        ("mhz = 500, mw = 20", "mhz = 500", "levels[1]: has an mw where another level has none"),
        ("mhz = 2000, mw = 900", "mhz = 2000", "domains[1]: says of other CPUs than 0-1 what they take"),
        ("[{ mhz = 2000, mw = 900 }]", "[]", "levels: names no frequency"),
        ("assumed: a", "a", "does not say where the figure comes from"),
        ("2-3", "2-4", "names CPU 4, the machine has 4"),
    ] {
        let message = with(&TWO.replace(change, to)).expect_err(why);
        assert!(message.contains(why), "{message}");
    }
    let slow = "[speed]\ncpus = [{ cpus = \"1\", percent = 70, origin = \"assumed: x\" }]\n[frequency]\n";
    let text = format!("{}\n{slow}{TWO}", good());
    let message = MachineSpec::parse(&text, "m").expect_err("one is slower").to_string();
    assert!(message.contains("CPUs 0 and 1 have different speeds, and run at one frequency"), "{message}");
}
