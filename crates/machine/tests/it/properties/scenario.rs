//! A random experiment: machine, kernel, settings before and during the run, tasks with their programs. It
//! prints as what one has to write down to run it again, and shrinks.

use super::settings::{kernel, later_setting, setting};
use machine::Governor;
use proptest::collection::vec;
use proptest::prelude::*;

/// Everything that decides a run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub shape: Shape,
    pub price: Price,
    pub kernel: &'static str,
    /// Before the run.
    pub settings: Vec<String>,
    /// During it, each at a time in µs.
    pub later: Vec<(u32, String)>,
    /// For each mutex whether it inherits priorities.
    pub mutexes: Vec<bool>,
    pub tasks: Vec<TaskPlan>,
    /// A timer that raises soft interrupts.
    pub softirq: Option<SoftirqPlan>,
    pub seed: u64,
}

impl Scenario {
    /// Whether idle CPUs poll, as beside cyclictest, or halt.
    pub fn polls(&self) -> bool {
        self.seed % 2 == 1
    }

    /// The governor of idle states, if the machine has several.
    pub fn idle_governor(&self) -> Option<Governor> {
        let by_seed = Governor::ALL[(self.seed / 5 % 3) as usize];
        self.seed.is_multiple_of(5).then_some(by_seed)
    }

    /// Whether the firmware prefers every second core to the others.
    pub fn prefers(&self) -> bool {
        self.seed.is_multiple_of(3) && matches!(self.shape, Shape::Flat(_) | Shape::Threads(_))
    }
}

/// How the CPUs are arranged.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// All share a cache.
    Flat(u16),
    /// Pairs that share a cache, in one package.
    Pairs(u16),
    /// Clusters of two that share a cache; only stages have them.
    Clusters(u16),
    /// So many that are worth less, and so many of full worth; all share a cache.
    Unequal { small: u16, large: u16 },
    /// Large cores of two threads, and small ones of one, one cluster, which the firmware prefers less; only
    /// stages have them.
    Hybrid { large: u16, small: u16 },
    /// Hardware threads of cores that share a cache.
    Threads(u16),
    /// Nodes of so many CPUs; far ones have no affine wakeups between them.
    Nodes { nodes: u16, cpus: u16, far: bool },
}

/// What work costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Price {
    /// Nothing.
    Free,
    /// What it does on a server.
    Usual,
    /// So much that CPUs meet at locks all the time.
    Dear,
    /// As usual, with late timers, interrupts held off and kernel threads.
    Noisy,
}

/// A timer that raises soft interrupts; its CPU is taken modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub struct SoftirqPlan {
    pub cpu: u16,
    /// In µs.
    pub every: u32,
    /// In µs.
    pub work: u32,
}

/// One task.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    pub policy: Plan,
    pub nice: i8,
    /// Bits of the CPUs it may use, of those that there are; none of them: all.
    pub cpus: u16,
    /// When it appears, in µs.
    pub start: u32,
    pub ops: Vec<Op>,
}

/// A policy.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    Normal,
    Batch,
    Idle,
    Fifo(u8),
    Rr(u8),
    Deadline(Budget),
    /// The same with SCHED_FLAG_RECLAIM.
    Reclaiming(Budget),
}

/// Run time, deadline and period in µs.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub u32, pub u32, pub u32);

/// One thing that a task does. Times are in µs; numbers of shared things and tasks are taken modulo how many
/// exist.
#[derive(Clone, Debug)]
pub enum Op {
    Run(u32),
    /// By its CPU clock.
    Clocked(u32),
    Kernel(u32),
    Spin(u32),
    Sleep(u32),
    Yield,
    Exec,
    /// Locks the mutexes of this set in order, runs, sleeps, unlocks.
    Locked {
        set: u8,
        run: u32,
        sleep: u32,
    },
    /// Posts a message that nobody need wait for.
    Post(u8),
    /// Waits for a message; a feeder takes care that one comes.
    Take(u8),
    /// Writes into a pipe that holds one message; a sink empties it.
    Write(u8),
    /// Waits to be woken; a waker takes care of that.
    Wait(u8),
    /// Creates a child.
    Fork {
        how: How,
        policy: Plan,
        ops: Vec<Op>,
    },
    /// Waits for a child.
    Reap,
    Policy {
        whose: Option<u8>,
        policy: Plan,
    },
    Nice {
        whose: Option<u8>,
        nice: i8,
    },
    /// Asks for slices of so many µs; 0: those of all.
    Slice(u32),
    /// Asks for clamps of utilisation; the lower one first.
    Clamps(Option<u16>, Option<u16>),
    Affinity {
        whose: Option<u8>,
        cpus: u16,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum How {
    Fork,
    Vfork,
    Thread,
}

/// Any scenario.
pub fn any_scenario() -> impl Strategy<Value = Scenario> {
    (
        (shape(), price(), kernel()),
        vec(setting(), 0..6),
        vec((0u32..60_000, later_setting()), 0..4),
        vec(any::<bool>(), 1..4),
        vec(task(), 1..14),
        softirq(),
        any::<u64>(),
    )
        .prop_map(|((shape, price, kernel), settings, later, mutexes, tasks, softirq, seed)| Scenario {
            shape,
            price,
            kernel,
            settings,
            later,
            mutexes,
            tasks,
            softirq,
            seed,
        })
        .prop_map(Scenario::with_room_for_deadlines)
        .prop_map(Scenario::with_clamps)
}

impl Scenario {
    /// The same, where everybody who asks for SCHED_DEADLINE gets it, and whoever may have it makes no other
    /// task: a refusal ends the run.
    pub fn with_room_for_deadlines(mut self) -> Scenario {
        let is_deadline = |policy: &Plan| matches!(policy, Plan::Deadline(_) | Plan::Reclaiming(_));
        let changes_now = |op: &Op| matches!(op, Op::Policy { policy, .. } if is_deadline(policy));
        let changes = |op: &Op| match op {
            Op::Fork { ops, .. } => ops.iter().any(changes_now),
            op => changes_now(op),
        };
        let begins = |op: &Op| matches!(op, Op::Fork { policy, .. } if is_deadline(policy));
        let anybody = self.tasks.iter().any(|task| task.ops.iter().any(changes));
        let has_some = |task: &TaskPlan| is_deadline(&task.policy) || task.ops.iter().any(begins);
        let asks = anybody || self.tasks.iter().any(has_some);
        for task in self.tasks.iter_mut().filter(|task| anybody || is_deadline(&task.policy)) {
            task.ops.retain(|op| !matches!(op, Op::Fork { .. }));
        }
        if asks {
            self.settings.extend(["dl_class=on", "sched_rt_runtime_us=-1"].map(str::to_owned));
            let refuses =
                |setting: &str| setting.starts_with("dl_class") || setting.starts_with("sched_rt_runtime_us");
            self.later.retain(|(_, setting)| !refuses(setting));
        } else if self.settings.iter().any(|setting| setting.starts_with("sched_rt_runtime_us")) {
            // Of the usual second what is drawn would be less than fair servers have: refused as well.
            self.settings.push("sched_rt_period_us=10000".to_owned());
        }
        self
    }
}

impl Scenario {
    /// Whether a task asks for clamps.
    pub fn clamps(&self) -> bool {
        fn asks(op: &Op) -> bool {
            match op {
                Op::Clamps(..) => true,
                Op::Fork { ops, .. } => ops.iter().any(asks),
                _ => false,
            }
        }
        self.tasks.iter().any(|task| task.ops.iter().any(asks))
    }

    /// The same, where everybody who asks for clamps gets them.
    pub fn with_clamps(mut self) -> Scenario {
        if self.clamps() {
            let rule = if self.seed.is_multiple_of(3) { "uclamp=margin" } else { "uclamp=fits" };
            self.settings.push(rule.to_owned());
            self.later.retain(|(_, setting)| setting != "uclamp=off");
        }
        self
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (1u16..=12).prop_map(Shape::Flat),
        (1u16..=4).prop_map(Shape::Pairs),
        (1u16..=4).prop_map(Shape::Threads),
        (1u16..=4, 1u16..=4).prop_map(|(small, large)| Shape::Unequal { small, large }),
        (2u16..=3, 1u16..=4, any::<bool>()).prop_map(|(nodes, cpus, far)| Shape::Nodes { nodes, cpus, far }),
    ]
}

/// In every fourth scenario; there is always time left for those who run on its CPU.
fn softirq() -> impl Strategy<Value = Option<SoftirqPlan>> {
    let plan = (0u16..12, 1_000u32..5_000, 1u32..300).prop_map(|(cpu, every, permille)| SoftirqPlan {
        cpu,
        every,
        work: every * permille / 1_000,
    });
    proptest::option::weighted(0.25, plan)
}

fn price() -> impl Strategy<Value = Price> {
    prop_oneof![Just(Price::Free), Just(Price::Usual), Just(Price::Dear), Just(Price::Noisy)]
}

fn task() -> impl Strategy<Value = TaskPlan> {
    (plan(), -20i8..20, cpus(), 0u32..5_000, vec(op(), 1..10))
        .prop_map(|(policy, nice, cpus, start, ops)| TaskPlan { policy, nice, cpus, start, ops })
}

fn plan() -> impl Strategy<Value = Plan> {
    prop_oneof![
        3 => Just(Plan::Normal),
        1 => Just(Plan::Batch),
        1 => Just(Plan::Idle),
        // Few priorities, so that equals meet.
        3 => (1u8..=6).prop_map(Plan::Fifo),
        1 => (1u8..=99).prop_map(Plan::Fifo),
        2 => (1u8..=6).prop_map(Plan::Rr),
        1 => budget().prop_map(Plan::Deadline),
    ]
}

/// Legal parameters, with and without a deadline before the end of the period.
fn budget() -> impl Strategy<Value = Budget> {
    (1u32..800, 0u32..2_000, 0u32..3_000).prop_map(|(runtime, laxity, rest)| {
        let deadline = (runtime + laxity).max(100);
        Budget(runtime.max(2), deadline, deadline + rest.saturating_sub(1_500))
    })
}

/// All CPUs, one, or some.
fn cpus() -> impl Strategy<Value = u16> {
    prop_oneof![2 => Just(u16::MAX), 1 => (0u16..12).prop_map(|c| 1 << c), 1 => any::<u16>()]
}

/// A time in µs: short ones are likelier.
fn time(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1u32..50, 1..most / 10, 1..most]
}

fn whose() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![Just(None), any::<u8>().prop_map(Some)]
}

/// Both, one or none of two clamps.
fn clamps((a, b, which): (u16, u16, u8)) -> Op {
    let (min, max) = (a.min(b), a.max(b));
    Op::Clamps((which & 1 == 0).then_some(min), (which & 2 == 0).then_some(max))
}

/// What a child may do: everything but children of its own.
fn simple_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => time(4_000).prop_map(Op::Run),
        1 => time(400).prop_map(Op::Clocked),
        2 => time(1_000).prop_map(Op::Kernel),
        1 => time(1_000).prop_map(Op::Spin),
        6 => time(5_000).prop_map(Op::Sleep),
        2 => Just(Op::Yield),
        1 => Just(Op::Exec),
        4 => (any::<u8>(), time(2_000), time(500))
            .prop_map(|(set, run, sleep)| Op::Locked { set, run, sleep }),
        2 => any::<u8>().prop_map(Op::Post),
        2 => any::<u8>().prop_map(Op::Take),
        2 => any::<u8>().prop_map(Op::Write),
        2 => any::<u8>().prop_map(Op::Wait),
        3 => (whose(), plan()).prop_map(|(whose, policy)| Op::Policy { whose, policy }),
        2 => (whose(), -20i8..20).prop_map(|(whose, nice)| Op::Nice { whose, nice }),
        2 => time(8_000).prop_map(Op::Slice),
        1 => (0u16..=1024, 0u16..=1024, 0u8..4).prop_map(clamps),
        3 => (whose(), cpus()).prop_map(|(whose, cpus)| Op::Affinity { whose, cpus }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let how = prop_oneof![Just(How::Fork), Just(How::Vfork), Just(How::Thread)];
    let fork =
        (how, plan(), vec(simple_op(), 0..5)).prop_map(|(how, policy, ops)| Op::Fork { how, policy, ops });
    prop_oneof![12 => simple_op(), 2 => fork, 1 => Just(Op::Reap)]
}
