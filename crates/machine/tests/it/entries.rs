//! Every entry of a machine file does what it is for: doubled, it moves the figures that it is for, and no
//! others. A new entry has to have a row here, or to say why it has none.

use crate::figures::{ALL, Figure, Figure::*, Stage, figure};
use crate::script::{Clock, fifo, ms, run_with, script, us};
use machine::{ColdPath, MachineSpec, Noise, Operation, RunOptions, Setup, Spread, Step, Stretch};
use scheduler::{CpuId, CpuMask, Nanos, Topology};

/// What becomes of the first figure of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Grows,
    Falls,
    /// The row is there because the file must have the entry; [`ELSEWHERE`] says why it moves nothing here.
    Unmoved,
}

use Way::*;

/// An entry of the machine of these tests.
struct Row {
    entry: &'static str,
    /// That of its value.
    unit: &'static str,
    value: u64,
    way: Way,
    /// What it moves; first what it is for.
    moves: &'static [Figure],
}

const fn row(entry: &'static str, unit: &'static str, value: u64, way: Way, moves: &'static [Figure]) -> Row {
    Row { entry, unit, value, way, moves }
}

/// All that these loads use. Most costs are those of a wakeup, and nearly everything begins with one.
const ROWS: &[Row] = &[
    row("rcu_callback", "ns", 25_000, Grows, &[Callbacks]),
    row(
        "costs.schedule",
        "ns",
        1_000,
        Grows,
        &[Messages, Timer, Idle, ToSibling, ToCore, ToCache, ToNode, Asked, Exit, ThreadExit, Lends, Starts],
    ),
    row(
        "costs.context_switch",
        "ns",
        1_010,
        Grows,
        &[Messages, Timer, Idle, ToSibling, ToCore, ToCache, ToNode, Asked, Exit, ThreadExit, Lends, Starts],
    ),
    row(
        "costs.enqueue",
        "ns",
        1_020,
        Grows,
        &[
            Messages, Timer, Idle, ToSibling, ToCore, ToCache, ToNode, Fork, Thread, Exit, ThreadExit, Lends,
            Starts,
        ],
    ),
    row("costs.dequeue", "ns", 1_030, Grows, &[Messages, Asked, Exit, ThreadExit, Lends]),
    row(
        "costs.wakeup",
        "ns",
        1_040,
        Grows,
        &[Timer, Idle, ToSibling, ToCore, ToCache, ToNode, Messages, Fork, Thread, Exit, ThreadExit, Lends],
    ),
    row("costs.tick", "ns", 1_050, Grows, &[Computes, Callbacks, Asked, BesideSibling]),
    row("costs.scan_cpu", "ns", 10, Grows, &[Starts, BesideSibling]),
    row("costs.scan_task", "ns", 20, Unmoved, &[]),
    row("costs.set_prio", "ns", 1_060, Grows, &[Lends]),
    row(
        "costs.irq_entry",
        "ns",
        1_070,
        Grows,
        &[
            Timer,
            Idle,
            ToSibling,
            ToCore,
            ToCache,
            ToNode,
            Asked,
            Computes,
            Callbacks,
            BesideSibling,
            Lends,
            Starts,
        ],
    ),
    row(
        "costs.irq_exit",
        "ns",
        1_080,
        Grows,
        &[
            Timer,
            Idle,
            ToSibling,
            ToCore,
            ToCache,
            ToNode,
            Asked,
            Computes,
            Callbacks,
            BesideSibling,
            Lends,
            Starts,
        ],
    ),
    row("costs.timer_expiry", "ns", 1_090, Grows, &[Timer, Idle, Lends]),
    row(
        "costs.syscall",
        "ns",
        1_100,
        Grows,
        &[
            Messages, ToSibling, ToCore, ToCache, ToNode, Asked, Fork, Thread, Exec, Wait, Exit, ThreadExit,
            Lends,
        ],
    ),
    row("costs.timer_program", "ns", 1_110, Grows, &[Timer, Idle, Messages, Lends]),
    row("costs.fork", "ns", 20_000, Grows, &[Fork]),
    row("costs.thread_create", "ns", 10_000, Grows, &[Thread, ThreadExit]),
    row("costs.exec", "ns", 30_000, Grows, &[Exec]),
    row("costs.exit", "ns", 15_000, Grows, &[Exit, Asked]),
    row("costs.thread_exit", "ns", 12_000, Grows, &[ThreadExit]),
    row("costs.wait", "ns", 2_000, Grows, &[Wait, Exit]),
    row(
        "costs.lock_uncontended",
        "ns",
        30,
        Grows,
        &[
            Messages,
            Timer,
            Idle,
            ToSibling,
            ToCore,
            ToCache,
            ToNode,
            Asked,
            Computes,
            Callbacks,
            BesideSibling,
            Fork,
            Thread,
            Exit,
            ThreadExit,
            Lends,
            Starts,
        ],
    ),
    row("costs.ipi_send", "ns", 500, Grows, &[ToCore, ToSibling, ToCache, ToNode, Asked, BesideSibling]),
    row("costs.idle_exit", "ns", 3_000, Grows, &[Idle, ToSibling, ToCore, ToCache, ToNode, Starts]),
    row("costs.ticket_spinner_percent", "percent", 30, Unmoved, &[]),
    row("costs.ipi_stolen_percent", "percent", 40, Grows, &[Asked]),
    row("costs.ipi.own", "ns", 1_300, Unmoved, &[]),
    row("costs.ipi.smt", "ns", 1_500, Grows, &[ToSibling]),
    row("costs.ipi.shared_cache", "ns", 1_700, Grows, &[ToCore, Asked]),
    row("costs.ipi.same_node", "ns", 1_900, Grows, &[ToCache]),
    row("costs.ipi.other_node", "ns", 2_100, Grows, &[ToNode]),
    row(
        "costs.line.own",
        "ns",
        3,
        Grows,
        &[
            Messages,
            Timer,
            Idle,
            ToSibling,
            ToCore,
            ToCache,
            ToNode,
            Asked,
            BesideSibling,
            Fork,
            Thread,
            Exit,
            ThreadExit,
            Lends,
            Starts,
        ],
    ),
    row(
        "costs.line.smt",
        "ns",
        11,
        Grows,
        &[ToSibling, Timer, Idle, ToCore, ToCache, ToNode, Messages, BesideSibling, Exit, ThreadExit, Lends],
    ),
    row("costs.line.shared_cache", "ns", 31, Grows, &[ToCore, Asked]),
    row("costs.line.same_node", "ns", 73, Grows, &[ToCache]),
    row("costs.line.other_node", "ns", 151, Grows, &[ToNode]),
    row(
        "cache.refill_ps_per_byte",
        "ps",
        200,
        Grows,
        &[Refills, Asked, Computes, Callbacks, BesideSibling, Lends, MovesToCore, MovesToSibling],
    ),
    row("cache.tau", "ns", 3_000_000, Falls, &[Refills, Asked]),
    row("cache.shared_cache_lost_percent", "percent", 30, Grows, &[MovesToCore]),
    row("cache.smt_lost_percent", "percent", 10, Grows, &[MovesToSibling]),
    row("cold.path", "ns", 4_000, Grows, &[Timer, Idle, Lends]),
    row("cold.bytes", "bytes", 500_000, Falls, &[Timer, Lends]),
    row("cold.halted", "ns", 5_000_000, Falls, &[Idle]),
    row("speed.smt_busy_percent", "percent", 40, Falls, &[BesideSibling]),
    row("memory.cpu", "bytes_per_us", 10_000, Falls, &[BesideReader]),
    row("memory.node", "bytes_per_us", 24_000, Falls, &[BesideReader]),
    row("noise.thread_start", "", 90_000, Grows, &[Starts]),
    row("noise.timer_delivery", "", 7_000, Grows, &[Timer, Idle]),
    row("noise.spin_overshoot", "", 5_000, Grows, &[Spins]),
];

/// A file with these entries, one of them doubled: four cores of two hardware threads, of which the first two
/// share a cache, and the last is a node of its own.
fn machine(doubled: Option<&str>) -> MachineSpec {
    let mut text = String::from(
        "name = \"rows\"\nmeaning = \"m\"\nidle_monitor = { by = \"hlt\", origin = \"assumed: a test\" }\n",
    );
    let mut table = "";
    for &Row { entry, unit, value, .. } in ROWS {
        let (of, key) = entry.rsplit_once('.').unwrap_or(("", entry));
        if of != table {
            text += &format!("[{of}]\n");
            table = of;
        }
        let value = if doubled == Some(entry) { 2 * value } else { value };
        let unit = if unit.is_empty() { "ns" } else { unit };
        text += &format!("{key} = {{ {unit} = {value}, origin = \"assumed: a test\" }}\n");
    }
    text += "[topology]\ncpus = 8\n\
         levels = [\n{ kind = \"smt\", spans = [\"0-1\", \"2-3\", \"4-5\", \"6-7\"] },\n\
         { kind = \"mc\", spans = [\"0-3\", \"4-5\", \"6-7\"] },\n\
         { kind = \"package\", spans = [\"0-5\", \"6-7\"] },\n\
         { kind = \"numa\", distance = 20, spans = [\"0-7\"] },\n]\norigin = \"assumed: a test\"\n";
    MachineSpec::parse(&text, "rows").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Why an entry has no row that moves something, and where it is tested.
const ELSEWHERE: &[(&str, &str)] = &[
    ("idle_monitor", "no figure; M19, in `idle`"),
    ("idle.governor", "no figure: `idle_states`"),
    ("idle.states", "a list of entries: `idle_states`, each figure doubled"),
    ("topology", "no figure"),
    ("costs.scan_task", "only crowds show it: `what_only_a_crowd_shows`"),
    ("costs.ticket_spinner_percent", "kernels up to 4.1: the unit tests of `hardware/locks`"),
    ("costs.ipi.own", "no load here interrupts its own CPU: `an_interrupt_of_the_own_cpu`"),
    ("speed.cpus", "a list of entries: `unequal` and `speeds`"),
    ("frequency.domains", "a list of entries: `frequencies`"),
    ("noise.timer_jitter", "in place of timer_delivery: `noise`, by all figures"),
    ("noise.irq_off", "a list of entries: `noise`"),
    ("noise.kthread", "a list of entries: `noise`"),
    ("kernel.rwsem.mapping_hold", "loops on two CPUs, and chance: `rwsem`"),
    ("kernel.rwsem.address_space_hold", "loops on two CPUs, and chance: `rwsem`"),
];

#[test]
fn every_entry_has_a_row_or_a_reason() {
    let entries = MachineSpec::entries();
    for entry in &entries {
        let moves = ROWS.iter().any(|row| row.entry == entry && row.way != Unmoved);
        let reason = ELSEWHERE.iter().any(|(of, _)| of == entry);
        // The six figures of a stretch: `stretches`, each doubled; M23 and M24 in `preemption`.
        let is_stretch = entry.starts_with("kernel.stretch.");
        let rows = usize::from(moves) + usize::from(reason) + usize::from(is_stretch);
        assert_eq!(rows, 1, "{entry} has neither a row nor a reason, or both");
    }
    let known = |entry: &str| entries.iter().any(|e| e == entry);
    let named = ROWS.iter().map(|row| row.entry).chain(ELSEWHERE.iter().map(|(of, _)| *of));
    named.for_each(|entry| assert!(known(entry), "{entry} is no entry"));
}

#[test]
fn an_entry_moves_the_figures_that_it_is_for_and_no_others() {
    let of = |spec: &MachineSpec| ALL.map(|f| figure(f, spec));
    let base = of(&machine(None));
    for Row { entry, way, moves, .. } in ROWS {
        let doubled = of(&machine(Some(entry)));
        let changed = ALL.into_iter().zip(base.iter().zip(&doubled)).filter(|(_, (a, b))| a != b);
        let mut expected = moves.to_vec();
        expected.sort_unstable();
        assert_eq!(changed.map(|(f, _)| f).collect::<Vec<_>>(), expected, "{entry}");
        if let Some(first) = moves.first() {
            let (before, after) = (base[*first as usize], doubled[*first as usize]);
            assert_eq!(after > before, *way == Grows, "{entry}: {first:?} was {before}, and is {after}");
        }
    }
}

/// Up to 4.1 a task that gives up its CPU is moved by an interrupt of its own one (rule `stopper`), which
/// takes its way; who waits for the CPU has it so much later. Since then a thread does it: nobody sends
/// anything.
#[test]
fn an_interrupt_of_the_own_cpu() {
    let left_at = |kernel: &str, own: Nanos| {
        let mut spec = MachineSpec::ideal(Topology::flat(2));
        spec.costs.ipi.own = own;
        let away = Step::SetAffinity { target: None, cpus: Box::new(CpuMask::single(CpuId(1))) };
        let mut setup = Setup::new(2);
        let (mut moves, _) = script("moves", [Step::Compute(ms(1)), away, Step::Compute(ms(1))]);
        moves.policy = fifo(50);
        setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), moves);
        let (mut waits, clock) = script("waits", [Step::Compute(us(1))]);
        (waits.policy, waits.cpus) = (fifo(40), Some(CpuMask::single(CpuId(0))));
        setup.spawn_on(us(500), Some(CpuId(0)), waits);
        run_with(spec, kernel, setup, RunOptions { check: true, ..RunOptions::default() }).expect("a run");
        clock.borrow()[0]
    };
    assert_eq!(left_at("3.3", us(4)).0 - left_at("3.3", us(2)).0, 2_000);
    assert_eq!(left_at("6.1", us(4)), left_at("6.1", us(2)));
    // What it is for, and no other: the figures above do not know it.
    let of = |own| {
        let mut spec = machine(None);
        spec.costs.ipi.own = own;
        ALL.map(|f| figure(f, &spec))
    };
    assert_eq!(of(us(1)), of(us(2)));
}

/// machine.md MI11: what is there and costs nothing changes nothing, to the nanosecond.
#[test]
fn mi11_what_costs_nothing_leaves_no_trace() {
    let of = |change: &dyn Fn(&mut MachineSpec)| {
        let mut spec = machine(None);
        (spec.cold, spec.noise) = (None, Noise::default());
        change(&mut spec);
        ALL.map(|f| figure(f, &spec))
    };
    let base = of(&|_| {});
    let cold = |path| Some(ColdPath { path, bytes: 500_000, halted: ms(5) });
    let late = |by| Some(Spread::Constant(by));
    let piece =
        |atomic_percent| Stretch { points: None, atomic_percent, atomic_mean: us(100), atomic_max: us(100) };
    assert_eq!(of(&|spec| spec.cold = cold(Nanos::ZERO)), base, "no heat");
    assert_eq!(of(&|spec| spec.noise.timer_jitter = late(Nanos::ZERO)), base, "no noise");
    assert_eq!(of(&|spec| spec.noise.spin_overshoot = late(Nanos::ZERO)), base, "no noise");
    let pieces = |spec: &mut MachineSpec| {
        Operation::ALL.into_iter().for_each(|operation| spec.stretches.set(operation, piece(0)));
    };
    assert_eq!(of(&pieces), base, "no pieces");
    // And what costs something does.
    assert_ne!(of(&|spec| spec.cold = cold(us(1))), base);
    assert_ne!(of(&|spec| spec.noise.timer_jitter = late(us(1))), base);
    assert_ne!(of(&|spec| spec.noise.spin_overshoot = late(us(20))), base);
}

/// Hogs that all begin on one CPU, from which others take some: when they end, added up.
#[test]
fn what_only_a_crowd_shows() {
    let ends = |scan_task| {
        let mut stage = Stage::new(&MachineSpec::ideal(Topology::flat(8)));
        stage.spec.costs.scan_task = scan_task;
        let clocks: Vec<Clock> = (0..40)
            .map(|_| {
                let (task, clock) = script("hog", [Step::Compute(ms(10))]);
                stage.setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), task);
                clock
            })
            .collect();
        stage.run();
        clocks.iter().map(|clock| clock.borrow()[1]).sum::<Nanos>()
    };
    assert!(ends(us(2)) > ends(us(1)), "{}, {}", ends(us(2)), ends(us(1)));
}
