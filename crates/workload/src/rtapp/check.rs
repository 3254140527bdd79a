//! What a file can get wrong across events: locks that are taken twice or never given back, barriers without
//! a known number of parties, waits that nothing ends.
//!
//! A task's events run in a fixed order, so a walk over them knows which mutexes it holds at each: two passes
//! over every loop are enough, because a loop that changes what is held fails in its second pass.

use super::error::{Fault, RtAppError};
use super::model::{Event, Repeat, Resources, Task, What};
use super::note::NoteKind;
use super::read::Reader;
use std::collections::BTreeSet;

pub(super) fn check(reader: &mut Reader, tasks: &[Task], resources: &Resources) -> Result<(), RtAppError> {
    barriers(reader, tasks, resources)?;
    waits(reader, tasks, resources);
    for task in tasks {
        Walk { reader, task, resources, held: BTreeSet::new(), synced: BTreeSet::new() }.task()?;
    }
    Ok(())
}

fn events(tasks: &[Task]) -> impl Iterator<Item = &Event> {
    tasks.iter().flat_map(|task| &task.phases).flat_map(|phase| &phase.events)
}

fn barriers(reader: &Reader, tasks: &[Task], resources: &Resources) -> Result<(), RtAppError> {
    let forked: BTreeSet<usize> = events(tasks)
        .filter_map(|event| if let What::Fork(task) = event.what { Some(task) } else { None })
        .collect();
    for task in forked.into_iter().map(|number| &tasks[number]) {
        for event in task.phases.iter().flat_map(|phase| &phase.events) {
            if let What::Barrier(barrier) = event.what {
                let barrier = resources.barriers.name(barrier).to_owned();
                let fault = Fault::BarrierInFork { task: task.name.clone(), barrier };
                return Err(reader.fault(&event.span, fault));
            }
        }
    }
    Ok(())
}

fn waits(reader: &mut Reader, tasks: &[Task], resources: &Resources) {
    let woken: BTreeSet<usize> = events(tasks).filter_map(|event| event.what.wakes()).collect();
    let posted: BTreeSet<usize> = events(tasks)
        .filter_map(|event| if let What::SemPost(semaphore) = event.what { Some(semaphore) } else { None })
        .collect();
    for event in events(tasks) {
        let name = match event.what {
            What::SemWait(semaphore) if !posted.contains(&semaphore) => resources.semaphores.name(semaphore),
            what => match what.waits_on() {
                Some(condition) if !woken.contains(&condition) => resources.conditions.name(condition),
                _ => continue,
            },
        };
        reader.notes.add(NoteKind::NeverWoken, name, reader.source.place(&event.span));
    }
}

struct Walk<'a> {
    reader: &'a mut Reader,
    task: &'a Task,
    resources: &'a Resources,
    held: BTreeSet<usize>,
    /// Starts of the sync events that were noted.
    synced: BTreeSet<usize>,
}

impl Walk<'_> {
    fn task(&mut self) -> Result<(), RtAppError> {
        let task = self.task;
        for _ in 0..passes(task.repeat) {
            for phase in &task.phases {
                for _ in 0..passes(phase.repeat) {
                    for event in &phase.events {
                        self.event(event)?;
                    }
                }
                if phase.repeat == Repeat::Forever {
                    return Ok(());
                }
            }
        }
        if task.repeat == Repeat::Forever {
            return Ok(());
        }
        let last = task.phases.iter().flat_map(|phase| &phase.events).next_back();
        match (self.held.first(), last) {
            (Some(mutex), Some(last)) => Err(self.fault(last, *mutex, Kind::EndsHolding)),
            _ => Ok(()),
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), RtAppError> {
        match event.what {
            What::Lock(mutex) if !self.held.insert(mutex) => Err(self.fault(event, mutex, Kind::LockedTwice)),
            What::Unlock(mutex) if !self.held.remove(&mutex) => Err(self.fault(event, mutex, Kind::NotHeld)),
            What::Wait { mutex, .. } if !self.held.contains(&mutex) => {
                Err(self.fault(event, mutex, Kind::NotHeld))
            }
            What::Suspend { mutex, .. } | What::Resume { mutex, .. } if self.held.contains(&mutex) => {
                Err(self.fault(event, mutex, Kind::LockedTwice))
            }
            What::Sync { mutex, .. } if !self.held.contains(&mutex) => {
                if self.synced.insert(event.span.start) {
                    let place = self.reader.source.place(&event.span);
                    self.reader.notes.add(NoteKind::SyncLocks, self.resources.mutexes.name(mutex), place);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn fault(&self, event: &Event, mutex: usize, kind: Kind) -> RtAppError {
        let (task, mutex) = (self.task.name.clone(), self.resources.mutexes.name(mutex).to_owned());
        let fault = match kind {
            Kind::LockedTwice => Fault::LockedTwice { task, mutex },
            Kind::NotHeld => Fault::NotHeld { task, mutex },
            Kind::EndsHolding => Fault::EndsHolding { task, mutex },
        };
        self.reader.fault(&event.span, fault)
    }
}

enum Kind {
    LockedTwice,
    NotHeld,
    EndsHolding,
}

fn passes(repeat: Repeat) -> u32 {
    if repeat == Repeat::Times(1) { 1 } else { 2 }
}
