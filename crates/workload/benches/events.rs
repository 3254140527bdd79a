//! Events (wakeups + context switches, those to idle included) per second of one core.
//!
//! The core's time is that of this thread, so that what else a machine does falls into it less.
//!
//! The figures to reach were measured with the fastest simulator known, the kernel's own C with no-op locks,
//! which charges nothing for locks, caches and interrupts. Everything here is charged. Ratios are taken
//! within one run.
//!
//! `-- --timed common-6.1 40` measures one case alone. `-- --once periodic 8` (or `common-6.18 512`,
//! `ideal-6.1 512`, `idle 256`, `cyclictest 512`, `fair 1000`, `oltp 256`, `groups 1`, `limited 10000`) runs
//! one case once and prints its number of events: for profilers, which count instructions and cache misses
//! where the clock of a busy machine says little. With `recorded` behind that it keeps the log from which
//! explanations are made.

use machine::{GroupSpec, Machine, MachineSpec, Outcome, QuotaSpec, RunOptions, Setup, TaskSpec, Tracing};
use rustix::time::{ClockId, clock_gettime};
use scheduler::registry::Config;
use scheduler::{GroupId, Nanos};
use std::process::ExitCode;
use workload::load;

/// One load on one machine.
struct Case {
    name: &'static str,
    machine: &'static str,
    cpus: usize,
    profile: &'static str,
    settings: &'static [&'static str],
    /// Nothing costs time on it: what remains is the simulator's own work.
    ideal: bool,
    loads: Vec<String>,
    groups: Grouping,
    simulated: Nanos,
    /// With the log that explanations need.
    recorded: bool,
    /// Million events per second of the kernel's own C.
    reference: Option<f64>,
}

/// In which task groups the tasks are, one after the other.
#[derive(Clone, Copy)]
enum Grouping {
    /// In none.
    Flat,
    /// In a thousand, of which ten are part of one of a hundred, and these of one of ten.
    Thousand,
    /// In so many, each of which may use 1 of 100 ms.
    Limited(usize),
}

impl Grouping {
    /// Makes the groups, and puts the tasks into them.
    fn make(self, setup: &mut Setup) {
        let mut group =
            |name: String, parent, quota| setup.group(GroupSpec { parent, quota, ..GroupSpec::new(name) });
        let groups: Vec<GroupId> = match self {
            Grouping::Flat => return,
            Grouping::Thousand => {
                let root = GroupId::ROOT;
                let top: Vec<GroupId> = (0..10).map(|n| group(format!("{n}"), root, None)).collect();
                let below = |n: usize| format!("{}/{n}", n / 10);
                let middle: Vec<GroupId> = (0..100).map(|n| group(below(n), top[n / 10], None)).collect();
                let leaf = |n: usize| format!("{}/{}/{n}", n / 100, n / 10);
                (0..1_000).map(|n| group(leaf(n), middle[n / 10], None)).collect()
            }
            Grouping::Limited(groups) => {
                let ms = Nanos::from_millis;
                let quota = QuotaSpec { quota: ms(1), period: ms(100), burst: Nanos::ZERO };
                (0..groups).map(|n| group(format!("{n}"), GroupId::ROOT, Some(quota))).collect()
            }
        };
        let mut next = groups.iter().cycle().copied();
        setup.change_tasks(0, |_, spec| TaskSpec { group: next.next(), ..spec });
    }
}

/// 2000 fair tasks that use three fifths of 64 CPUs, two in each of a thousand groups of three levels, or in
/// none.
fn grouped(groups: Grouping) -> Case {
    Case {
        name: if matches!(groups, Grouping::Flat) {
            "2000 tasks, no groups"
        } else {
            "2000 tasks, 1110 groups"
        },
        machine: "seed001",
        cpus: 64,
        profile: "6.18",
        settings: &[],
        ideal: false,
        loads: vec!["periodic -n 2000 -p 10ms -r 190us".into()],
        groups,
        // Long enough that what is made once does not count: 71,000 queues of groups on CPUs.
        simulated: Nanos::from_secs(2),
        recorded: false,
        reference: None,
    }
}

/// As many tasks as groups, on 128 CPUs, each of which wants one and a half times what its group may use.
fn limited(groups: usize) -> Case {
    Case {
        name: "groups with limits",
        machine: "seed001",
        cpus: 128,
        profile: "6.18",
        settings: &[],
        ideal: false,
        loads: vec![format!("periodic -n {groups} -p 10ms -r 150us")],
        groups: Grouping::Limited(groups),
        simulated: Nanos::from_millis(400),
        recorded: false,
        reference: None,
    }
}

/// The field's common load: 2N periodic tasks on N CPUs, profile 3.3.
fn periodic(cpus: usize, reference: Option<f64>) -> Case {
    Case {
        name: "periodic --bench",
        machine: "seed001",
        cpus,
        profile: "3.3",
        settings: &[],
        ideal: false,
        loads: vec!["periodic --bench".into()],
        groups: Grouping::Flat,
        simulated: Nanos::from_millis(24_000 / cpus as u64),
        recorded: false,
        reference,
    }
}

fn cyclictest(cpus: usize) -> Case {
    Case {
        name: "cyclictest -S -i100",
        machine: "seed001",
        cpus,
        profile: "6.1",
        settings: &[],
        ideal: false,
        loads: vec!["cyclictest -p95 -i100 -S -q".into()],
        // Long enough that what is made once (histograms, tables) does not count.
        groups: Grouping::Flat,
        simulated: Nanos::from_secs(4),
        recorded: false,
        reference: None,
    }
}

/// The common load with fair tasks: the periods of `periodic --bench`, to the microsecond, at nice 0. 4.1 has
/// the fair class of 2.6.36 and counts no averages: what others take longer, their rules take.
fn common(profile: &'static str, cpus: usize) -> Case {
    let last = (2 * cpus - 1) as f64;
    let period = |task: usize| (100.0 * 100_f64.powf(task as f64 / last)).round().to_string();
    let periods: Vec<String> = (0..2 * cpus).map(period).collect();
    Case {
        name: match profile {
            "4.1" => "common load, fair, 4.1",
            "6.1" => "common load, fair, 6.1",
            _ => "common load, fair, 6.18",
        },
        machine: "seed001",
        cpus,
        profile,
        settings: &[],
        ideal: false,
        loads: vec![format!("periodic -p {}", periods.join(","))],
        groups: Grouping::Flat,
        simulated: Nanos::from_millis(24_000 / cpus as u64),
        recorded: false,
        reference: None,
    }
}

/// The same on as many CPUs of the same topology, where nothing costs time.
fn ideal(profile: &'static str, cpus: usize) -> Case {
    let name = if profile == "6.1" { "the same, no costs, 6.1" } else { "the same, no costs, 6.18" };
    Case { name, ideal: true, ..common(profile, cpus) }
}

/// A machine that idles: 16 tasks that run a tenth of the time each, whatever the number of its CPUs.
fn idle(cpus: usize) -> Case {
    Case {
        name: "16 fair tasks at 10 %",
        machine: "seed001",
        cpus,
        profile: "6.1",
        settings: &[],
        ideal: false,
        loads: vec!["periodic -n 16 -p 1ms -r 100us".into()],
        groups: Grouping::Flat,
        simulated: Nanos::from_secs(4),
        recorded: false,
        reference: None,
    }
}

/// Six of eight CPUs' time, however many share it. The more there are, the less often each one wakes: 1000
/// and 100 000 have as many wakeups a second.
fn fair(tasks: usize) -> Case {
    let (period_ms, run_us) = match tasks {
        0..=1_000 => (10, 60_000 / tasks.max(1)),
        _ => (tasks / 100, 60),
    };
    Case {
        name: "50 to 100000 fair tasks",
        machine: "laptop",
        cpus: 8,
        profile: "6.1",
        settings: &[],
        ideal: false,
        loads: vec![format!("periodic -n {tasks} -p {period_ms}ms -r {run_us}us")],
        groups: Grouping::Flat,
        simulated: Nanos::from_millis(if tasks > 100 { 2_000 } else { 40_000 }),
        recorded: false,
        reference: None,
    }
}

/// Clients and servers of a database with user-space locks: two switches and two wakeups a request, some
/// thirty steps.
fn oltp(clients: usize, database: &str) -> Case {
    Case {
        name: if database == "pgsql" { "oltp --db pgsql" } else { "oltp --db mysql" },
        machine: "seed004",
        cpus: 4,
        profile: "tip+",
        settings: &[],
        ideal: false,
        loads: vec![format!("oltp --db {database} --clients {clients} --time 10s")],
        groups: Grouping::Flat,
        simulated: Nanos::from_secs(4),
        recorded: false,
        reference: None,
    }
}

/// Seed 001 (experiments/001.toml): forty CPUs become idle together and want the RT task that waits
/// somewhere.
fn herd(how: &'static str) -> Case {
    let settings: &[&str] = match how {
        "pull" => &["double_lock=fair", "preempt_model=full", "NO_RT_PUSH_IPI"],
        _ => &["double_lock=fair", "preempt_model=full", "RT_PUSH_IPI"],
    };
    Case {
        name: if how == "pull" { "herd, NO_RT_PUSH_IPI" } else { "herd, RT_PUSH_IPI" },
        machine: "seed001",
        cpus: 40,
        profile: "4.0",
        settings,
        ideal: false,
        loads: vec![
            "cyclictest --numa -p95 -m -d0 -i100 --cycle-cost 5000".into(),
            "periodic --random -n 4 -p 200 -r 50 -P 50".into(),
        ],
        groups: Grouping::Flat,
        simulated: Nanos::from_millis(400),
        recorded: false,
        reference: None,
    }
}

struct Measured {
    outcome: Outcome,
    seconds: f64,
}

impl Measured {
    fn million_per_second(&self) -> f64 {
        self.outcome.events as f64 / self.seconds / 1e6
    }

    fn ns_per_event(&self) -> f64 {
        self.seconds * 1e9 / self.outcome.events as f64
    }
}

/// What this thread has had of its core.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// `clock` says how many seconds the run has taken so far.
fn once(case: &Case, clock: impl Fn() -> f64) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut spec = MachineSpec::builtin(case.machine)?.with_cpus(case.cpus)?;
    if case.ideal {
        spec = MachineSpec::ideal(spec.topology);
    }
    let config = Config::of_profile(case.profile)?;
    case.settings.iter().try_for_each(|setting| config.set(setting))?;
    let mut setup = Setup::new(case.cpus);
    let build = |load: &String| load::parse(load)?.build(&mut setup);
    let built = case.loads.iter().map(build).collect::<Result<Vec<_>, _>>()?;
    case.groups.make(&mut setup);
    let trace = if case.recorded { Tracing::Everything } else { Tracing::Off };
    let options = RunOptions { duration: case.simulated, trace, ..RunOptions::default() };
    let machine = Machine::new(spec, config, setup, options)?;
    let start = clock();
    let outcome = machine.run()?;
    let seconds = clock() - start;
    drop(built);
    Ok(Measured { outcome, seconds })
}

/// The fastest of five runs.
fn best(case: &Case) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut best = once(case, thread_seconds)?;
    for _ in 0..4 {
        let again = once(case, thread_seconds)?;
        if again.seconds < best.seconds {
            best = again;
        }
    }
    let note = case
        .reference
        .map_or(String::new(), |r| format!("{:>6.1} {:>6.0} %", r, 100.0 * best.million_per_second() / r));
    println!(
        "{:<24} {:>4} CPUs {:>9} events {:>6.2} M/s {:>5.0} ns {note}",
        case.name,
        case.cpus,
        best.outcome.events,
        best.million_per_second(),
        best.ns_per_event(),
    );
    Ok(best)
}

/// The fastest of five runs of the engine alone, with the events of [`cyclictest`].
fn bare_ns_per_event(cpus: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let simulated = cyclictest(cpus).simulated;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let spec = MachineSpec::builtin("seed001")?.with_cpus(cpus)?;
        let start = thread_seconds();
        let events = machine::bare_engine(spec, simulated);
        best = best.min((thread_seconds() - start) * 1e9 / events as f64);
    }
    Ok(best)
}

/// Of everything this process has run so far.
fn print_peak_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("unknown");
    println!("peak resident memory so far: {}", peak.trim());
}

/// The common load with fair tasks, and how its cost grows with the machine.
fn print_common(profile: &'static str) -> Result<(), Box<dyn std::error::Error>> {
    for cpus in [1, 4, 40] {
        best(&common(profile, cpus))?;
    }
    let eight = best(&common(profile, 8))?;
    let many = best(&common(profile, 512))?;
    let ratio = many.ns_per_event() / eight.ns_per_event();
    println!("cost per event, {profile}, fair, 512 CPUs : 8 CPUs = {ratio:.2}");
    let eight = best(&ideal(profile, 8))?;
    let many = best(&ideal(profile, 512))?;
    let ratio = many.ns_per_event() / eight.ns_per_event();
    println!("cost per event, {profile}, fair, no costs, 512 CPUs : 8 CPUs = {ratio:.2}");
    Ok(())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    println!("load, CPUs, events, million events per second of a core, ns per event, reference, ratio to it");
    for (cpus, reference) in [(1, 7.4), (4, 5.2), (8, 4.8), (40, 3.5)] {
        best(&periodic(cpus, Some(reference)))?;
    }
    print_peak_memory();
    for profile in ["6.1", "6.18"] {
        print_common(profile)?;
    }
    let eight = best(&cyclictest(8))?;
    let forty = best(&cyclictest(40))?;
    println!(
        "cost per event, 40 CPUs : the engine without a scheduler = {:.2}",
        forty.ns_per_event() / bare_ns_per_event(40)?
    );
    let many = best(&cyclictest(512))?;
    println!("cost per event, 512 CPUs : 8 CPUs = {:.2}", many.ns_per_event() / eight.ns_per_event());
    let few = best(&fair(50))?;
    let thousand = best(&fair(1000))?;
    println!("cost per event, 1000 fair tasks : 50 = {:.2}", thousand.ns_per_event() / few.ns_per_event());
    let most = best(&fair(100_000))?;
    println!("cost per event, 100000 fair tasks : 50 = {:.2}", most.ns_per_event() / few.ns_per_event());
    best(&idle(256))?;
    best(&oltp(256, "pgsql"))?;
    best(&oltp(256, "mysql"))?;
    let flat = best(&grouped(Grouping::Flat))?;
    let deep = best(&grouped(Grouping::Thousand))?;
    println!(
        "cost per event, three levels of groups : none = {:.2}",
        deep.ns_per_event() / flat.ns_per_event()
    );
    best(&limited(10_000))?;
    print_recording(common("6.18", 8))?;
    print_recording(cyclictest(8))?;
    for how in ["pull", "push"] {
        let case = herd(how);
        let speed = case.simulated.0 as f64 / 1e9 / best(&case)?.seconds;
        println!("{}: {speed:.2} times real time", case.name);
    }
    Ok(())
}

/// What it costs to record all that explanations need.
fn print_recording(case: Case) -> Result<(), Box<dyn std::error::Error>> {
    let plain = best(&case)?;
    let recorded = best(&Case { recorded: true, ..case })?;
    let ratio = recorded.ns_per_event() / plain.ns_per_event();
    println!("cost per event, recorded : not = {ratio:.2}");
    Ok(())
}

/// The case that a name and a number stand for.
fn named(words: &[String]) -> Result<Case, Box<dyn std::error::Error>> {
    let usage = "--once and --timed need a case and a number: periodic, common-4.1, common-6.1, common-6.18, \
                 ideal-6.1, ideal-6.18, idle or cyclictest and CPUs, fair and tasks, oltp (pgsql) or mysql \
                 and clients, groups and 0 or 1, limited and groups; or herd and pull or push; and recorded behind that, for a run with its log";
    let (words, recorded) = match words {
        [words @ .., last] if last == "recorded" => (words, true),
        words => (words, false),
    };
    let [name, number] = words else { return Err(usage.into()) };
    let case = match (name.as_str(), number.as_str()) {
        ("herd", "pull") => herd("pull"),
        ("herd", "push") => herd("push"),
        _ => numbered(name, number.parse()?).ok_or(usage)?,
    };
    Ok(Case { recorded, ..case })
}

/// Runs a case once.
fn run_once(case: &Case) -> Result<(), Box<dyn std::error::Error>> {
    // Not all profilers know this clock.
    println!("{} events", once(case, || 0.0)?.outcome.events);
    Ok(())
}

fn numbered(name: &str, number: usize) -> Option<Case> {
    Some(match name {
        "periodic" => periodic(number, None),
        "common-4.1" if number > 0 => common("4.1", number),
        "common-6.1" if number > 0 => common("6.1", number),
        "common-6.18" if number > 0 => common("6.18", number),
        "ideal-6.1" if number > 0 => ideal("6.1", number),
        "ideal-6.18" if number > 0 => ideal("6.18", number),
        "idle" => idle(number),
        "cyclictest" => cyclictest(number),
        "fair" => fair(number),
        "oltp" => oltp(number, "pgsql"),
        "mysql" => oltp(number, "mysql"),
        "groups" if number == 0 => grouped(Grouping::Flat),
        "groups" => grouped(Grouping::Thousand),
        "limited" => limited(number),
        _ => return None,
    })
}

fn main() -> ExitCode {
    // What else is in front of these words is cargo's.
    let words: Vec<String> =
        std::env::args().skip_while(|word| word != "--once" && word != "--timed").collect();
    let result = match words.split_first() {
        None => run(),
        Some((how, case)) => named(case).and_then(|case| match how.as_str() {
            "--timed" => best(&case).map(drop),
            _ => run_once(&case),
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("events: {error}");
            ExitCode::FAILURE
        }
    }
}
