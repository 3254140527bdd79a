//! What a machine file may say of idle states.

use super::errors::good;
use crate::spec::{Governor, IdleMonitor, MachineSpec, Spread};
use scheduler::Nanos;

/// The good machine with these lines for its idle states.
fn with(idle: &str) -> Result<MachineSpec, String> {
    MachineSpec::parse(&format!("{}\n[idle]\n{idle}", good()), "m").map_err(|error| error.to_string())
}

const MENU: &str = "governor = { name = \"menu\", origin = \"assumed: g\" }
states = [
  { name = \"POLL\", by = \"poll\", exit_latency_ns = 0, target_residency_ns = 0, origin = \"assumed: p\" },
  { name = \"C1\", by = \"mwait\", exit_latency_ns = 2000, target_residency_ns = 2000, origin = \"published: a\" },
  { name = \"C6\", exit_latency_ns = 85000, target_residency_ns = 200000, leaving = { min_ns = 30000, max_ns = 70000 }, origin = \"measured: b\" },
]";

const HALTPOLL: &str = "governor = { name = \"haltpoll\", origin = \"assumed: g\" }
states = [
  { name = \"POLL\", by = \"poll\", exit_latency_ns = 0, target_residency_ns = 0, origin = \"assumed: p\" },
  { name = \"HLT\", exit_latency_ns = 1000, target_residency_ns = 1000, origin = \"assumed: h\" },
]";

const NEVER_SLEEPS: &str = "governor = { name = \"menu\", origin = \"assumed: g\" }
states = [
  { name = \"POLL\", by = \"poll\", exit_latency_ns = 0, target_residency_ns = 0, origin = \"assumed: p\" },
]";

#[test]
fn states_with_their_figures_and_origins() {
    let spec = with(MENU).expect("a machine file");
    let idle = spec.idle.expect("it has states");
    assert_eq!(idle.governor, Governor::Menu);
    let names: Vec<_> = idle.states.iter().map(|state| (state.name.as_str(), state.by)).collect();
    let [poll, c1, c6] = [IdleMonitor::Poll, IdleMonitor::Mwait, IdleMonitor::Hlt];
    assert_eq!(
        names,
        [("POLL", poll), ("C1", c1), ("C6", c6)],
        "as the machine waits, where nothing is said"
    );
    let [least, most] = [Nanos(30_000), Nanos(70_000)];
    assert_eq!(idle.states[2].leaving, Spread::Uniform { min: least, max: most });
    assert_eq!(idle.states[1].leaving, Spread::Uniform { min: Nanos(1_000), max: Nanos(2_000) }, "5.5");
    assert_eq!(idle.states[0].leaving, Spread::Constant(Nanos::ZERO));
    let origins: Vec<String> = spec.origins.iter().map(ToString::to_string).collect();
    let told = "idle.states[2] = C6 by hlt, exit latency 85000 ns, target residency 200000 ns, leaving 30000 \
                to 70000 ns (measured: b)";
    assert!(origins.contains(&told.to_owned()), "{origins:?}");
    assert!(origins.contains(&"idle.governor = menu (assumed: g)".to_owned()));
    assert_eq!(with(HALTPOLL).map(|spec| spec.idle.map(|idle| idle.governor)), Ok(Some(Governor::Haltpoll)));
}

/// What Linux's drivers may not say either, and what its governors cannot use.
#[test]
fn what_cannot_be_is_refused() {
    for (file, change, to, why) in [
        (
            MENU,
            "\"menu\"",
            "\"ladder\"",
            "governor.name: is a governor that is not modelled; write menu, teo, haltpoll or",
        ),
        (
            MENU,
            "\"menu\"",
            "\"manu\"",
            "governor.name: is no idle governor; write menu, teo, haltpoll or none",
        ),
        (MENU, "\"menu\"", "\"haltpoll\"", "idle.governor: needs a state that polls and one that does not"),
        (HALTPOLL, "by = \"poll\", ", "", "idle.governor: needs a state that polls and one that does not"),
        (NEVER_SLEEPS, "\"menu\"", "\"none\"", "idle.governor: takes the first state that does not poll"),
        (MENU, "by = \"mwait\"", "by = \"poll\"", "states[1].by: polls; only the first state may poll"),
        (MENU, "by = \"mwait\"", "by = \"nap\"", "states[1].by: is no way to wait; write poll, mwait or hlt"),
        (MENU, "\"C6\"", "\"C1\"", "states[2].name: C1 is there already; name every state once"),
        (MENU, "\"C6\"", "\"C 6\"", "states[2].name: is no name"),
        (
            MENU,
            "\"poll\", exit_latency_ns = 0",
            "\"poll\", exit_latency_ns = 1",
            "states[0].exit_latency_ns: belongs to a state that polls, which has nothing to leave; write 0",
        ),
        (
            MENU,
            "ns = 85000",
            "ns = 1999",
            "states[2].exit_latency_ns: is less than that of C1; begin with the",
        ),
        (MENU, "ns = 200000", "ns = 1999", "states[2].target_residency_ns: is less than that of C1"),
        (MENU, "ns = 2000,", "ns = -1,", "-1 ns is impossible; give 0 to 10000000000 ns"),
        (MENU, "min_ns = 30000", "min_ns = 80000", "states[2].leaving: min_ns is above max_ns; swap them"),
        (
            MENU,
            "ns = 0, origin",
            "ns = 0, leaving = { ns = 3 }, origin",
            "states[0].leaving: belongs to states that",
        ),
        (MENU, "measured: b", "b", "states[2].origin: does not say where the figure comes from"),
        (MENU, "governor", "governer", "idle.governer: is not known here; did you mean governor?"),
    ] {
        assert!(file.contains(change), "{change}");
        let message = with(&file.replacen(change, to, 1)).expect_err(why);
        assert!(message.contains(why), "{message}");
    }
    let governor = MENU.lines().next().expect("a line");
    let message = with(&format!("{governor}\nstates = []")).expect_err("none");
    assert!(message.contains("idle.states: names no state; give one at least"), "{message}");
    let state = |n| {
        format!(
            "{{ name = \"C{n}\", exit_latency_ns = {n}, target_residency_ns = {n}, origin = \"assumed: x\" }}"
        )
    };
    let states = |n: usize| (1..=n).map(state).collect::<Vec<_>>().join(", ");
    assert!(with(&format!("{governor}\nstates = [{}]", states(10))).is_ok());
    let message = with(&format!("{governor}\nstates = [{}]", states(11))).expect_err("eleven");
    assert!(message.contains("states[10]: is one too many; Linux takes 10 at most"), "{message}");
    let twice = MENU.replace("\"C6\"", "\"C1\"");
    let line = 1 + good().lines().count() + "\n[idle]\n".lines().count() + 4;
    let message = with(&twice).expect_err("twice");
    assert!(message.starts_with(&format!("m:{line}: idle.states[2].name")), "{message}");
}

/// A residency below the latency is odd, and allowed, as it is in Linux.
#[test]
fn a_residency_below_the_latency_is_allowed() {
    assert!(with(&MENU.replace("ns = 200000", "ns = 2000")).is_ok());
}

/// What the documentation of machine files says to write below the laptop is a machine file.
#[test]
fn the_documented_laptop_is_one() {
    let documented = include_str!("../../../../../machines/README.md");
    let (_, block) = documented.split_once("```toml\n[idle]\n").expect("an example");
    let (idle, _) = block.split_once("```").expect("its end");
    let laptop = crate::BUILTIN.iter().find(|machine| machine.name == "laptop").expect("it is built in").text;
    let spec = MachineSpec::parse(&format!("{laptop}\n[idle]\n{idle}"), "m").expect("a machine file");
    let idle = spec.idle.expect("it has states");
    let names: Vec<_> = idle.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["POLL", "C1E", "C6", "C8", "C10"]);
    let waits: Vec<_> = idle.states.iter().map(|state| state.by).collect();
    assert!(waits[0] == IdleMonitor::Poll && waits[1..].iter().all(|by| *by == IdleMonitor::Mwait));
    // machine.md 5.5.
    let us = |state: &crate::IdleState| (state.exit_latency.0 / 1_000, state.target_residency.0 / 1_000);
    assert_eq!(
        idle.states.iter().skip(1).map(us).collect::<Vec<_>>(),
        [(2, 4), (220, 600), (280, 800), (680, 2_000)]
    );
}
