//! Who has a mutex while somebody waits for it.

use super::course::Course;
use super::cpus::{Piece, Since, pieces};
use super::cut::Cut;
use super::tasks::Place;
use schema::why::{Cause, HeldMutex, WhyTask};
use schema::{CpuId, Nanos, Pid};

/// So long is no chain that is not a circle.
const LONGEST_CHAIN: usize = 64;

/// Names the owner of a mutex in each piece of a wait, and what keeps it from going on.
pub(super) fn cut(cut: &mut Cut<'_>, from: Nanos, to: Nanos, mutex: u32) {
    for piece in held(cut.course, from, to, mutex, LONGEST_CHAIN) {
        let Held { chain, behind, cpu } = piece.is;
        cut.push(piece.from, piece.to, cpu, Cause::Mutex { chain, behind });
    }
}

struct Held {
    chain: Vec<HeldMutex>,
    behind: Option<WhyTask>,
    /// Where the last owner is.
    cpu: Option<CpuId>,
}

struct Owned {
    from: Nanos,
    to: Nanos,
    is: Held,
}

/// Who has a mutex, in pieces of a time.
fn held(course: &Course, from: Nanos, to: Nanos, mutex: u32, depth: usize) -> Vec<Owned> {
    let name: Box<str> = course.mutex_name(mutex);
    let mut found = Vec::new();
    for owned in pieces(course.owners(mutex), from, to) {
        let Some(owner) = owned.is else {
            let chain = vec![HeldMutex { mutex: name.clone(), owner: None, boosted: false }];
            found.push(Owned { from: owned.from, to: owned.to, is: Held { chain, behind: None, cpu: None } });
            continue;
        };
        let Some(task) = course.tasks.get(&owner) else { continue };
        for place in task.places(owned.from, owned.to) {
            let link = HeldMutex {
                mutex: name.clone(),
                owner: Some(course.who(owner, place.from)),
                boosted: task.is_boosted_at(place.from),
            };
            found.extend(keeps(course, place, link, depth));
        }
    }
    found
}

/// What keeps an owner that is there.
fn keeps(course: &Course, place: Piece<Place>, link: HeldMutex, depth: usize) -> Vec<Owned> {
    let Piece { from, to, is } = place;
    let alone = |cpu| vec![Owned { from, to, is: Held { chain: vec![link.clone()], behind: None, cpu } }];
    match is {
        Place::Runs(cpu) => alone(Some(cpu)),
        Place::Sleeps => alone(None),
        Place::Waits(cpu) => {
            let runs = course.cpu(cpu).runs(from, to).into_iter();
            let behind = |pid: Pid, time| (pid != Pid::IDLE).then(|| course.who(pid, time));
            runs.map(|piece| Owned {
                from: piece.from,
                to: piece.to,
                is: Held {
                    chain: vec![link.clone()],
                    behind: behind(piece.is.pid, piece.from),
                    cpu: Some(cpu),
                },
            })
            .collect()
        }
        Place::WantsMutex(_) if depth == 0 => alone(None),
        Place::WantsMutex(next) => {
            let mut further = held(course, from, to, next, depth - 1);
            further.iter_mut().for_each(|owned| owned.is.chain.insert(0, link.clone()));
            further
        }
    }
}

/// Who has each mutex, from the steps of all tasks.
pub(super) fn owners(course: &Course) -> Vec<Vec<Since<Option<Pid>>>> {
    let mut changes: Vec<(Nanos, bool, u32, Pid)> = Vec::new();
    for (pid, task) in &course.tasks {
        changes.extend(task.owns.iter().map(|since| (since.from, since.is.owns, since.is.mutex, *pid)));
    }
    // Of what happens at one time, the unlock comes first.
    changes.sort();
    let mut owners: Vec<Vec<Since<Option<Pid>>>> = Vec::new();
    for (from, takes, mutex, pid) in changes {
        let mutex = mutex as usize;
        if owners.len() <= mutex {
            owners.resize_with(mutex + 1, || vec![Since { from: Nanos(0), is: None }]);
        }
        let last = owners[mutex].last().and_then(|since| since.is);
        if takes || last == Some(pid) {
            owners[mutex].push(Since { from, is: takes.then_some(pid) });
        }
    }
    owners
}
