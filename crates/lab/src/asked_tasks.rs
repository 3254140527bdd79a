//! Tasks that somebody asks for, by name or pid: whether they are there, and which ones are like those that
//! are not.

use crate::error::Error;
use std::collections::BTreeMap;
use suggest::suggest;
use workload::replay::TaskSelector;

/// The tasks of a run or a recording: each pid with a name that it had.
pub(crate) type Named<'n> = (u32, &'n str);

/// Whether a task is one of those that are asked for; nobody asks for one: all are.
pub(crate) fn is_meant(asked: &[TaskSelector], pid: u32, comm: &str) -> bool {
    asked.is_empty() || asked.iter().any(|whom| whom.matches(pid, comm))
}

/// Makes sure that everybody who is asked for is there; the idle tasks are nobody.
pub(crate) fn all_are_there<'n>(
    asked: &[TaskSelector],
    there: impl IntoIterator<Item = Named<'n>>,
) -> Result<(), Error> {
    if asked.is_empty() {
        return Ok(());
    }
    if asked.contains(&TaskSelector::Pid(0)) {
        return Err(Error::IdleTask);
    }
    let there: Vec<Named<'n>> = there.into_iter().collect();
    let is_there = |whom: &TaskSelector| there.iter().any(|(pid, comm)| whom.matches(*pid, comm));
    let Some(whom) = asked.iter().find(|whom| !is_there(whom)) else { return Ok(()) };
    let nearest = match whom {
        TaskSelector::Pid(wanted) => {
            let pids = there.iter().map(|(pid, _)| *pid);
            pids.min_by_key(|pid| pid.abs_diff(wanted.unsigned_abs())).map(|pid| pid.to_string())
        }
        TaskSelector::Comm(_) | TaskSelector::Glob(_) => {
            // A name once, in the order of names.
            let comms: BTreeMap<&str, ()> = there.iter().map(|(_, comm)| (*comm, ())).collect();
            suggest(&whom.word(), comms.into_keys()).map(str::to_owned)
        }
    };
    Err(Error::NoTask { whom: whom.clone(), nearest })
}
