//! A machine of one CPU that costs nothing: ticks, hogs, tasks that run and sleep by turns. What happens is
//! taken down as stints.

use crate::fair::set_custom_slice;
use crate::fork::{NewTask, new_task, wake_up_new_task_on};
use crate::testing::{Lab, cpus};
use crate::{CpuId, Nanos, Nice, Pid, Policy, TaskId, TaskState};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// What a task does.
#[derive(Clone, Copy, Debug)]
pub enum Habit {
    /// It never stops.
    Hog,
    /// It runs for so long, sleeps, and begins again. Its first sleep ends at `phase`.
    Sleeper { run: Nanos, sleep: Nanos, phase: Nanos },
    /// It appears at a time, runs for so long, and is gone.
    Once { at: Nanos, run: Nanos },
}

/// One task of the load.
#[derive(Clone, Copy, Debug)]
pub struct Player {
    pub habit: Habit,
    pub nice: i8,
    pub policy: Policy,
    /// Length of its requests in ms, if it chooses them.
    pub slice: Option<f64>,
}

impl Player {
    pub fn new(habit: Habit) -> Player {
        Player { habit, nice: 0, policy: Policy::Normal, slice: None }
    }

    pub fn hog(nice: i8) -> Player {
        Player { nice, ..Player::new(Habit::Hog) }
    }

    pub fn slice(self, ms: f64) -> Player {
        Player { slice: Some(ms), ..self }
    }
}

/// A player had the CPU without interruption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stint {
    pub player: usize,
    pub from: Nanos,
    pub to: Nanos,
    /// It did not end by sleeping.
    pub put_out: bool,
}

impl Stint {
    pub fn ms(&self) -> f64 {
        (self.to - self.from).0 as f64 / 1e6
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Course {
    pub stints: Vec<Stint>,
    /// From each wakeup of a sleeper, or first one, to its first instruction, in ms.
    pub delays: Vec<f64>,
}

impl Course {
    /// CPU time of a player, in ms.
    pub fn ran(&self, player: usize) -> f64 {
        self.of(player).map(Stint::ms).sum()
    }

    pub fn of(&self, player: usize) -> impl Iterator<Item = &Stint> {
        self.stints.iter().filter(move |s| s.player == player)
    }

    pub fn put_out(&self, player: usize) -> usize {
        self.of(player).filter(|s| s.put_out).count()
    }

    pub fn switches(&self) -> usize {
        self.stints.len() - 1
    }

    pub fn mean_delay(&self) -> f64 {
        self.delays.iter().sum::<f64>() / self.delays.len() as f64
    }

    pub fn delay_at(&self, part: f64) -> f64 {
        let mut sorted = self.delays.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() - 1) as f64 * part).round() as usize]
    }

    /// The first stints, as "a1 b4": a letter for each player, and whole ms.
    pub fn told(&self, stints: usize) -> String {
        let mut told = String::new();
        for stint in &self.stints[..stints.min(self.stints.len())] {
            let _ = write!(told, "{}{} ", char::from(b'a' + stint.player as u8), stint.ms());
        }
        told.trim_end().into()
    }
}

/// A player's course.
struct State {
    task: Option<TaskId>,
    /// CPU time until it sleeps.
    left: Nanos,
    /// When it wakes, if it sleeps.
    wakes: Option<Nanos>,
    /// When it was woken, until it runs.
    woken: Option<Nanos>,
}

/// The load on CPU 0 of a machine of so many CPUs, for `length`.
pub fn play(machine: usize, profile: &str, settings: &[&str], players: &[Player], length: Nanos) -> Course {
    let lab = Lab::new(machine, profile, settings);
    let tick = Nanos(1_000_000_000 / lab.k.config.tunables.hz.get() as u64);
    let mut states: Vec<State> = players.iter().map(|player| begin(player.habit)).collect();
    let mut course = Course::default();
    for (state, player) in states.iter_mut().zip(players) {
        if !matches!(player.habit, Habit::Once { .. }) {
            state.task = Some(settle_down(&lab, player));
        }
    }
    let (mut now, mut next_tick, mut since) = (Nanos::ZERO, tick, Nanos::ZERO);
    let mut runs = playing(&lab, &states);
    while now < length {
        let ends = runs.map_or(Nanos::NEVER, |at| now + states[at].left);
        let wakes = states.iter().filter_map(|s| s.wakes).min().unwrap_or(Nanos::NEVER);
        let hrtick = lab.hrtick_at(0).unwrap_or(Nanos::NEVER);
        let then = ends.min(wakes).min(next_tick).min(hrtick).min(length);
        lab.advance(then - now);
        if let Some(at) = runs {
            states[at].left = states[at].left.saturating_sub(then - now);
        }
        now = then;
        let mut slept = false;
        if now == next_tick {
            next_tick += tick;
            lab.run(crate::tick::scheduler_tick(lab.cpu(0)));
        } else if now == hrtick {
            lab.fire_hrtick(0);
        } else if now == wakes {
            let at = states.iter().position(|s| s.wakes == Some(wakes)).expect("one wakes then");
            states[at].wakes = None;
            states[at].woken = Some(now);
            match states[at].task {
                Some(p) => _ = lab.wake_unsettled(0, p),
                None => states[at].task = Some(settle_down(&lab, &players[at])),
            }
        } else if now == ends
            && let Some(at) = runs
        {
            lab.block_unsettled(0);
            slept = true;
            sleep(&mut states[at], players[at].habit, now);
        }
        lab.settle();
        let runs_now = playing(&lab, &states);
        if runs_now != runs || slept {
            if let Some(player) = runs {
                course.stints.push(Stint { player, from: since, to: now, put_out: !slept });
            }
            (runs, since) = (runs_now, now);
            if let Some(woken) = runs.and_then(|at| states[at].woken.take()) {
                course.delays.push((now - woken).0 as f64 / 1e6);
            }
        }
        lab.k.platform.events.borrow_mut().clear();
        lab.k.platform.locks.borrow_mut().clear();
        lab.k.platform.lines.borrow_mut().clear();
    }
    if let Some(player) = runs {
        course.stints.push(Stint { player, from: since, to: now, put_out: false });
    }
    course
}

fn begin(habit: Habit) -> State {
    let (left, wakes) = match habit {
        Habit::Hog => (Nanos::from_secs(1_000_000), None),
        Habit::Sleeper { run, phase, .. } => (run, Some(phase)),
        Habit::Once { at, run } => (run, Some(at)),
    };
    State { task: None, left, wakes, woken: None }
}

fn sleep(state: &mut State, habit: Habit, now: Nanos) {
    if let Habit::Sleeper { run, sleep, .. } = habit {
        state.left = run;
        state.wakes = Some(now + sleep);
    }
}

/// A task that is there from the beginning; one that begins with a sleep has lag 0 at its first wakeup.
fn settle_down(lab: &Lab, player: &Player) -> TaskId {
    let new = NewTask {
        pid: Pid(lab.k.tasks.len() as i32),
        policy: player.policy,
        nice: Nice::new(player.nice).expect("-20 to 19"),
        cpus_allowed: cpus(&[0]),
        kernel_thread: false,
        group: crate::GroupId::ROOT,
    };
    let p = new_task(&lab.k, new);
    if let Some(slice) = player.slice {
        set_custom_slice(&lab.k, &lab.k.task(p).se, Nanos((slice * 1e6) as u64));
    }
    if let Habit::Sleeper { .. } = player.habit {
        lab.k.task(p).state.overwrite(TaskState::Interruptible);
    } else {
        lab.run(wake_up_new_task_on(lab.cpu(0), p, Some(CpuId(0))));
    }
    p
}

fn playing(lab: &Lab, states: &[State]) -> Option<usize> {
    let runs = lab.k.rq(CpuId(0)).published.curr.get();
    states.iter().position(|s| s.task == Some(runs))
}
