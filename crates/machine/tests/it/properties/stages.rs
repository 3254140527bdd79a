//! Runs that are made for certain switches, where random ones would be long in coming.

use super::scenario::{Budget, Op, Plan, Price, Scenario, Shape, SoftirqPlan, TaskPlan};

/// All of them, the quickest first.
pub fn stages() -> Vec<Scenario> {
    vec![
        lowered(),
        deboosted(),
        round_robin(),
        second_highest(),
        late_deadline_task(),
        lone_deadline_task(),
        reclaims_beside_a_large_reservation(),
        leaves_and_another_enters(),
        starved(),
        idle_before_real_time(),
        asked_in_a_soft_interrupt(),
        messenger(),
        unbelieved_hint(),
        real_time_hogs(),
        bursts(),
        real_time_for_a_while(),
        bound_worker(),
        often_idle(),
        always_running(),
        too_much_for_what_is_left(),
        above_the_average(),
        few_allowed(),
        clusters(),
        does_not_fit(),
        preferred_cores(),
        asks_for_more(),
        little_to_gain(),
        wakes_beside_a_better_cpu(),
        two_failures_too_heavy(),
        slices(Op::Run(600)),
        slices(Op::Kernel(4_000)),
        storm(Shape::Flat(3)),
        storm(FOUR_BY_THREE),
        writers(),
    ]
}

/// Tasks on near and far CPUs that write into a pipe all the time.
fn writers() -> Scenario {
    let rounds = |n: u32| (0..40).flat_map(|_| [Op::Write(1), Op::Run(3 + n)]).collect();
    let tasks = (0..12u32).map(|n| task(Plan::Fifo(1 + (n % 3) as u8), n, rounds(n)));
    stage(FOUR_BY_THREE, Price::Usual, tasks.collect())
}

/// A task that runs all the time on the smaller of two CPUs, as the other one is busy at first.
fn does_not_fit() -> Scenario {
    let first = task(Plan::Normal, 0, vec![Op::Run(4_000); 5]);
    let tasks = vec![first.clone(), TaskPlan { ops: vec![Op::Run(4_000); 50], ..first }];
    stage(Shape::Unequal { small: 1, large: 1 }, Price::Free, tasks)
}

/// Hogs that end one after the other on large and small cores.
fn preferred_cores() -> Scenario {
    let hog = |n: usize| task(Plan::Normal, 0, vec![Op::Run(4_000); 10 + 7 * n]);
    stage(Shape::Hybrid { large: 2, small: 3 }, Price::Free, (0..7).map(hog).collect())
}

/// A light task that asks for more than the smaller of two CPUs is worth, then for a little more than a fifth
/// less than that: there it fits, but for the margin.
fn asks_for_more() -> Scenario {
    let light = || vec![Op::Run(500), Op::Sleep(4_000)];
    let asks = |min, max| vec![Op::Clamps(min, max)];
    let ops = [asks(Some(600), None), light(), light(), asks(Some(0), Some(400)), vec![Op::Run(4_000); 20]];
    let tasks = vec![task(Plan::Normal, 0, [ops.concat(), light()].concat())];
    stage(Shape::Unequal { small: 1, large: 1 }, Price::Free, tasks)
}

/// Light tasks on a CPU of each kind, and one that wakes now here, now there.
fn little_to_gain() -> Scenario {
    let rounds = |run, sleep| (0..60).flat_map(|_| [Op::Run(run), Op::Sleep(sleep)]).collect();
    let tasks = [(300, 2_000), (900, 3_000), (150, 1_300), (700, 5_000)];
    let tasks = tasks.map(|(run, sleep)| task(Plan::Normal, run, rounds(run, sleep)));
    stage(Shape::Unequal { small: 2, large: 2 }, Price::Free, tasks.into())
}

/// A real-time task that wakes on the smaller of two CPUs, or on the other one.
fn wakes_beside_a_better_cpu() -> Scenario {
    let sleeps = task(Plan::Fifo(5), 0, vec![Op::Run(500), Op::Sleep(1_000), Op::Run(500)]);
    stage(Shape::Unequal { small: 1, large: 1 }, Price::Free, vec![sleeps])
}

const FOUR_BY_THREE: Shape = Shape::Nodes { nodes: 4, cpus: 3, far: false };

fn task(policy: Plan, start: u32, ops: Vec<Op>) -> TaskPlan {
    TaskPlan { policy, nice: 0, cpus: u16::MAX, start, ops }
}

fn stage(shape: Shape, price: Price, tasks: Vec<TaskPlan>) -> Scenario {
    // A base, so that each switch decides what of later kernels is there.
    let settings = ["BASE_SLICE", "TTWU_QUEUE"].map(str::to_owned).into();
    let (kernel, later) = ("fair-base-2.6.36", Vec::new());
    Scenario { shape, price, kernel, settings, later, mutexes: vec![true], tasks, softirq: None, seed: 1 }
}

/// A waiting task is lowered to an equal that waits longer.
fn lowered() -> Scenario {
    let lowers = vec![Op::Run(500), Op::Policy { whose: Some(1), policy: Plan::Fifo(3) }, Op::Run(100)];
    let tasks = vec![
        task(Plan::Fifo(9), 0, lowers),
        task(Plan::Fifo(6), 200, vec![Op::Run(300)]),
        task(Plan::Fifo(3), 100, vec![Op::Run(300)]),
    ];
    stage(Shape::Flat(1), Price::Free, tasks)
}

/// The running task loses what it inherited while an equal waits.
fn deboosted() -> Scenario {
    let locks = |run| vec![Op::Locked { set: 1, run, sleep: 0 }, Op::Run(300)];
    let tasks = vec![
        task(Plan::Fifo(3), 0, locks(500)),
        task(Plan::Fifo(3), 100, vec![Op::Run(300)]),
        task(Plan::Fifo(6), 200, locks(10)),
    ];
    stage(Shape::Flat(1), Price::Free, tasks)
}

/// A deadline task that wakes between its deadline and the end of its period.
fn late_deadline_task() -> Scenario {
    let ops = vec![Op::Run(3_000), Op::Sleep(27_000), Op::Run(3_000)];
    stage(Shape::Flat(1), Price::Free, vec![task(Plan::Deadline(Budget(5_000, 20_000, 50_000)), 0, ops)])
}

/// One that uses more than it asked for, and is the only task of two CPUs; it reclaims.
fn lone_deadline_task() -> Scenario {
    let hog = Plan::Reclaiming(Budget(1_000, 10_000, 10_000));
    stage(Shape::Flat(2), Price::Free, vec![task(hog, 0, vec![Op::Run(4_000); 10])])
}

/// A deadline task that reclaims, beside one that uses little of much.
fn reclaims_beside_a_large_reservation() -> Scenario {
    let hog = task(Plan::Reclaiming(Budget(1_000, 10_000, 10_000)), 0, vec![Op::Run(4_000); 10]);
    let rests = vec![Op::Run(500), Op::Sleep(30_000), Op::Run(500)];
    let large = task(Plan::Deadline(Budget(8_000, 10_000, 10_000)), 0, rests);
    stage(Shape::Flat(2), Price::Free, vec![hog, large])
}

/// A task leaves the deadline class, and another one wants its bandwidth at once.
fn leaves_and_another_enters() -> Scenario {
    let changes = |policy| Op::Policy { whose: None, policy };
    let own = Plan::Deadline(Budget(6_000, 10_000, 10_000));
    let leaves = vec![Op::Run(1_000), changes(Plan::Normal), Op::Sleep(5_000)];
    let enters = vec![changes(own), Op::Run(1_000)];
    let tasks = vec![task(own, 0, leaves), task(Plan::Normal, 500, enters)];
    stage(Shape::Flat(1), Price::Free, tasks)
}

/// A fair task beside a real-time hog, until it has run for a little; then it sleeps for half a second.
fn starved() -> Scenario {
    let mut ops = vec![Op::Run(4_000); 2];
    ops.push(Op::Sleep(500_000));
    ops.extend(vec![Op::Run(4_000); 5]);
    let tasks = vec![task(Plan::Fifo(5), 0, vec![Op::Run(4_000); 500]), task(Plan::Normal, 100, ops)];
    stage(Shape::Flat(1), Price::Free, tasks)
}

/// A CPU idles after a fair task; then a real-time hog and another fair task come.
fn idle_before_real_time() -> Scenario {
    let tasks = vec![
        task(Plan::Normal, 0, vec![Op::Run(1_000)]),
        task(Plan::Fifo(5), 80_000, vec![Op::Run(4_000); 500]),
        task(Plan::Normal, 90_000, vec![Op::Run(4_000); 5]),
    ];
    stage(Shape::Flat(1), Price::Free, tasks)
}

/// Two real-time tasks wake in a long soft interrupt, and may then run on another CPU, which is lowered again
/// and again.
fn asked_in_a_soft_interrupt() -> Scenario {
    let pinned = |cpus, policy, ops| TaskPlan { cpus, ..task(policy, 0, ops) };
    let wakes = |priority| pinned(1, Plan::Fifo(priority), vec![Op::Sleep(12_000), Op::Run(300)]);
    let free = |whose| Op::Affinity { whose: Some(whose), cpus: u16::MAX };
    let mut lowers = vec![Op::Sleep(13_000), free(1), free(2)];
    lowers.extend((0..50).flat_map(|_| [Op::Run(2), Op::Sleep(20)]));
    let hog = pinned(1, Plan::Normal, vec![Op::Run(4_000); 8]);
    let tasks = vec![hog, wakes(3), wakes(2), pinned(2, Plan::Fifo(50), lowers)];
    let softirq = Some(SoftirqPlan { cpu: 0, every: 10_000, work: 5_000 });
    Scenario { softirq, ..stage(Shape::Flat(2), Price::Free, tasks) }
}

/// Two SCHED_RR tasks of one priority on one CPU.
fn round_robin() -> Scenario {
    let hog = |start| task(Plan::Rr(5), start, vec![Op::Run(4_000); 3]);
    stage(Shape::Flat(1), Price::Free, vec![hog(0), hog(50)])
}

/// A task of priority 98 wakes up where one of 99 runs, and another CPU has nothing to do.
fn second_highest() -> Scenario {
    let hog = TaskPlan { cpus: 1, ..task(Plan::Fifo(99), 3_000, vec![Op::Run(4_000); 3]) };
    let sleeper = task(Plan::Fifo(98), 0, vec![Op::Run(100), Op::Sleep(5_000), Op::Run(300)]);
    stage(Shape::Flat(2), Price::Free, vec![hog, sleeper])
}

/// A task that wakes another one every few microseconds of its CPU time, and sleeps for less than a
/// granularity, beside one that never sleeps.
fn messenger() -> Scenario {
    let writes = (0..60).flat_map(|_| [Op::Write(0), Op::Run(5), Op::Sleep(300)]).collect();
    let hog = task(Plan::Normal, 0, vec![Op::Run(4_000); 60]);
    stage(Shape::Flat(1), Price::Free, vec![task(Plan::Normal, 0, writes), hog])
}

/// A task that was often interrupted, so that nobody expects it to sleep soon, wakes the reader of a pipe on
/// a CPU with so much more to do that only a waker about to sleep could draw it over.
fn unbelieved_hint() -> Scenario {
    let pinned = |cpus, ops| TaskPlan { cpus, ..task(Plan::Normal, 0, ops) };
    let hog = |cpus| pinned(cpus, vec![Op::Run(4_000); 50]);
    let mut ops = vec![Op::Run(4_000); 20];
    ops.extend((0..3).flat_map(|_| [Op::Write(0), Op::Run(10), Op::Sleep(100)]));
    stage(Shape::Flat(2), Price::Free, vec![hog(1), hog(1), hog(2), pinned(2, ops)])
}

/// A real-time task that does not stop, beside CPUs that have unused real-time runtime.
fn real_time_hogs() -> Scenario {
    let hog = task(Plan::Fifo(5), 0, vec![Op::Run(4_000); 15]);
    stage(Shape::Flat(2), Price::Free, vec![hog, task(Plan::Normal, 0, vec![Op::Run(4_000); 5])])
}

/// Tasks that run for long, then sleep for so long that their utilisation has faded when they come back.
fn bursts() -> Scenario {
    let burst = |n: u32| {
        let mut ops = vec![Op::Sleep(7_000 * n)];
        for round in 0..12 {
            ops.extend(vec![Op::Run(4_000); 6]);
            ops.push(Op::Sleep(60_000 + 9_000 * (n * round % 5)));
        }
        task(Plan::Normal, 0, ops)
    };
    stage(Shape::Flat(2), Price::Usual, (0..5).map(burst).collect())
}

/// Tasks that another class serves for a while and that sleep meanwhile, beside hogs.
fn real_time_for_a_while() -> Scenario {
    let hog = task(Plan::Normal, 0, vec![Op::Run(4_000); 150]);
    let changes = |n: u32| {
        let mut ops = vec![Op::Run(4_000 + 500 * n); 8];
        for _ in 0..6 {
            ops.push(Op::Policy { whose: None, policy: Plan::Fifo(1) });
            ops.push(Op::Sleep(40_000));
            ops.push(Op::Policy { whose: None, policy: Plan::Normal });
            ops.extend(vec![Op::Run(4_000); 5]);
        }
        task(Plan::Normal, 100 * n, ops)
    };
    stage(Shape::Flat(2), Price::Usual, vec![hog.clone(), hog, changes(0), changes(1)])
}

/// A bound thread of the kernel answers a task on its own CPU, while others idle.
fn bound_worker() -> Scenario {
    let writes = (0..60).flat_map(|_| [Op::Write(0), Op::Run(30), Op::Sleep(200)]).collect();
    let worker = TaskPlan { cpus: 1, ..task(Plan::Normal, 0, writes) };
    stage(Shape::Flat(4), Price::Usual, vec![worker])
}

/// A CPU that goes idle more than a thousand times while another one has bound tasks to spare.
fn often_idle() -> Scenario {
    let hog = TaskPlan { cpus: 1, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 40]) };
    let light = (0..1_500).flat_map(|_| [Op::Run(20), Op::Sleep(150)]).collect();
    let light = TaskPlan { cpus: 2, ..task(Plan::Normal, 0, light) };
    stage(Shape::Flat(2), Price::Usual, vec![hog.clone(), hog, light])
}

/// A task that would have to move always runs when somebody looks: it is so much heavier than the one that
/// waits beside it.
fn always_running() -> Scenario {
    let hog = |cpus, nice| TaskPlan { cpus, nice, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 250]) };
    stage(Shape::Flat(2), Price::Free, vec![hog(1, 0), hog(2, 0), hog(u16::MAX, -20)])
}

/// Three hogs on a node of two CPUs, each of which uses more than the other node has left.
fn too_much_for_what_is_left() -> Scenario {
    let hogs = (0..3).map(|n| {
        let mut ops = vec![Op::Run(4_000); 50];
        ops.push(Op::Affinity { whose: None, cpus: u16::MAX });
        ops.extend(vec![Op::Run(4_000); 200]);
        TaskPlan { cpus: 0b11, ..task(Plan::Normal, 100 * n, ops) }
    });
    let busy = TaskPlan { cpus: 0b100, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 400]) };
    let rounds = (0..400).flat_map(|_| [Op::Run(2_400), Op::Sleep(1_600)]).collect();
    let half_busy = TaskPlan { cpus: 0b1000, ..task(Plan::Normal, 0, rounds) };
    let shape = Shape::Nodes { nodes: 2, cpus: 2, far: false };
    stage(shape, Price::Free, hogs.chain([busy, half_busy]).collect())
}

/// A heavy hog alone on its CPU, with more than the average load of three CPUs; the next CPU has two hogs and
/// still more, the third a light one.
fn above_the_average() -> Scenario {
    let hog = |cpus, nice| TaskPlan { cpus, nice, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 200]) };
    stage(Shape::Flat(3), Price::Free, vec![hog(1, -5), hog(0b11, -3), hog(0b11, -3), hog(0b100, 0)])
}

/// Two hogs beside two that are bound, and so heavy that only a third failure lets one of them go.
fn two_failures_too_heavy() -> Scenario {
    let hog = |cpus, nice| TaskPlan { cpus, nice, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 200]) };
    stage(Shape::Flat(2), Price::Free, vec![hog(0b10, -10), hog(0b10, -7), hog(1, -10), hog(0b11, -10)])
}

/// A task that may use three of eight CPUs, two of which are busy and the third now and then; the others are
/// busy, too. CPUs idle for short times only, and looking is dear.
fn few_allowed() -> Scenario {
    let hog = |cpu: u16| TaskPlan { cpus: 1 << cpu, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 60]) };
    let rounds = |cpus, run| {
        let ops = (0..200).flat_map(|n| [Op::Run(run), Op::Sleep(200 + 37 * (n % 5))]).collect();
        TaskPlan { cpus, ..task(Plan::Normal, 0, ops) }
    };
    let light = [rounds(1 << 2, 300), rounds(1 << 1 | 1 << 2 | 1 << 6, 100)];
    let tasks = [0, 1, 3, 4, 5, 6, 7].map(hog).into_iter().chain(light).collect();
    stage(Shape::Flat(8), Price::Dear, tasks)
}

/// Tasks that wake others all the time, on three clusters, half of them busy.
fn clusters() -> Scenario {
    let hog = |cpus| TaskPlan { cpus, ..task(Plan::Normal, 0, vec![Op::Run(4_000); 40]) };
    let writer = |n: u32| {
        let rounds =
            (0..150).flat_map(|_| [Op::Write(n as u8), Op::Run(60 + 7 * n), Op::Sleep(150 + 31 * n)]);
        task(Plan::Normal, 10 * n, rounds.collect())
    };
    let tasks = [hog(0b001), hog(0b100)].into_iter().chain((0..4).map(writer)).collect();
    stage(Shape::Clusters(3), Price::Usual, tasks)
}

/// Three tasks that ask for long slices, and one that asks for short ones and overdraws them: by a little, or
/// in a system call, where nobody takes the CPU from it, by much.
fn slices(overdraws: Op) -> Scenario {
    let hog = |slice, start| {
        let work = std::iter::once(Op::Slice(slice)).chain(std::iter::repeat_n(Op::Run(4_000), 30));
        task(Plan::Normal, start, work.collect())
    };
    let rounds = (0..100).flat_map(|n| [overdraws.clone(), Op::Sleep(1_300 + 170 * (n % 7))]);
    let short = task(Plan::Normal, 0, std::iter::once(Op::Slice(100)).chain(rounds).collect());
    stage(Shape::Flat(1), Price::Free, vec![hog(8_000, 0), hog(5_000, 30), hog(3_000, 70), short])
}

/// More real-time tasks than CPUs, all of different habits, on a machine where locks are dear: CPUs meet at
/// locks, and candidates change while they wait.
fn storm(shape: Shape) -> Scenario {
    let storming = (0..24u32).map(|n| {
        let (run, sleep) = (5 + 7 * (n % 5), 20 + 11 * (n % 7));
        let rounds = (0..60).flat_map(|_| [Op::Run(run), Op::Sleep(sleep)]).collect();
        task(Plan::Fifo(1 + (n % 11) as u8), 3 * n, rounds)
    });
    stage(shape, Price::Dear, storming.collect())
}
