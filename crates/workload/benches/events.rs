//! Events (wakeups + context switches, those to idle included) per second of one core.
//!
//! The core's time is that of this thread, so that what else a machine does falls into it less.
//!
//! The figures to reach were measured with the fastest simulator known, the kernel's own C with no-op locks, which
//! charges nothing for locks, caches and interrupts. Everything here is charged. Ratios are taken within one run.
//!
//! `-- --once periodic 8` (or `cyclictest 512`, `fair 1000`, `oltp 256`) runs one case once and prints its number of events: for
//! profilers, which count instructions and cache misses where the clock of a busy machine says little.

use machine::{Machine, MachineSpec, Outcome, RunOptions, Setup};
use rustix::time::{ClockId, clock_gettime};
use scheduler::Nanos;
use scheduler::registry::Config;
use std::process::ExitCode;
use workload::load;

/// One load on one machine.
struct Case {
    name: &'static str,
    machine: &'static str,
    cpus: usize,
    profile: &'static str,
    load: String,
    simulated: Nanos,
    /// Million events per second of the kernel's own C.
    reference: Option<f64>,
}

/// The field's common load: 2N periodic tasks on N CPUs, profile 3.3.
fn periodic(cpus: usize, reference: Option<f64>) -> Case {
    Case {
        name: "periodic --bench",
        machine: "seed001",
        cpus,
        profile: "3.3",
        load: "periodic --bench".into(),
        simulated: Nanos::from_millis(24_000 / cpus as u64),
        reference,
    }
}

fn cyclictest(cpus: usize) -> Case {
    Case {
        name: "cyclictest -S -i100",
        machine: "seed001",
        cpus,
        profile: "6.1",
        load: "cyclictest -p95 -i100 -S -q".into(),
        // Long enough that what is made once (histograms, tables) does not count.
        simulated: Nanos::from_secs(4),
        reference: None,
    }
}

fn fair(tasks: usize) -> Case {
    Case {
        name: "1000 or 50 fair tasks",
        machine: "laptop",
        cpus: 8,
        profile: "6.1",
        load: format!("periodic -n {tasks} -p 10ms -r {}us", 60_000 / tasks),
        simulated: Nanos::from_millis(if tasks > 100 { 2_000 } else { 40_000 }),
        reference: None,
    }
}

/// Clients and servers of a database with user-space locks: two switches and two wakeups a request, some thirty steps.
fn oltp(clients: usize, database: &str) -> Case {
    Case {
        name: if database == "pgsql" { "oltp --db pgsql" } else { "oltp --db mysql" },
        machine: "seed004",
        cpus: 4,
        profile: "tip+",
        load: format!("oltp --db {database} --clients {clients} --time 10s"),
        simulated: Nanos::from_secs(4),
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

fn once(case: &Case) -> Result<Measured, Box<dyn std::error::Error>> {
    let spec = MachineSpec::builtin(case.machine)?.with_cpus(case.cpus)?;
    let config = Config::of_profile(case.profile)?;
    let mut setup = Setup::new(case.cpus);
    let built = load::parse(&case.load)?.build(&mut setup)?;
    let options = RunOptions { duration: case.simulated, ..RunOptions::default() };
    let machine = Machine::new(spec, config, setup, options)?;
    let start = thread_seconds();
    let outcome = machine.run()?;
    let seconds = thread_seconds() - start;
    drop(built);
    Ok(Measured { outcome, seconds })
}

/// The fastest of five runs.
fn best(case: &Case) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut best = once(case)?;
    for _ in 0..4 {
        let again = once(case)?;
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

fn run() -> Result<(), Box<dyn std::error::Error>> {
    println!("load, CPUs, events, million events per second of a core, ns per event, reference, ratio to it");
    for (cpus, reference) in [(1, 7.4), (4, 5.2), (8, 4.8), (40, 3.5)] {
        best(&periodic(cpus, Some(reference)))?;
    }
    print_peak_memory();
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
    best(&oltp(256, "pgsql"))?;
    best(&oltp(256, "mysql"))?;
    Ok(())
}

/// Runs the case that the words after `--once` name.
fn run_once(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let usage = "--once needs a case and a number: periodic or cyclictest and CPUs, fair and tasks, oltp (pgsql) \
                 or mysql and clients";
    let [name, number] = words else { return Err(usage.into()) };
    let number: usize = number.parse()?;
    let case = match name.as_str() {
        "periodic" => periodic(number, None),
        "cyclictest" => cyclictest(number),
        "fair" => fair(number),
        "oltp" => oltp(number, "pgsql"),
        "mysql" => oltp(number, "mysql"),
        _ => return Err(usage.into()),
    };
    println!("{} events", once(&case)?.outcome.events);
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--once").skip(1).collect();
    match if words.is_empty() { run() } else { run_once(&words) } {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("events: {error}");
            ExitCode::FAILURE
        }
    }
}
