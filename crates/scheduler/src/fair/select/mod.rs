//! On which CPU a fair task is to run: a woken one near the waker or where it was (`affine`, then
//! `idle_sibling`, which asks `scan` or an older search, or `capacity` where CPUs are not worth the same), a
//! new one where there is least to do (`idlest_group`). Before all that, `energy` asks where a woken one
//! costs least, where that is known. `wake` and `idlest` hold the forms of the 2.6 kernels, and choose among
//! the forms.

mod affine;
mod budget;
mod capacity;
mod core_cpu_thread;
mod energy;
mod idle_group;
mod idle_sibling;
mod idlest;
mod idlest_group;
mod idlest_load;
mod idlest_spare;
mod scan;
mod usable;
mod wake;
mod wakee;

pub(crate) use idlest::select_task_rq_fork;
pub(in crate::fair) use usable::sched_idle_cpu;
pub(crate) use wake::select_task_rq_wake;
pub use wakee::WakeHabits;
pub(crate) use wakee::inherit_habits;
