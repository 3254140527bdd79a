//! Those that wait, by deadline: a search tree that also knows the extremes below each place (eevdf-class
//! 2.1, 3.6).
//!
//! A treap: ordered by deadline and, among equals, by arrival; what keeps it flat are priorities drawn from
//! the numbers of arrival. Its places are those of a vector and are used again, so nothing is allocated once
//! that has grown.

use crate::Nanos;
use crate::fair::queue::EntityId;
use crate::fair::vruntime::{earlier, lag};
use alloc::vec::Vec;

/// Where an entity stands among those that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Virtual deadline in ns; wraps around.
    pub deadline: u64,
    /// Number of its arrival.
    pub arrival: u64,
}

impl Place {
    fn is_before(self, other: Place) -> bool {
        match lag(self.deadline, other.deadline) {
            0 => self.arrival < other.arrival,
            ahead => ahead < 0,
        }
    }
}

/// What the tree knows of an entity; none of it changes while it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Who.
    pub entity: EntityId,
    /// Virtual deadline in ns.
    pub deadline: u64,
    /// Virtual runtime in ns.
    pub vruntime: u64,
    /// Length of its requests.
    pub slice: Nanos,
}

type Link = Option<u32>;

/// The extremes of some of those that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extremes {
    least_vruntime: u64,
    shortest: Nanos,
    longest: Nanos,
}

impl Extremes {
    fn of(candidate: &Candidate) -> Extremes {
        let Candidate { vruntime, slice, .. } = *candidate;
        Extremes { least_vruntime: vruntime, shortest: slice, longest: slice }
    }

    fn and(self, other: Extremes) -> Extremes {
        Extremes {
            least_vruntime: earlier(self.least_vruntime, other.least_vruntime),
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    candidate: Candidate,
    arrival: u64,
    /// No node below has a larger one.
    priority: u64,
    left: Link,
    right: Link,
    /// Of the node and all below.
    extremes: Extremes,
}

/// Before a node, or behind it.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Where something hangs.
struct Above {
    node: u32,
    side: Side,
}

impl Node {
    fn place(&self) -> Place {
        Place { deadline: self.candidate.deadline, arrival: self.arrival }
    }

    fn child(&self, side: Side) -> Link {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }

    fn child_mut(&mut self, side: Side) -> &mut Link {
        match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        }
    }
}

/// The two parts of a tree.
struct Halves {
    before: Link,
    after: Link,
}

/// See the module's head.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The first place that is free; its left one is the next.
    free: Link,
    root: Link,
    arrivals: u64,
}

impl Tree {
    /// An empty tree with room for one: many queues of groups never hold more, and what is allocated now lies
    /// near the queue, which is being made.
    pub(in crate::fair) fn with_room_for_one() -> Tree {
        Tree { nodes: Vec::with_capacity(1), ..Tree::default() }
    }

    /// Adds an entity, behind those with the same deadline.
    pub(super) fn insert(&mut self, candidate: Candidate) -> Place {
        self.arrivals += 1;
        let node = Node {
            candidate,
            arrival: self.arrivals,
            priority: scrambled(self.arrivals),
            left: None,
            right: None,
            extremes: Extremes::of(&candidate),
        };
        let new = match self.free {
            Some(at) => {
                self.free = self.nodes[at as usize].left;
                self.nodes[at as usize] = node;
                at
            }
            None => {
                // By a quarter: a vector that doubles takes up to twice the memory of its tasks.
                if self.nodes.len() == self.nodes.capacity() {
                    self.nodes.reserve_exact((self.nodes.len() / 4).max(4));
                }
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.put_in(new);
        node.place()
    }

    /// Takes out the entity at a place that [`Tree::insert`] gave it.
    pub(super) fn remove(&mut self, place: Place) {
        self.root = self.remove_below(self.root, place);
    }

    /// Puts a node in where its priority ends the way down to its place.
    fn put_in(&mut self, new: u32) {
        let newcomer = self.nodes[new as usize];
        let mut above = None;
        let mut at = self.root;
        while let Some(next) = at {
            let node = &mut self.nodes[next as usize];
            if newcomer.priority > node.priority {
                break;
            }
            // It will be below this one.
            node.extremes = node.extremes.and(newcomer.extremes);
            let side = if newcomer.place().is_before(node.place()) { Side::Left } else { Side::Right };
            above = Some(Above { node: next, side });
            at = node.child(side);
        }
        if at.is_some() {
            let Halves { before, after } = self.split(at, newcomer.place());
            self.hang(new, before, after);
        }
        match above {
            Some(Above { node, side }) => *self.nodes[node as usize].child_mut(side) = Some(new),
            None => self.root = Some(new),
        }
    }

    fn remove_below(&mut self, at: Link, place: Place) -> Link {
        debug_assert!(at.is_some(), "an entity is found where its deadline put it");
        let at = at?;
        let node = self.nodes[at as usize];
        if node.place() == place {
            self.nodes[at as usize].left = self.free;
            self.free = Some(at);
            return self.join(node.left, node.right);
        }
        if place.is_before(node.place()) {
            let left = self.remove_below(node.left, place);
            self.hang(at, left, node.right);
        } else {
            let right = self.remove_below(node.right, place);
            self.hang(at, node.left, right);
        }
        Some(at)
    }

    /// Divides a tree into what stands before a place and what stands behind it.
    fn split(&mut self, at: Link, place: Place) -> Halves {
        let Some(at) = at else { return Halves { before: None, after: None } };
        let node = self.nodes[at as usize];
        if node.place().is_before(place) {
            let Halves { before, after } = self.split(node.right, place);
            self.hang(at, node.left, before);
            Halves { before: Some(at), after }
        } else {
            let Halves { before, after } = self.split(node.left, place);
            self.hang(at, after, node.right);
            Halves { before, after: Some(at) }
        }
    }

    /// One tree of two, of which the first stands wholly before the second.
    fn join(&mut self, before: Link, after: Link) -> Link {
        let (Some(first), Some(second)) = (before, after) else { return before.or(after) };
        let (one, other) = (self.nodes[first as usize], self.nodes[second as usize]);
        if one.priority > other.priority {
            let right = self.join(one.right, after);
            self.hang(first, one.left, right);
            before
        } else {
            let left = self.join(before, other.left);
            self.hang(second, left, other.right);
            after
        }
    }

    /// Gives a node its children.
    fn hang(&mut self, at: u32, left: Link, right: Link) {
        let mut extremes = Extremes::of(&self.nodes[at as usize].candidate);
        if let Some(left) = left {
            extremes = extremes.and(self.nodes[left as usize].extremes);
        }
        if let Some(right) = right {
            extremes = extremes.and(self.nodes[right as usize].extremes);
        }
        let node = &mut self.nodes[at as usize];
        (node.left, node.right, node.extremes) = (left, right, extremes);
    }

    fn node(&self, at: Link) -> Option<&Node> {
        at.map(|at| &self.nodes[at as usize])
    }

    /// The entity with the earliest deadline among those whose virtual runtime is `eligible`. What is
    /// eligible at some virtual runtime has to be so at every smaller one.
    pub(super) fn earliest(&self, eligible: impl Fn(u64) -> bool) -> Option<Candidate> {
        let mut at = self.node(self.root);
        while let Some(node) = at {
            let left = self.node(node.left);
            if left.is_some_and(|left| eligible(left.extremes.least_vruntime)) {
                at = left;
            } else if eligible(node.candidate.vruntime) {
                return Some(node.candidate);
            } else {
                at = self.node(node.right);
            }
        }
        None
    }

    /// The entity with the earliest deadline of all.
    pub fn first(&self) -> Option<Candidate> {
        self.earliest(|_| true)
    }

    /// The least virtual runtime of all.
    pub fn least_vruntime(&self) -> Option<u64> {
        self.node(self.root).map(|root| root.extremes.least_vruntime)
    }

    /// The shortest slice of all.
    pub fn shortest_slice(&self) -> Option<Nanos> {
        self.node(self.root).map(|root| root.extremes.shortest)
    }

    /// The longest slice of all.
    pub fn longest_slice(&self) -> Option<Nanos> {
        self.node(self.root).map(|root| root.extremes.longest)
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Everybody, by deadline. For reports and checks: it takes memory.
    pub fn in_order(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut above = Vec::new();
        let mut at = self.node(self.root);
        while let Some(node) = at.or_else(|| above.pop()) {
            if let (Some(left), true) = (self.node(node.left), at.is_some()) {
                above.push(node);
                at = Some(left);
                continue;
            }
            all.push(node.candidate);
            at = self.node(node.right);
        }
        all
    }
}

/// The number of an arrival, stirred until it looks random (splitmix64).
fn scrambled(arrival: u64) -> u64 {
    let mut z = arrival.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskId;
    use alloc::collections::VecDeque;

    fn candidate(task: u32, deadline: u64, vruntime: u64, slice: u64) -> Candidate {
        Candidate { entity: EntityId::of(TaskId(task)), deadline, vruntime, slice: Nanos(slice) }
    }

    fn order(tree: &Tree) -> Vec<u32> {
        tree.in_order().iter().map(|c| c.entity.task().0).collect()
    }

    fn number(candidate: Option<Candidate>) -> Option<u32> {
        candidate.map(|c| c.entity.task().0)
    }

    #[test]
    fn earlier_deadlines_come_first_and_newcomers_follow_their_equals() {
        let mut tree = Tree::default();
        let places: Vec<Place> = [(1, 50), (2, 10), (3, 50), (4, 90), (5, 50)]
            .map(|(task, deadline)| tree.insert(candidate(task, deadline, 0, 1)))
            .into();
        assert_eq!(order(&tree), [2, 1, 3, 5, 4]);
        assert_eq!(number(tree.first()), Some(2));
        tree.remove(places[2]);
        tree.remove(places[1]);
        assert_eq!(order(&tree), [1, 5, 4]);
        for at in [0, 3, 4] {
            tree.remove(places[at]);
        }
        assert!(tree.is_empty() && tree.first().is_none() && tree.least_vruntime().is_none());
    }

    /// Fair D15: a queue that crosses 2^64 orders as one far from it.
    #[test]
    fn order_survives_the_wrap() {
        let mut tree = Tree::default();
        for (task, deadline) in [(1, u64::MAX), (2, 3), (3, u64::MAX - 5), (4, 0)] {
            tree.insert(candidate(task, deadline, deadline, 1));
        }
        assert_eq!(order(&tree), [3, 1, 4, 2]);
        assert_eq!(tree.least_vruntime(), Some(u64::MAX - 5));
    }

    /// 3.6: the tree finds what a look at everybody finds, whatever has come and gone.
    #[test]
    fn the_tree_agrees_with_a_list() {
        let mut tree = Tree::default();
        let mut list: Vec<(Place, Candidate)> = Vec::new();
        let mut state = 1;
        let mut draw = |below: u64| {
            state = scrambled(state);
            state % below
        };
        for task in 0..4_000 {
            if draw(5) < 3 || list.is_empty() {
                let new = candidate(task, draw(200), draw(200), 1 + draw(20));
                list.push((tree.insert(new), new));
            } else {
                let gone = draw(list.len() as u64) as usize;
                tree.remove(list.swap_remove(gone).0);
            }
            let limit = draw(200);
            let among = list.iter().filter(|(_, c)| c.vruntime <= limit);
            let best = among.min_by_key(|(place, c)| (c.deadline, place.arrival)).map(|(_, c)| *c);
            assert_eq!(tree.earliest(|v| v <= limit), best);
            let all = || list.iter().map(|(_, c)| *c);
            assert_eq!(tree.least_vruntime(), all().map(|c| c.vruntime).min());
            assert_eq!(tree.shortest_slice(), all().map(|c| c.slice).min());
            assert_eq!(tree.longest_slice(), all().map(|c| c.slice).max());
        }
        assert!(list.len() > 100 && tree.in_order().len() == list.len());
        assert!(tree.nodes.len() < list.len() + 100, "places are used again: {}", tree.nodes.len());
    }

    /// A pick goes down one way, and the ways are short.
    #[test]
    fn ten_thousand_entities_stand_in_few_levels() {
        let mut tree = Tree::default();
        for n in 0..10_000 {
            tree.insert(candidate(n, u64::from(n), 0, 1));
        }
        fn depth(tree: &Tree, at: Link) -> usize {
            tree.node(at).map_or(0, |n| 1 + depth(tree, n.left).max(depth(tree, n.right)))
        }
        assert!(depth(&tree, tree.root) < 45, "{}", depth(&tree, tree.root));
        // As in a busy queue: whoever has the earliest deadline goes, and comes back behind all others.
        let mut places: VecDeque<Place> =
            (0..2_000).map(|n| tree.insert(candidate(n, 20_000 + u64::from(n), 0, 1))).collect();
        for n in 0..10_000 {
            tree.remove(places.pop_front().expect("2000 are there"));
            places.push_back(tree.insert(candidate(n, 30_000 + u64::from(n), 0, 1)));
        }
        assert!(depth(&tree, tree.root) < 45, "{}", depth(&tree, tree.root));
    }
}
