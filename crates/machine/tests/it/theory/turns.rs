//! FIFO and RR in closed form, on one CPU.

use super::{PROFILES, run};
use crate::script::{Clock, fifo, ms, script, us};
use machine::{Step, TaskSpec};
use scheduler::{Nanos, Policy, RtPriority};

/// Tasks of one priority that are there from the start on, and when each is done.
fn equals(policy: Policy, works: &[Nanos]) -> (Vec<TaskSpec>, Vec<Clock>) {
    let task = |work: &Nanos| {
        let (spec, clock) = script("equal", [Step::Compute(*work)]);
        (TaskSpec { policy, ..spec }, clock)
    };
    works.iter().map(task).unzip()
}

fn ends(clocks: &[Clock]) -> Vec<Nanos> {
    clocks.iter().map(|clock| clock.borrow()[1]).collect()
}

/// One after the other: the k-th is done after the sum of the first k.
#[test]
fn fifo_equals_run_in_the_order_in_which_they_came() {
    let works = [us(1_300), us(41), ms(7), us(299)];
    let sums: Vec<Nanos> = (1..=works.len()).map(|k| Nanos(works[..k].iter().map(|w| w.0).sum())).collect();
    for profile in PROFILES {
        let (tasks, clocks) = equals(fifo(50), &works);
        run(profile, 1, &[], ms(50), tasks);
        assert_eq!(ends(&clocks), sums, "{profile}");
    }
}

/// n equals of k − 1 whole slices of q and a rest r: the i-th is done after (k − 1) n q + i r. The slice
/// is 25 ticks of 4 ms, and the ticks lie at its ends.
#[test]
fn rr_equals_take_turns_of_a_slice() {
    let (n, q, whole, rest) = (3, ms(100), 2, ms(30));
    let expected: Vec<Nanos> = (1..=n).map(|i| Nanos(whole * n * q.0 + i * rest.0)).collect();
    let rr = Policy::Rr(RtPriority::new(50).expect("1 to 99"));
    for profile in PROFILES {
        let works = vec![Nanos(whole * q.0 + rest.0); n as usize];
        let (tasks, clocks) = equals(rr, &works);
        run(profile, 1, &[], ms(1_000), tasks);
        assert_eq!(ends(&clocks), expected, "{profile}");
        let (tasks, clocks) = equals(fifo(50), &works);
        run(profile, 1, &[], ms(1_000), tasks);
        assert_ne!(ends(&clocks), expected, "{profile}: FIFO has no slices");
    }
}
