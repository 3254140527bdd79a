//! One good machine file, one change each, and what the reader says about it.

use crate::spec::{IdleMonitor, MachineSpec};

const TOPOLOGY: &str = r#"name = "m"
meaning = "A machine."
[topology]
cpus = 4
levels = [
  { kind = "mc", spans = ["0-1", "2-3"] },
  { kind = "package", spans = ["0-3"] },
]
origin = "assumed: a test"
"#;

const NOISE: &str = r#"[noise.timer_jitter]
min_ns = 0
max_ns = 1000
origin = "assumed: a test"
[[noise.irq_off]]
what = "device"
per_second_per_cpu = 100
length = { mean_ns = 2000 }
origin = "assumed: a test"
[[noise.kthread]]
comm = "softirq-timer"
policy = "fifo"
rt_priority = 50
per_cpu = true
period = { ns = 1000000 }
run = { ns = 3000 }
origin = "assumed: a test"
"#;

/// A small machine file without a mistake. Topology, costs, cache, noise, from line 1 to the end.
pub(super) fn good() -> String {
    use crate::spec::Costs;
    let figure = |unit| format!("{{ {unit} = 100, origin = \"assumed: a test\" }}");
    let mut text = format!("{TOPOLOGY}[costs]\n");
    for cost in Costs::FIXED {
        text += &format!("{} = {}\n", cost.name, figure("ns"));
    }
    text += &format!("ticket_spinner_percent = {}\n", figure("percent"));
    for cost in Costs::BY_DISTANCE {
        text += &format!("[costs.{}]\n", cost.name);
        for distance in ["own", "shared_cache", "same_node"] {
            text += &format!("{distance} = {}\n", figure("ns"));
        }
    }
    text += &format!("[cache]\nrefill_ps_per_byte = {}\ntau = {}\n", figure("ps"), figure("ns"));
    text += &format!("shared_cache_lost_percent = {}\n", figure("percent"));
    text + NOISE
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(MachineSpec::parse(&good(), "m.toml").map(|m| m.cpus()), Ok(4));
}

/// Replaces `old` in the good file by `new`; `expected` is the message after the file's name.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let text = good();
    assert!(text.contains(old), "{old}");
    let bad = text.replacen(old, new, 1);
    match MachineSpec::parse(&bad, "m.toml") {
        Ok(_) => panic!("accepted: {new}"),
        Err(error) => assert_eq!(error.to_string(), format!("m.toml:{expected}")),
    }
}

/// The line of the good file on which a text first stands.
fn line_of(text: &str) -> usize {
    good().lines().position(|l| l.contains(text)).map_or(0, |i| i + 1)
}

#[test]
fn not_toml() {
    check("cpus = 4", "cpus = = 4", "4: not readable as TOML: extra `=`, expected nothing");
    check("cpus = 4", "cpus = 4\ncpus = 5", "5: not readable as TOML: duplicate key");
}

#[test]
fn ways_to_wait() {
    let with = |value: &str| format!("meaning = \"A machine.\"\nidle_monitor = {value}");
    let line = "meaning = \"A machine.\"";
    let good = good().replacen(line, &with("{ by = \"mwait\", origin = \"assumed: a test\" }"), 1);
    let monitor = |text: &str| MachineSpec::parse(text, "m.toml").map(|m| m.idle_monitor);
    assert_eq!(monitor(&good), Ok(IdleMonitor::Mwait));
    assert_eq!(monitor(&super::errors::good()), Ok(IdleMonitor::Hlt));
    let advice = "write poll, mwait or hlt";
    let bad = with("{ by = \"nap\", origin = \"assumed: a test\" }");
    check(line, &bad, &format!("3: idle_monitor.by: is no way to wait; {advice}"));
    check(line, &with("{ by = \"poll\" }"), "3: idle_monitor.origin: is missing; add it");
}

#[test]
fn impossible_numbers_of_cpus() {
    let rest = "is impossible; give 1 to 512 CPUs";
    for n in ["0", "513", "-4", "99999999999999999999"] {
        check("cpus = 4", &format!("cpus = {n}"), &format!("4: topology.cpus: {n} CPUs {rest}"));
    }
    check("cpus = 4", "cpus = 4.5", "4: topology.cpus: is a number with a fraction; write a whole number");
    check("cpus = 4\n", "", "3: topology.cpus: is missing; add it");
}

#[test]
fn spans_that_are_no_partition() {
    let pairs = r#"["0-1", "2-3"]"#;
    let advice = "put every CPU into exactly one";
    let field = "6: topology.levels[0].spans";
    check(pairs, r#"["0-1", "1-3"]"#, &format!("{field}[1]: CPU 1 is in two spans; {advice}"));
    check(pairs, r#"["0-1", "3"]"#, &format!("{field}: CPU 2 is in no span; {advice}"));
    check(
        pairs,
        r#"["0-1", "2-4"]"#,
        &format!("{field}[1]: names CPU 4, the machine has 4; use CPUs 0 to 3"),
    );
    check(pairs, r#"["0-1", "3-2"]"#, &format!(r#"{field}[1]: is no CPU list; write it as "0-3,8""#));
    check(pairs, r#"["0-1", "2-3000"]"#, &format!(r#"{field}[1]: is no CPU list; write it as "0-3,8""#));
    check(pairs, r#"["0-1", "two"]"#, &format!(r#"{field}[1]: is no CPU list; write it as "0-3,8""#));
}

#[test]
fn levels_that_do_not_nest() {
    let package = r#"{ kind = "package", spans = ["0-3"] }"#;
    let last =
        r#"is the last level and does not have one span of all CPUs; add a level with spans = ["0-3"]"#;
    check(&format!("  {package},\n"), "", &format!("6: topology.levels[0]: {last}"));
    check(
        package,
        r#"{ kind = "mc", spans = ["0-3"] }"#,
        "7: topology.levels[1]: is not larger in kind than the level before it; \
         order them smt, cluster, mc, package, numa by distance, each once",
    );
    check(
        package,
        &format!(r#"{{ kind = "package", spans = ["0-2", "3"] }}, {package}"#),
        "7: topology.levels[1]: cuts through the span 2-3 of the level before it; \
         let every span hold whole spans of the smaller level",
    );
    check(
        "\"mc\"",
        "\"l2\"",
        "6: topology.levels[0].kind: is no kind of level; use smt, cluster, mc, package or numa",
    );
    check("\"package\"", "\"numa\"", "7: topology.levels[1].distance: is missing; add it");
    check(
        "\"package\"",
        "\"package\", distance = 20",
        "7: topology.levels[1].distance: belongs to numa levels only; leave it out",
    );
}

#[test]
fn no_level_at_all() {
    let text = good();
    let start = text.find("levels").unwrap_or_default();
    let end = text.find("]\norigin").unwrap_or_default() + 1;
    check(
        &text[start..end],
        "levels = []",
        "5: topology.levels: has no level; give at least one, the last with one span of all CPUs",
    );
    check(&text[start..end], "", "3: topology.levels: is missing; add it");
}

#[test]
fn growth_that_does_not_fit() {
    let package = r#"spans = ["0-3"]"#;
    check(
        package,
        r#"spans = ["0-3"], grows_to = 6"#,
        "7: topology.levels[1].grows_to: 6 CPUs are no multiple of the machine's 4; give 4 or a multiple",
    );
    check(
        package,
        r#"spans = ["0-3"], grows_to = 8"#,
        "7: topology.levels[1]: is the last level and has a limit to its growth; leave it out, or add a \
         larger level",
    );
    check(
        r#"spans = ["0-1", "2-3"]"#,
        r#"spans = ["0-1", "2-3"], grows_to = 4"#,
        "6: topology.levels[0].grows_to: belongs to a level with one span of all CPUs; \
         leave it out: a larger machine has more of these spans",
    );
    check(
        r#"{ kind = "mc", spans = ["0-1", "2-3"] },
  { kind = "package", spans = ["0-3"] },"#,
        r#"{ kind = "mc", spans = ["0-3"], grows_to = 8 },
  { kind = "package", spans = ["0-3"], grows_to = 12 },
  { kind = "numa", distance = 20, spans = ["0-3"] },"#,
        "7: topology.levels[1]: grows_to does not hold whole spans of the level before it as that grows; \
         give the smaller level a grows_to that divides this one",
    );
}

#[test]
fn nodes_that_tear_a_cache() {
    check(
        "cpus = 4",
        "nodes = [\"0\", \"1-3\"]\ncpus = 4",
        "4: topology.nodes: cuts through 0-1, which share a core or a cache; let every node hold whole spans",
    );
}

#[test]
fn unknown_fields_get_the_nearest() {
    check("cpus = 4", "cpu = 4", "4: topology.cpu: is not known here; did you mean cpus?");
    let line = line_of("context_switch");
    check(
        "context_switch",
        "contextswitch",
        &format!("{line}: costs.contextswitch: is not known here; did you mean context_switch?"),
    );
    check(
        "ns = 100",
        "us = 1",
        &format!("{}: costs.schedule.us: is not known here; did you mean ns?", line_of("schedule")),
    );
    check(
        "[cache]",
        "[disk]",
        &format!(
            "{}: disk: is not known here; known are name, meaning, idle_monitor, idle, rcu_callback, topology, \
             costs, cache, cold, speed, memory, frequency, kernel, noise",
            line_of("[cache]")
        ),
    );
}

#[test]
fn costs_that_cannot_be() {
    let (line, field) = (line_of("schedule"), "costs.schedule.ns");
    let range = "is impossible; give 0 to 1000000000 ns";
    check("ns = 100", "ns = -1", &format!("{line}: {field}: -1 ns {range}"));
    check("ns = 100", "ns = 1000000001", &format!("{line}: {field}: 1000000001 ns {range}"));
    check(
        "ns = 100",
        "ns = 0.5",
        &format!("{line}: {field}: is a number with a fraction; write a whole number"),
    );
    check("ns = 100", "ns = \"100\"", &format!("{line}: {field}: is a string; write a whole number"));
    check(
        "schedule = { ns = 100, origin = \"assumed: a test\" }",
        "schedule = 100",
        &format!("{line}: costs.schedule: is a whole number; write a table"),
    );
    let table = line_of("[costs]");
    check(
        "schedule = { ns = 100, origin = \"assumed: a test\" }\n",
        "",
        &format!("{table}: costs.schedule: is missing; add it"),
    );
}

#[test]
fn distances_that_the_machine_lacks_or_has() {
    let own = "own = { ns = 100, origin = \"assumed: a test\" }";
    let line = line_of("[costs.ipi]");
    check(own, "", &format!("{line}: costs.ipi.own: is missing; add it"));
    check(
        own,
        &format!("{own}\n{}", own.replace("own", "smt")),
        &format!(
            "{}: costs.ipi.smt: is a distance that no two CPUs of this machine have; leave it out",
            line + 2
        ),
    );
    let lost = "shared_cache_lost_percent = { percent = 100, origin = \"assumed: a test\" }";
    check(lost, "", &format!("{}: cache.shared_cache_lost_percent: is missing; add it", line_of("[cache]")));
    check(
        lost,
        &lost.replace("100", "101"),
        &format!(
            "{}: cache.shared_cache_lost_percent.percent: 101 percent is impossible; give 0 to 100 percent",
            line_of("shared_cache_lost")
        ),
    );
}

#[test]
fn figures_without_an_origin() {
    let line = line_of("schedule");
    let advice = "start with measured:, published: or assumed:, then say how, where or on what ground";
    let message =
        format!("{line}: costs.schedule.origin: does not say where the figure comes from; {advice}");
    let origin = "ns = 100, origin = \"assumed: a test\"";
    check(origin, "ns = 100, origin = \"a guess\"", &message);
    check(origin, "ns = 100, origin = \"assumed:\"", &message);
    check(origin, "ns = 100, origin = \"heard: a test\"", &message);
    check(
        origin,
        "ns = 100, origin = \"\"",
        &format!("{line}: costs.schedule.origin: is empty; write a text"),
    );
    check(origin, "ns = 100", &format!("{line}: costs.schedule.origin: is missing; add it"));
}

#[test]
fn noise_that_cannot_be() {
    let jitter = line_of("[noise.timer_jitter]");
    check(
        "max_ns = 1000",
        "max_ns = -1000",
        &format!(
            "{}: noise.timer_jitter.max_ns: -1000 ns is impossible; give 0 to 10000000000 ns",
            jitter + 2
        ),
    );
    check(
        "min_ns = 0",
        "min_ns = 2000",
        &format!("{jitter}: noise.timer_jitter: min_ns is above max_ns; swap them"),
    );
    check(
        "min_ns = 0",
        "ns = 0",
        &format!(
            "{jitter}: noise.timer_jitter: is no distribution; give ns (always the same), min_ns and max_ns \
             (uniform, or Pareto with slope_percent), or mean_ns (exponential, with or without min_ns, cut at \
             max_ns or not)"
        ),
    );
    check(
        "min_ns = 0",
        "slope_percent = 100\nmin_ns = 2000",
        &format!(
            "{}: noise.timer_jitter.slope_percent: needs a least and a longest; give min_ns above 0 and a \
             longer max_ns beside it, and no other key",
            jitter + 1
        ),
    );
    check(
        "[noise.timer_jitter]",
        "[noise.timer_delivery]\nns = 7000\norigin = \"assumed: a test\"\n[noise.timer_jitter]",
        &format!(
            "{jitter}: noise.timer_delivery: cannot stand beside timer_jitter; leave one of them out: both \
             say how late a timer's interrupt is"
        ),
    );
    check(
        "[noise.timer_jitter]",
        "[cold]\npath = { ns = 1, origin = \"assumed: a test\" }\n[noise.timer_jitter]",
        &format!("{jitter}: cold.bytes: is missing; add it"),
    );
    let irq = line_of("per_second_per_cpu");
    check(
        "per_second_per_cpu = 100",
        "per_second_per_cpu = 100000\nX",
        &format!("{}: not readable as TOML: key with no value, expected `=`", irq + 1),
    );
    check(
        "per_second_per_cpu = 100",
        "",
        &format!(
            "{}: noise.irq_off[0]: has neither per_second_per_cpu nor per_minute_per_cpu; say how often it comes \
             by one of them",
            irq - 2
        ),
    );
    check(
        "per_second_per_cpu = 100",
        "per_second_per_cpu = 100\nper_minute_per_cpu = 7",
        &format!(
            "{}: noise.irq_off[0].per_minute_per_cpu: stands beside per_second_per_cpu; leave one of them \
             out",
            irq + 1
        ),
    );
    check(
        "mean_ns = 2000",
        "mean_ns = 2000, max_ns = 0",
        &format!(
            "{}: noise.irq_off[0].length: max_ns is not above min_ns; let it be the longest, or leave it out",
            irq + 1
        ),
    );
    check(
        "mean_ns = 2000",
        "mean_ns = 9500000",
        &format!(
            "{irq}: noise.irq_off[0].per_second_per_cpu: 100/s of 9500000 ns on average (exponential) \
             leave tasks less than a tenth of the time; make it rarer or shorter"
        ),
    );
    let thread = line_of("comm");
    check(
        "rt_priority = 50",
        "rt_priority = 100",
        &format!(
            "{}: noise.kthread[0].rt_priority: 100 (real-time priority) is impossible; give 1 to 99 \
             (real-time priority)",
            thread + 2
        ),
    );
    check(
        "rt_priority = 50\n",
        "",
        &format!("{}: noise.kthread[0].rt_priority: is missing; add it", thread - 1),
    );
    check(
        "\"fifo\"",
        "\"other\"",
        &format!("{}: noise.kthread[0].rt_priority: belongs to fifo and rr only; leave it out", thread + 2),
    );
    check(
        "\"fifo\"",
        "\"deadline\"",
        &format!("{}: noise.kthread[0].policy: is no policy; use fifo, rr, other, batch or idle", thread + 1),
    );
    check(
        "per_cpu = true",
        "per_cpu = true\nnice = 20",
        &format!(
            "{}: noise.kthread[0].nice: 20 (nice value) is impossible; give -20 to 19 (nice value)",
            thread + 4
        ),
    );
    check(
        "per_cpu = true",
        "per_cpu = 1",
        &format!("{}: noise.kthread[0].per_cpu: is a whole number; write true or false", thread + 3),
    );
    check(
        "run = { ns = 3000 }",
        "run = { ns = 1000000 }",
        &format!(
            "{}: noise.kthread[0].period: is not longer than the run time; lengthen it, or shorten run",
            thread + 4
        ),
    );
    check(
        "period = { ns = 1000000 }",
        "woken_by = \"tock\"",
        &format!(
            "{}: noise.kthread[0].woken_by: nothing is called tock here; known are tick, device",
            thread + 4
        ),
    );
    check(
        "period = { ns = 1000000 }",
        "woken_by = \"tick\"\npercent = 0",
        &format!("{}: noise.kthread[0].percent: 0 percent is impossible; give 1 to 100 percent", thread + 5),
    );
    check(
        "period = { ns = 1000000 }",
        "period = { ns = 1000000 }\npercent = 50",
        &format!("{}: noise.kthread[0].percent: belongs to woken_by; leave it out", thread + 5),
    );
    check(
        "period = { ns = 1000000 }",
        "period = { ns = 1000000 }\nwoken_by = \"tick\"",
        &format!(
            "{}: noise.kthread[0].period: cannot stand beside woken_by; leave one of them out",
            thread + 4
        ),
    );
    check(
        "period = { ns = 1000000 }\n",
        "",
        &format!(
            "{}: noise.kthread[0]: has neither period nor woken_by; say when the thread wakes",
            thread - 1
        ),
    );
    check(
        "softirq-timer",
        "softirq-timer-thread",
        &format!("{thread}: noise.kthread[0].comm: is longer than 15 bytes; shorten it, as the kernel would"),
    );
}

#[test]
fn names() {
    check("name = \"m\"", "name = \"my machine\"", "1: name: is no name; use letters, digits and -_. only");
    check("\"A machine.\"", "\" \"", "2: meaning: is empty; write a text");
    check("name = \"m\"\n", "", "1: name: is missing; add it");
}

/// Whatever the file holds, the answer is a machine or an error.
#[test]
fn no_damage_makes_the_reader_panic() {
    let text = good();
    let damages =
        (0..text.len()).flat_map(|at| ["", "\"", "[", "}", "\n", "-9", "=", ","].map(|by| (at, by)));
    let mut accepted = 0;
    for (at, by) in damages {
        let damaged = format!("{}{by}{}", &text[..at], &text[at + 1..]);
        accepted += usize::from(MachineSpec::parse(&damaged, "m.toml").is_ok());
    }
    let cut_off = (0..text.len()).filter(|at| MachineSpec::parse(&text[..*at], "m.toml").is_ok());
    accepted += cut_off.count();
    assert!(accepted > 0, "a changed letter of an origin is no error");
}
