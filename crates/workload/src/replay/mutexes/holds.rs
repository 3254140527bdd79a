//! For which stretches of their programs tasks had a mutex.

use crate::replay::recording::TaskIndex;
use crate::replay::track::{Draft, DraftStep, Track};
use std::collections::BTreeMap;

/// With fewer examples, nothing is usual.
const FEW: usize = 3;

/// A mutex goes from its owner to who waited for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handover {
    pub at_ns: u64,
    /// The owner's step.
    pub by: DraftStep,
    /// Where the other one goes on: its sleep, or where it ran.
    pub to: DraftStep,
    /// It ran, and had not slept.
    pub spun: bool,
    /// The step at which it asked, where that shows.
    pub asked: Option<usize>,
}

/// Where a stretch begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// With the hand-over of this number.
    Handed(usize),
    /// In a drafted step, after so much of its CPU time, ns.
    Alone { step: usize, at_ns: u64 },
}

/// One stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub task: TaskIndex,
    pub from: Edge,
    pub to: Edge,
    /// When it began and ended, ns; edges that do not show are estimated as if the task ran all the time.
    pub began_ns: u64,
    pub ended_ns: u64,
}

impl Hold {
    /// When it began and ended is known: it was handed over to its task, and by its task.
    pub fn is_exact(&self) -> bool {
        matches!((self.from, self.to), (Edge::Handed(_), Edge::Handed(_)))
    }

    pub fn length_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.began_ns)
    }

    /// Nobody waited, neither it nor for it.
    pub fn is_uncontended(&self) -> bool {
        matches!((self.from, self.to), (Edge::Alone { .. }, Edge::Alone { .. }))
    }
}

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    pub all: Vec<Hold>,
    pub handovers: Vec<Handover>,
    /// Where each hand-over's taker asked; `None`: where it got the mutex.
    pub asked: Vec<Option<Edge>>,
}

impl Holds {
    pub fn find(tasks: &[Track], handovers: Vec<Handover>) -> Holds {
        let mut users: BTreeMap<TaskIndex, BTreeMap<usize, Mark>> = BTreeMap::new();
        for (n, Handover { by, to, .. }) in handovers.iter().enumerate() {
            users.entry(by.task).or_default().insert(by.step, Mark::Gives(n));
            users.entry(to.task).or_default().insert(to.step, Mark::Gets(n));
        }
        let asked = vec![None; handovers.len()];
        let mut holds = Holds { all: Vec::new(), handovers, asked };
        for (task, marks) in users {
            let user = User::new(task, &tasks[task.index()], marks, &holds.handovers);
            let of_user = user.find(&mut holds.asked);
            holds.all.extend(of_user);
        }
        holds.all.sort_by_key(|hold| (hold.began_ns, hold.task));
        holds
    }
}

/// What a step of a user is to its mutexes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Gives(usize),
    Gets(usize),
    /// It sleeps for something else.
    Sleeps,
}

struct User<'a> {
    task: TaskIndex,
    track: &'a Track,
    handovers: &'a [Handover],
    /// By step.
    marks: Vec<(usize, Mark)>,
    /// CPU time before each step, and in all.
    cpu_before: Vec<u64>,
}

/// CPU times that are usual for a user, ns.
#[derive(Clone, Copy, Default)]
struct Usual {
    /// Of a stretch; `None`: too few show.
    hold_ns: Option<u64>,
    /// From a sleep to where it asks.
    asleep_to_ask_ns: u64,
    /// From an unlock to where it asks.
    unlock_to_ask_ns: u64,
    /// From an unlock to a sleep.
    unlock_to_sleep_ns: u64,
}

impl Usual {
    /// Whether a stretch of this length is one: programs that work until a certain time have them of
    /// different lengths.
    fn is_one(self, length_ns: u64) -> bool {
        self.hold_ns.is_none_or(|hold_ns| length_ns <= hold_ns.saturating_add(hold_ns / 2))
    }
}

/// Since when a user has had no mutex: its CPU time then, ns, the first step behind that, and how far it has
/// usually from there to the next one.
#[derive(Clone, Copy)]
struct Free {
    cpu_ns: u64,
    step: usize,
    way_ns: u64,
}

impl<'a> User<'a> {
    fn new(
        task: TaskIndex,
        track: &'a Track,
        mut marks: BTreeMap<usize, Mark>,
        handovers: &'a [Handover],
    ) -> User<'a> {
        let mut sum = 0;
        let mut cpu_before = Vec::with_capacity(track.steps.len() + 1);
        for (n, step) in track.steps.iter().enumerate() {
            cpu_before.push(sum);
            match step {
                Draft::Run(ns) => sum = u64::saturating_add(sum, *ns),
                Draft::Sleep(_) => {
                    marks.entry(n).or_insert(Mark::Sleeps);
                }
                _ => {}
            }
        }
        cpu_before.push(sum);
        User { task, track, handovers, marks: marks.into_iter().collect(), cpu_before }
    }

    /// Its stretches. Where it asked for what others gave it, it writes into `asked`.
    fn find(&self, asked_at: &mut [Option<Edge>]) -> Vec<Hold> {
        let mut holds = Vec::new();
        let usual = self.usual();
        let mut free = Free { cpu_ns: 0, step: 0, way_ns: 0 };
        let mut given: Option<(usize, usize)> = None;
        for (step, mark) in &self.marks {
            let here_ns = self.cpu_before[*step];
            match mark {
                Mark::Gives(handover) => {
                    let from = match given.take() {
                        Some((_, handover)) => Edge::Handed(handover),
                        None => self.locked_alone(free, *step, usual),
                    };
                    holds.push(self.hold(from, Edge::Handed(*handover)));
                    free = Free { cpu_ns: here_ns, step: step + 1, way_ns: usual.unlock_to_ask_ns };
                }
                Mark::Gets(handover) => {
                    let asked = self.handovers[*handover].asked;
                    if let Some((at, before)) = given.take() {
                        let until_ns = asked.map_or(here_ns, |asked| self.cpu_before[asked]);
                        let (edge, cpu_ns) =
                            self.unlocked_alone(at, *step, until_ns, usual.unlock_to_ask_ns, usual);
                        holds.push(self.hold(Edge::Handed(before), edge));
                        free = Free { cpu_ns, step: at + 1, way_ns: usual.unlock_to_ask_ns };
                    }
                    let spun = || self.spun(free, *step);
                    asked_at[*handover] = asked.map(|step| Edge::Alone { step, at_ns: 0 }).or_else(spun);
                    given = Some((*step, *handover));
                }
                Mark::Sleeps => {
                    if let Some((at, before)) = given.take() {
                        let edge = self.unlocked_alone(at, *step, here_ns, usual.unlock_to_sleep_ns, usual).0;
                        holds.push(self.hold(Edge::Handed(before), edge));
                    }
                    free = Free { cpu_ns: here_ns, step: step + 1, way_ns: usual.asleep_to_ask_ns };
                }
            }
        }
        if let Some((at, before)) = given {
            let end = self.track.steps.len();
            let edge = self.unlocked_alone(at, end, self.cpu_before[end], 0, usual).0;
            holds.push(self.hold(Edge::Handed(before), edge));
        }
        if let Some(hold_ns) = usual.hold_ns {
            holds.extend(self.uncontended(holds.len(), hold_ns, usual.asleep_to_ask_ns));
        }
        holds
    }

    /// Of stretches the median of those that show from one end to the other, or else up to the sleep behind
    /// or from that before them. On the ways
    /// it may have spun: the shortest are without, but for a few that belong to something else.
    fn usual(&self) -> Usual {
        let lengths = |of: fn(Mark, Mark) -> bool| {
            let pairs = self.marks.windows(2).filter(move |pair| of(pair[0].1, pair[1].1));
            let length = |pair: &[(usize, Mark)]| {
                let asked = match pair[1].1 {
                    Mark::Gets(handover) => self.handovers[handover].asked,
                    _ => None,
                };
                let to = asked.unwrap_or(pair[1].0);
                self.cpu_before[to].saturating_sub(self.cpu_before[pair[0].0])
            };
            let mut lengths: Vec<u64> = pairs.map(length).collect();
            lengths.sort_unstable();
            if lengths.len() < FEW { Vec::new() } else { lengths }
        };
        let median = |lengths: Vec<u64>| lengths.get(lengths.len() / 2).copied();
        let shortest = |lengths: Vec<u64>| lengths.get(lengths.len() / 20).copied().unwrap_or(0);
        use Mark::{Gets, Gives, Sleeps};
        Usual {
            hold_ns: median(lengths(|a, b| matches!((a, b), (Gets(_), Gives(_)))))
                .or_else(|| median(lengths(|a, b| matches!((a, b), (Gets(_), Sleeps)))))
                .or_else(|| median(lengths(|a, b| matches!((a, b), (Sleeps, Gives(_)))))),
            asleep_to_ask_ns: shortest(lengths(|a, b| matches!((a, b), (Sleeps, Gets(_))))),
            unlock_to_ask_ns: shortest(lengths(|a, b| matches!((a, b), (Gives(_), Gets(_))))),
            unlock_to_sleep_ns: shortest(lengths(|a, b| matches!((a, b), (Gives(_), Sleeps)))),
        }
    }

    /// Where it asked for what it gets at a step, if it spun for longer than a system call takes.
    fn spun(&self, free: Free, step: usize) -> Option<Edge> {
        const SYSTEM_CALL_NS: u64 = 20_000;
        let asked_ns = free.cpu_ns.saturating_add(free.way_ns);
        let spun = self.cpu_before[step] > asked_ns.saturating_add(SYSTEM_CALL_NS);
        if spun { self.at(asked_ns, free.step, step) } else { None }
    }

    /// It unlocks at this step what nobody handed to it.
    fn locked_alone(&self, free: Free, step: usize, usual: Usual) -> Edge {
        let (end_ns, earliest_ns) = (self.cpu_before[step], free.cpu_ns.saturating_add(free.way_ns));
        let from_ns = match usual.hold_ns {
            Some(hold_ns) if !usual.is_one(end_ns.saturating_sub(earliest_ns)) => end_ns - hold_ns,
            _ => earliest_ns.min(end_ns),
        };
        self.at(from_ns, free.step, step).unwrap_or(Edge::Alone { step, at_ns: 0 })
    }

    /// It gets a mutex at one step and hands it to nobody before another one, at which it has had none for
    /// `way_ns`. Where it unlocks, and its CPU time there, ns.
    fn unlocked_alone(
        &self,
        given: usize,
        next: usize,
        until_ns: u64,
        way_ns: u64,
        usual: Usual,
    ) -> (Edge, u64) {
        let from_ns = self.cpu_before[given];
        let latest_ns = until_ns.saturating_sub(way_ns).max(from_ns);
        let to_ns = match usual.hold_ns {
            Some(hold_ns) if !usual.is_one(latest_ns - from_ns) => from_ns.saturating_add(hold_ns),
            _ => latest_ns,
        };
        (self.at(to_ns, given + 1, next).unwrap_or(Edge::Alone { step: next, at_ns: 0 }), to_ns)
    }

    fn hold(&self, from: Edge, to: Edge) -> Hold {
        let known_ns = |edge| if let Edge::Handed(n) = edge { Some(self.handovers[n].at_ns) } else { None };
        let length_ns = self.cpu_at(to).saturating_sub(self.cpu_at(from));
        let (began_ns, ended_ns) = match (known_ns(from), known_ns(to)) {
            (Some(from_ns), to_ns) => (from_ns, to_ns.unwrap_or(from_ns.saturating_add(length_ns))),
            (None, to_ns) => {
                let to_ns = to_ns.unwrap_or(u64::MAX);
                (to_ns.saturating_sub(length_ns), to_ns)
            }
        };
        Hold { task: self.task, from, to, began_ns, ended_ns }
    }

    /// The stretches between two sleeps that do not show, because nobody waited: if most of those between
    /// sleeps do.
    fn uncontended(&self, shown: usize, hold_ns: u64, way_ns: u64) -> Vec<Hold> {
        let between: Vec<(usize, usize)> = self
            .marks
            .windows(2)
            .filter(|pair| pair[0].1 == Mark::Sleeps && pair[1].1 == Mark::Sleeps)
            .map(|pair| (pair[0].0, pair[1].0))
            // A burst that has no room for the usual stretch was for something else.
            .filter(|(slept, next)| self.cpu_before[*next] - self.cpu_before[*slept] >= hold_ns / 2)
            .collect();
        if between.len() > shown {
            return Vec::new();
        }
        let hold = |(slept, next): (usize, usize)| {
            let Draft::Sleep(number) = self.track.steps[slept] else { return None };
            let woken_ns = self.track.sleeps[number].end?.at_ns;
            let from_ns = self.cpu_before[slept].saturating_add(way_ns);
            let to_ns = from_ns.saturating_add(hold_ns).min(self.cpu_before[next]);
            let from = self.at(from_ns, slept + 1, next)?;
            let to = self.at(to_ns, slept + 1, next).unwrap_or(Edge::Alone { step: next, at_ns: 0 });
            let began_ns = woken_ns.saturating_add(way_ns);
            Some(Hold {
                task: self.task,
                from,
                to,
                began_ns,
                ended_ns: began_ns.saturating_add(to_ns.saturating_sub(from_ns)),
            })
        };
        between.into_iter().filter_map(hold).collect()
    }

    /// The run among these steps in which the task's CPU time is this.
    fn at(&self, cpu_ns: u64, from: usize, to: usize) -> Option<Edge> {
        let runs = (from..to).filter_map(|n| match self.track.steps[n] {
            Draft::Run(ns) => Some((n, self.cpu_before[n], ns)),
            _ => None,
        });
        let mut runs =
            runs.filter(|(_, before, ns)| *before <= cpu_ns && cpu_ns <= before.saturating_add(*ns));
        runs.next().map(|(step, before, _)| Edge::Alone { step, at_ns: cpu_ns - before })
    }

    fn cpu_at(&self, edge: Edge) -> u64 {
        match edge {
            Edge::Alone { step, at_ns } => self.cpu_before[step].saturating_add(at_ns),
            Edge::Handed(n) => {
                let Handover { by, to, .. } = self.handovers[n];
                self.cpu_before[if by.task == self.task { by.step } else { to.step }]
            }
        }
    }
}
