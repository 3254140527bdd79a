//! CPUs that read from the same memory wait for each other (machine.md 6.4).

use crate::script::{Clock, ms, script, us};
use machine::{Machine, MachineSpec, Memory, RunOptions, Setup, Step, TaskSpec};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Topology};

fn machine(cpus: usize, memory: Option<Memory>) -> MachineSpec {
    let mut spec = MachineSpec::ideal(Topology::flat(cpus));
    spec.memory = memory;
    spec
}

/// That of M34: a CPU alone reads 25 bytes in a nanosecond, all together 28.
const MEMORY: Memory = Memory { cpu_bytes_per_us: 25_000, node_bytes_per_us: 28_000 };

/// A task of a CPU that reads so much while it executes.
fn reader<const N: usize>(cpu: u16, reads: u32, steps: [Step; N]) -> (TaskSpec, Clock) {
    let (spec, clock) = script("reader", steps);
    (TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), reads_bytes_per_us: reads, ..spec }, clock)
}

fn run(spec: MachineSpec, tasks: impl IntoIterator<Item = (Nanos, TaskSpec)>) {
    let mut setup = Setup::new(spec.cpus());
    tasks.into_iter().for_each(|(at, task)| {
        setup.spawn(at, task);
    });
    let config = Config::of_profile("6.1").expect("a profile");
    let options = RunOptions { duration: Nanos::from_secs(1), check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
}

fn end(clock: &Clock) -> Nanos {
    clock.borrow().last().copied().expect("it has run")
}

/// When 10 ms of work end of which each reads so much, beside 10 ms of another one's.
fn beside(memory: Option<Memory>, own: u32, other: u32) -> [Nanos; 2] {
    let tasks = [reader(0, own, [Step::Compute(ms(10))]), reader(1, other, [Step::Compute(ms(10))])];
    let clocks = [&tasks[0].1, &tasks[1].1].map(Clock::clone);
    run(machine(2, memory), tasks.map(|(task, _)| (Nanos::ZERO, task)));
    clocks.map(|clock| end(&clock))
}

/// M34: each runs at 0.56.
#[test]
fn two_streams_get_little_more_done_than_one() {
    let both = Nanos(17_857_143);
    assert_eq!(beside(Some(MEMORY), 25_000, 25_000), [both; 2]);
    // Twice as much memory is enough for both; a machine that says nothing has enough.
    let doubled = Memory { node_bytes_per_us: 56_000, ..MEMORY };
    assert_eq!(beside(Some(doubled), 25_000, 25_000), [ms(10); 2]);
    assert_eq!(beside(None, 25_000, 25_000), [ms(10); 2]);
}

/// Who reads nothing is not slowed, and slows nobody.
#[test]
fn who_reads_nothing_has_nothing_to_do_with_it() {
    assert_eq!(beside(Some(MEMORY), 25_000, 0), [ms(10); 2]);
}

/// As long as somebody else reads: 2 ms alone, 6 ms at 0.56, the rest alone.
#[test]
fn work_goes_on_at_full_speed_when_the_others_have_read() {
    let (a, a_clock) = reader(0, 25_000, [Step::Compute(ms(10))]);
    let (b, b_clock) = reader(1, 25_000, [Step::Compute(us(3_360))]);
    run(machine(2, Some(MEMORY)), [(Nanos::ZERO, a), (ms(2), b)]);
    assert_eq!([end(&a_clock), end(&b_clock)], [us(12_640), ms(8)]);
}

/// What the kernel charges, a marker's system call here, does not read.
#[test]
fn the_kernels_own_work_does_not_wait() {
    let mut spec = machine(2, Some(MEMORY));
    spec.costs.syscall = us(10);
    let (a, clock) = reader(0, 25_000, [Step::Marker("now".into()), Step::Compute(us(560))]);
    let (hog, _) = reader(1, 25_000, [Step::Compute(ms(20))]);
    run(spec, [(Nanos::ZERO, hog), (ms(1), a)]);
    let times: Vec<Nanos> = clock.borrow().iter().map(|at| *at - ms(1)).collect();
    assert_eq!(times, [Nanos::ZERO, us(10), us(1_010)]);
}

/// A cold working set is fetched the slower the more the others read: 1 ms alone, 50/28 of it beside two.
#[test]
fn what_caches_have_lost_is_fetched_as_slowly() {
    let mut spec = machine(3, Some(MEMORY));
    spec.cache.refill_ps_per_byte = 1_000;
    let fetched = |readers: u16| {
        let (cold, clock) = script("cold", [Step::Compute(ms(1))]);
        let cpus = Some(CpuMask::single(CpuId(2)));
        let cold = TaskSpec { cpus, working_set_bytes: 1_000_000, ..cold };
        let readers = (0..readers).map(|cpu| (Nanos::ZERO, reader(cpu, 25_000, [Step::Compute(ms(20))]).0));
        run(spec.clone(), readers.chain([(ms(1), cold)]));
        end(&clock) - ms(2)
    };
    assert_eq!([fetched(0), fetched(1), fetched(2)], [ms(1), ms(1), Nanos(1_785_700)]);
}
