//! A timeline in columns: numbers of one kind stand together, times as the distance from the one before, so
//! that gzip finds what repeats.
//!
//! A number takes 7 bits a byte, the lowest first; the highest bit of a byte says that more follow (LEB128).
//! A number that may be negative is doubled, and a negative one's double less one (zigzag).

use super::{
    Boost, Budget, Decision, Event, Interrupt, Kind, LockKind, LockWait, Throttle, Throttled, Timeline,
};
use super::{Marker, Reason, Setting, Task};
use serde::Serialize;

/// How much of a timeline is packed, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// All.
    All,
    /// All but decisions.
    NoDecisions,
    /// Switches, wakeups, migrations, boosts and throttling.
    Tasks,
}

/// What the script must know beside the columns.
#[derive(Debug, Serialize)]
pub struct Head<'t> {
    name: &'t str,
    cpus: u32,
    start_ns: u64,
    length_ns: u64,
    first_on_cpu: &'t [Option<u32>],
    tasks: &'t [Task],
    interrupt_names: &'t [String],
    /// By the numbers of their kinds.
    lock_names: Vec<&'static str>,
    groups: &'t [String],
    reasons: &'t [Reason],
    markers: &'t [Marker],
    settings: &'t [Setting],
    /// What is missing for want of room, in words.
    left_out: Vec<String>,
    columns: Vec<ColumnHead>,
}

/// A column, in the order in which they follow each other.
#[derive(Debug, Serialize)]
struct ColumnHead {
    name: &'static str,
    /// How many numbers.
    count: usize,
    /// How many bytes.
    bytes: usize,
}

/// A timeline, packed.
#[derive(Debug)]
pub struct Packed<'t> {
    pub head: Head<'t>,
    /// The columns, one after the other.
    pub bytes: Vec<u8>,
}

/// Packs the part of a timeline up to some time.
pub fn pack(timeline: &Timeline, detail: Detail, until_ns: u64) -> Packed<'_> {
    let mut columns = Columns::default();
    let is_kept = |time_ns: u64| time_ns <= until_ns;
    let kept = |least: Detail| if detail <= least { until_ns } else { 0 };
    events(&mut columns, timeline, until_ns);
    let locks_until = kept(Detail::NoDecisions);
    lock_waits(&mut columns, before(&timeline.lock_waits, |wait| wait.until_ns, locks_until));
    interrupts(&mut columns, before(&timeline.interrupts, |interrupt| interrupt.until_ns, locks_until));
    decisions(&mut columns, before(&timeline.decisions, |decision| decision.time_ns, kept(Detail::All)));
    boosts(&mut columns, before(&timeline.boosts, |boost| boost.time_ns, until_ns));
    let of_queues = before(&timeline.throttles, |throttle| throttle.until_ns, until_ns);
    throttles(&mut columns, of_queues, timeline.groups.len());
    let mut left_out = Vec::new();
    if detail > Detail::All && !timeline.decisions.is_empty() {
        left_out.push("the scheduler's decisions".to_owned());
    }
    if detail > Detail::NoDecisions && !timeline.lock_waits.is_empty() {
        left_out.push("waits for locks".to_owned());
    }
    if detail > Detail::NoDecisions && !timeline.interrupts.is_empty() {
        left_out.push("interrupts".to_owned());
    }
    if until_ns < timeline.length_ns {
        let end = crate::numbers::moment(timeline.start_ns + until_ns);
        left_out.push(format!("all that happens after {end}"));
    }
    let head = Head {
        name: &timeline.name,
        cpus: timeline.cpus,
        start_ns: timeline.start_ns,
        length_ns: timeline.length_ns.min(until_ns),
        first_on_cpu: &timeline.first_on_cpu,
        tasks: &timeline.tasks,
        interrupt_names: &timeline.interrupt_names,
        groups: &timeline.groups,
        lock_names: LockKind::ALL.into_iter().map(LockKind::name).collect(),
        reasons: &timeline.reasons,
        markers: &timeline.markers[..timeline.markers.partition_point(|marker| is_kept(marker.time_ns))],
        settings: &timeline.settings[..timeline.settings.partition_point(|set| is_kept(set.time_ns))],
        left_out,
        columns: columns.heads,
    };
    Packed { head, bytes: columns.bytes }
}

/// Those up to some time, of what is in the order of time.
fn before<T>(all: &[T], time: impl Fn(&T) -> u64, until_ns: u64) -> &[T] {
    &all[..all.partition_point(|one| until_ns > 0 && time(one) <= until_ns)]
}

fn events(columns: &mut Columns, timeline: &Timeline, until_ns: u64) {
    let events = before(&timeline.events, |event| event.time_ns, until_ns);
    let column = |columns: &mut Columns, name, value: &dyn Fn(&Event) -> u64| {
        columns.numbers(name, events.iter().map(value));
    };
    columns.rising("event.time", events.iter().map(|event| event.time_ns));
    column(columns, "event.kind", &|event| match event.kind {
        Kind::Switch(_) => 0,
        Kind::Waking { .. } => 1,
        Kind::Wakeup(_) => 2,
        Kind::WakeupNew(_) => 3,
        Kind::Migrate { .. } => 4,
    });
    column(columns, "event.cpu", &|event| event.cpu.into());
    column(columns, "event.task", &|event| event.task.into());
    column(columns, "event.detail", &|event| match event.kind {
        Kind::Switch(state) => u8::from(state).into(),
        Kind::Waking { in_interrupt } => in_interrupt.into(),
        Kind::Wakeup(target) | Kind::WakeupNew(target) => target.into(),
        Kind::Migrate { from, to } => u64::from(from) * u64::from(timeline.cpus) + u64::from(to),
    });
}

fn lock_waits(columns: &mut Columns, waits: &[LockWait]) {
    let mut column = |name, value: &dyn Fn(&LockWait) -> u64| {
        columns.numbers(name, waits.iter().map(value));
    };
    column("lock.length", &|wait| wait.until_ns - wait.since_ns);
    column("lock.cpu", &|wait| wait.cpu.into());
    column("lock.kind", &|wait| wait.lock as u64);
    column("lock.of", &|wait| wait.of.into());
    column("lock.holder", &|wait| wait.holder.into());
    column("lock.waiters", &|wait| wait.waiters.into());
    columns.rising("lock.until", waits.iter().map(|wait| wait.until_ns));
}

fn interrupts(columns: &mut Columns, interrupts: &[Interrupt]) {
    let mut column = |name, value: &dyn Fn(&Interrupt) -> u64| {
        columns.numbers(name, interrupts.iter().map(value));
    };
    column("interrupt.length", &|interrupt| interrupt.until_ns - interrupt.from_ns);
    column("interrupt.cpu", &|interrupt| interrupt.cpu.into());
    column("interrupt.name", &|interrupt| interrupt.name.into());
    column("interrupt.waited", &|interrupt| interrupt.waited_ns);
    columns.rising("interrupt.until", interrupts.iter().map(|interrupt| interrupt.until_ns));
}

fn decisions(columns: &mut Columns, decisions: &[Decision]) {
    columns.rising("decision.time", decisions.iter().map(|decision| decision.time_ns));
    columns.numbers("decision.cpu", decisions.iter().map(|decision| decision.cpu.into()));
    columns.numbers("decision.task", decisions.iter().map(|decision| decision.task.into()));
    columns.numbers("decision.reason", decisions.iter().map(|decision| decision.reason.into()));
}

fn boosts(columns: &mut Columns, boosts: &[Boost]) {
    columns.rising("boost.time", boosts.iter().map(|boost| boost.time_ns));
    columns.numbers("boost.task", boosts.iter().map(|boost| boost.task.into()));
    columns.numbers("boost.old", boosts.iter().map(|boost| zigzag(boost.old)));
    columns.numbers("boost.new", boosts.iter().map(|boost| zigzag(boost.new)));
}

fn throttles(columns: &mut Columns, throttles: &[Throttle], groups: usize) {
    columns.rising("throttle.until", throttles.iter().map(|throttle| throttle.until_ns));
    columns.numbers("throttle.length", throttles.iter().map(|throttle| throttle.until_ns - throttle.from_ns));
    // Of a CPU's number and of a group's one more; 0 is none.
    let queue = |throttle: &Throttle| match throttle.whom {
        Throttled::Queue { cpu, budget: Budget::RealTime } => [u64::from(cpu) + 1, 0, 0],
        Throttled::Queue { cpu, budget: Budget::Group(group) } => {
            [u64::from(cpu) + 1, u64::from(group) + 1, 0]
        }
        // Behind those of the fair tasks.
        Throttled::Queue { cpu, budget: Budget::RtGroup(group) } => {
            [u64::from(cpu) + 1, u64::from(group) + groups as u64 + 1, 0]
        }
        Throttled::Task(task) => [0, 0, task.into()],
    };
    for (place, name) in ["throttle.cpu", "throttle.group", "throttle.task"].into_iter().enumerate() {
        columns.numbers(name, throttles.iter().map(|throttle| queue(throttle)[place]));
    }
}

fn zigzag(number: i32) -> u64 {
    u64::from(((number << 1) ^ (number >> 31)).cast_unsigned())
}

#[derive(Debug, Default)]
struct Columns {
    heads: Vec<ColumnHead>,
    bytes: Vec<u8>,
}

impl Columns {
    fn numbers(&mut self, name: &'static str, numbers: impl Iterator<Item = u64>) {
        let (begin, mut count) = (self.bytes.len(), 0);
        for mut number in numbers {
            count += 1;
            while number >= 0x80 {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
        self.heads.push(ColumnHead { name, count, bytes: self.bytes.len() - begin });
    }

    /// Numbers that never fall.
    fn rising(&mut self, name: &'static str, numbers: impl Iterator<Item = u64>) {
        let mut last = 0;
        self.numbers(
            name,
            numbers.map(|number| {
                let step = number - last;
                last = number;
                step
            }),
        );
    }
}
