//! One scene for each kind of cause: who is to blame, and for how long, is known beforehand.

mod alternatives;
mod budgets;
mod machine;
mod mutexes;
mod running;

use super::scene::Scene;
use lab::machine::Step;
use report::why::Waits;
use scheduler::Nanos;
use schema::why::{Cause, Due, Explanation, WhyTask};
use schema::{Pid, Prio};

fn who(number: i32, comm: &str, prio: i16) -> WhyTask {
    WhyTask { pid: Pid(lab::machine::FIRST_PID + number), comm: comm.into(), prio: Prio(prio) }
}

/// Sleeps until then.
fn sleeper(at: Nanos) -> [Step; 1] {
    [Step::SleepUntil(at)]
}

/// Each wait of a task that wanted to go on: what began it, each cause with its length.
fn preempted(scene: Scene, comm: &str) -> Vec<(Due, Vec<(Cause, u64)>)> {
    let explained = scene.explain_waits(comm, Waits::Runnable);
    let causes =
        |one: &Explanation| one.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    // At the start tasks come and go within no time.
    let long = explained.iter().filter(|one| one.latency.0 > 0);
    long.map(|one| (one.due.clone(), causes(one))).collect()
}
