//! Shares of task groups within task groups, on one CPU: a group has its weight's part of what its parent
//! has, but for a bounded lag, and its tasks and groups have theirs of that. So the lag of a task is that of
//! each level above it, as far as the levels below pass it on: hierarchical fair queueing (Bennett and Zhang
//! 1996). The bound of one level is that of [`super::shares`].

use super::run_setup;
use crate::script::ms;
use machine::{Behaviour, Env, GroupSpec, Outcome, Setup, Step, TaskSpec};
use proptest::collection::vec;
use proptest::prelude::*;
use scheduler::{GroupId, Nanos};

const LENGTH: Nanos = Nanos(4_000_000_000);

/// What a task of nice 0 weighs.
const NICE_0: u64 = 1024;

#[derive(Debug)]
struct Hog;

impl Behaviour for Hog {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        Step::Compute(ms(1_000))
    }
}

/// A group below the root or another group, with this many shares.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: usize,
    depth: usize,
    shares: u64,
}

/// Groups, the root first, and for each task the group that it is in.
#[derive(Debug)]
struct Tree {
    groups: Vec<Node>,
    tasks: Vec<usize>,
}

impl Tree {
    /// Parents and members are chosen among what there is; no group is below more than two others.
    fn new(groups: &[(usize, u64)], tasks: &[usize]) -> Tree {
        let mut nodes = vec![Node { parent: 0, depth: 0, shares: NICE_0 }];
        for (choice, weight) in groups {
            let may: Vec<usize> = (0..nodes.len()).filter(|n| nodes[*n].depth < 3).collect();
            let parent = may[choice % may.len()];
            // deadline-groups B1.
            let shares = (weight * 1024 + 50) / 100;
            nodes.push(Node { parent, depth: nodes[parent].depth + 1, shares });
        }
        let tasks = tasks.iter().map(|choice| choice % nodes.len()).collect();
        Tree { groups: nodes, tasks }
    }

    /// Whether there is a task in a group or below it.
    fn has_tasks(&self, group: usize) -> bool {
        let above = |task: &usize| {
            let mut levels =
                std::iter::successors(Some(*task), |g| (*g != 0).then(|| self.groups[*g].parent));
            levels.any(|level| level == group)
        };
        self.tasks.iter().any(above)
    }

    /// What competes in a group weighs this much together.
    fn weight_in(&self, group: usize) -> f64 {
        let tasks = self.tasks.iter().filter(|of| **of == group).count() as u64 * NICE_0;
        let child = |n: &usize| *n != 0 && self.groups[*n].parent == group && self.has_tasks(*n);
        let groups: u64 = (0..self.groups.len()).filter(child).map(|n| self.groups[n].shares).sum();
        (tasks + groups) as f64
    }

    /// The part of the CPU that something of this weight in this group has, and by how many bounds of one
    /// level it may be off.
    fn share(&self, group: usize, weight: u64) -> Share {
        let own = weight as f64 / self.weight_in(group);
        if group == 0 {
            return Share { part: own, levels: 1.0 };
        }
        let node = self.groups[group];
        let above = self.share(node.parent, node.shares);
        Share { part: above.part * own, levels: above.levels * own + 1.0 }
    }

    fn run(&self, profile: &str, settings: &[&str]) -> Outcome {
        let mut setup = Setup::new(1);
        let mut ids = vec![GroupId::ROOT];
        for (n, node) in self.groups.iter().enumerate().skip(1) {
            let (parent, shares) = (ids[node.parent], node.shares);
            ids.push(setup.group(GroupSpec { parent, shares, ..GroupSpec::new(format!("g{n}")) }));
        }
        for (n, group) in self.tasks.iter().enumerate() {
            let task = TaskSpec::new(format!("h{n}"), Hog);
            setup.spawn(Nanos::ZERO, TaskSpec { group: Some(ids[*group]), ..task });
        }
        run_setup(profile, 1, settings, LENGTH, setup)
    }
}

#[derive(Clone, Copy, Debug)]
struct Share {
    part: f64,
    levels: f64,
}

/// The tasks that are further from their share than the bound of one level allows, in ms.
fn too_far(tree: &Tree, outcome: &Outcome, bound: f64) -> Vec<String> {
    let look = |(n, group): (usize, &usize)| {
        let task = outcome.tasks.iter().find(|task| *task.comm == *format!("h{n}")).expect("it");
        let had = task.counters.sum_exec_runtime.0 as f64 / 1e6;
        let Share { part, levels } = tree.share(*group, NICE_0);
        let (right, most) = (part * LENGTH.0 as f64 / 1e6, levels * bound);
        ((had - right).abs() > most).then(|| format!("h{n} had {had:.2} of {right:.2} ms, {most:.2} off"))
    };
    tree.tasks.iter().enumerate().filter_map(look).collect()
}

proptest! {
    #![proptest_config(crate::properties::config(48))]

    /// Requests of 3 ms end at the tick after them; a period of CFS is 24 ms, and a tick.
    #[test]
    fn a_group_has_its_part_of_what_its_parent_has(
        groups in vec((0usize..8, 1u64..=10_000), 1..6),
        tasks in vec(0usize..8, 2..8),
    ) {
        let tree = Tree::new(&groups, &tasks);
        let cfs: [&str; 2] = ["sched_latency_ns=24000000", "sched_min_granularity_ns=3000000"];
        for (profile, settings, bound) in [
            ("3.3", &cfs[..], 28.01),
            ("6.1", &cfs[..], 28.01),
            ("6.6", &["base_slice_ns=3000000"][..], 4.01),
            ("6.18.y", &["base_slice_ns=3000000"][..], 4.01),
        ] {
            let far = too_far(&tree, &tree.run(profile, settings), bound);
            prop_assert!(far.is_empty(), "{profile}: {far:?}");
        }
    }
}
