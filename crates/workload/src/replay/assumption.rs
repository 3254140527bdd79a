//! What waits are taken for that an interrupt ended whose cause the trace does not show. A disk's answer
//! comes so long after the question; a packet from another machine comes when it comes. Which of them a wait
//! was decides what a what-if makes of it, so the user may say what he knows.

use super::recording::{Brought, Recording, ReplayStep, TaskIndex, Waking};
use std::fmt;

/// What such waits of a task are taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// They end when they ended in the recording; those for devices, too.
    Absolute,
    /// They last as long as they lasted in the recording, where it shows that.
    Relative,
}

/// As on the command line.
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waits::Absolute => "waits end at their recorded times",
            Waits::Relative => "waits last as long as recorded",
        })
    }
}

impl Waits {
    /// Takes the waits of a task so.
    pub(super) fn assume(self, recording: &mut Recording, task: TaskIndex) {
        for step in &mut recording.tasks[task.index()].steps {
            if let ReplayStep::Sleep(waking) = step {
                *waking = self.of(*waking);
            }
        }
        if self == Waits::Absolute {
            // Nobody is answered twice.
            for other in &mut recording.tasks {
                other.steps.retain(
                    |step| !matches!(step, ReplayStep::Submit { task: asked_for, .. } if *asked_for == task),
                );
            }
        }
    }

    fn of(self, waking: Waking) -> Waking {
        match (self, waking) {
            (Waits::Absolute, Waking::Served { at, cpu }) => Waking::Outside { at, cpu, slept: None },
            (Waits::Absolute, Waking::Work { number, by: Brought::Served(interrupt) }) => {
                Waking::Work { number, by: Brought::Outside(interrupt) }
            }
            (Waits::Absolute, Waking::Rest { number, by: Brought::Served(interrupt) }) => {
                Waking::Rest { number, by: Brought::Outside(interrupt) }
            }
            (Waits::Relative, Waking::Outside { slept: Some(slept), .. }) => Waking::After(slept),
            (_, other) => other,
        }
    }
}

impl Recording {
    /// Waits that end by an interrupt of unknown cause at their recorded times, and could be relative: those
    /// of tasks that are no threads of the kernel for devices and timers.
    #[must_use]
    pub fn waits_for_outside(&self) -> usize {
        let relative =
            |step: &&ReplayStep| matches!(step, ReplayStep::Sleep(Waking::Outside { slept: Some(_), .. }));
        self.tasks.iter().flat_map(|task| &task.steps).filter(relative).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{programs, trace};
    use super::*;

    const SCRIPT: &str = "0   0 idle R a
         10  0 a S b
         20  0 b D idle
         60  0 irq@idle wakes b
         65  0 idle R b
         70  0 b S idle
         90  0 irq@idle wakes a
         95  0 idle R a
         99  0 a S idle";

    fn assumed(waits: Waits) -> Vec<String> {
        let mut recording = Recording::extract(&trace(SCRIPT));
        for task in 0..recording.tasks.len() {
            waits.assume(&mut recording, TaskIndex(task as u32));
        }
        programs(&recording)
    }

    #[test]
    fn absolute_waits_end_when_they_ended_those_for_devices_too() {
        assert_eq!(Recording::extract(&trace(SCRIPT)).waits_for_outside(), 1);
        assert_eq!(
            assumed(Waits::Absolute),
            [
                "a runnable on 0: 10, sleep till irq at 90, 4, sleep on",
                "b runnable on 0: 10, sleep till irq at 60, 5, sleep on",
            ]
        );
    }

    #[test]
    fn relative_waits_last_as_long_as_they_lasted() {
        assert_eq!(
            assumed(Waits::Relative),
            [
                "a runnable on 0: 10, sleep for 80, 4, sleep on",
                "b runnable on 0: 10, ask for 40 for b, sleep till served, 5, sleep on",
            ]
        );
    }
}
