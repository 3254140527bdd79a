//! How long the recorded machine took from a wakeup to the switch to the woken task, where nothing came
//! between the two.
//!
//! That way is an input of a replay, as the tasks' CPU time is: the trace shows its length, and no machine
//! file knows it as well. What counts is a switch that the wakeup alone explains: its CPU idled, or ran a
//! task that the woken one, a real-time task, outranks; that task had not begun to sleep; the CPU switched to
//! nobody else since the wakeup; and the switch was recorded. How fair tasks wait for each other is the
//! scheduler's doing, and no part of the way.

use super::recording::{FIRST_FAIR_PRIO, TaskIndex};
use super::track::{By, Ending, Sleep, Track};
use machine::{CountedFrom, Onto, PathTimes, Situation, WakePaths, WokenFrom};
use scheduler::Nanos;
use std::collections::BTreeMap;
use trace::{Pid, Provenance, SchedSwitch};

/// Fewer times of a kind than this say too little of how they are distributed.
const MIN_TIMES: usize = 10;

/// What takes so many times the median of its kind is another matter: the trace lacks events, or the host had
/// the CPU.
const MUCH_LONGER: u64 = 100;

/// Of the times in ftrace's text.
const RESOLUTION: Nanos = Nanos::from_micros(1);

/// A wakeup whose task has not come onto a CPU yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woken {
    /// From when its way counts.
    pub at_ns: u64,
    /// Where the wakeup was made.
    pub from_cpu: u32,
    /// Where the task was queued.
    pub on_cpu: u32,
    /// On which CPU the code that did so ran.
    pub by_cpu: u32,
}

/// The last sleep of a task, by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slept {
    pub task: TaskIndex,
    pub sleep: usize,
}

/// A way that was seen.
#[derive(Clone, Copy, Debug)]
struct Way {
    slept: Slept,
    from: From,
    onto: Onto,
    takes: Nanos,
}

/// Who woke, as far as the CPUs tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    Here,
    Elsewhere,
    HandedOver,
}

/// The ways of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    ways: Vec<Way>,
    /// By CPU, when it last switched, or when who runs there got another rank.
    switched_ns: Vec<Option<u64>>,
}

impl Ways {
    /// `cpu` switches to a woken task, which has not slept since.
    pub fn arrives(&mut self, cpu: u32, now_ns: u64, switch: &SchedSwitch, woken: Woken, slept: Slept) {
        let idles = switch.prev.pid == Pid::IDLE;
        let onto = if idles { Onto::Idle } else { Onto::Lower };
        let preempts =
            switch.prev_state.is_runnable() && switch.next.prio < switch.prev.prio.min(FIRST_FAIR_PRIO);
        let since = self.switched_ns.get(cpu as usize).copied().flatten();
        let alone = since.is_some_and(|since| since <= woken.at_ns)
            && switch.provenance == Provenance::Recorded
            && (idles || preempts);
        let from = match woken {
            Woken { by_cpu, .. } if by_cpu != cpu => From::Elsewhere,
            Woken { from_cpu, .. } if from_cpu != cpu => From::HandedOver,
            _ => From::Here,
        };
        if alone && woken.on_cpu == cpu {
            let takes = Nanos(now_ns.saturating_sub(woken.at_ns));
            self.ways.push(Way { slept, from, onto, takes });
        }
    }

    /// `cpu` has switched, or it runs the same task with another priority.
    pub fn switched(&mut self, cpu: u32, now_ns: u64) {
        if self.switched_ns.len() <= cpu as usize {
            self.switched_ns.resize(cpu as usize + 1, None);
        }
        self.switched_ns[cpu as usize] = Some(now_ns);
    }

    /// The times of each kind. It has to be known which sleeps timers ended.
    pub fn paths(self, counted_from: CountedFrom, tasks: &[Track]) -> WakePaths {
        let mut times: BTreeMap<Situation, Vec<Nanos>> = BTreeMap::new();
        for way in self.ways {
            let Slept { task, sleep } = way.slept;
            let sleep = tasks.get(task.index()).and_then(|track| track.sleeps.get(sleep));
            if let Some(from) = sleep.and_then(|sleep| way.woken_from(sleep)) {
                times.entry(Situation { from, onto: way.onto }).or_default().push(way.takes);
            }
        }
        let mut paths = WakePaths::new(counted_from);
        for (situation, mut times) in times {
            times.sort_unstable();
            let longest = Nanos(times[times.len() / 2].max(RESOLUTION).0.saturating_mul(MUCH_LONGER));
            times.retain(|time| *time <= longest);
            if times.len() >= MIN_TIMES {
                paths.set(situation, PathTimes::of(times));
            }
        }
        if counted_from == CountedFrom::Waking {
            // Such a trace does not show who queued the task.
            for onto in [Onto::Idle, Onto::Lower] {
                let elsewhere = paths.of(Situation { from: WokenFrom::Elsewhere, onto }).cloned();
                paths.set(Situation { from: WokenFrom::HandedOver, onto }, elsewhere);
            }
        }
        paths
    }
}

impl Way {
    fn woken_from(&self, sleep: &Sleep) -> Option<WokenFrom> {
        let Ending { by, .. } = sleep.end?;
        let here = match by {
            By::Stopper | By::Unseen => return None,
            By::Task { .. } if sleep.timer.is_none() => WokenFrom::Task,
            By::Task { .. } | By::Interrupt { .. } | By::Softirq { .. } => WokenFrom::Interrupt,
        };
        Some(match self.from {
            From::Here => here,
            From::Elsewhere => WokenFrom::Elsewhere,
            From::HandedOver => WokenFrom::HandedOver,
        })
    }
}
