//! Circles of a graph: nodes from each of which one comes to each other along the edges, as many as there are
//! (its strongly connected components, by Kosaraju's algorithm). Of the libraries that find them, the small
//! ones are not well kept, and the well-kept ones bring half a dozen others.

use std::collections::{BTreeMap, BTreeSet};

/// All circles of the nodes that the edges name, each node in one of them; alone, if none leads back to it.
/// Those to which edges lead come before those from which they come.
pub fn circles<N: Copy + Ord>(edges: &BTreeSet<(N, N)>) -> Vec<BTreeSet<N>> {
    let forth = Neighbours::new(edges.iter().copied());
    let back = Neighbours::new(edges.iter().map(|(from, to)| (*to, *from)));
    let mut left = Vec::new();
    let mut seen = BTreeSet::new();
    for node in edges.iter().flat_map(|(from, to)| [*from, *to]).collect::<BTreeSet<N>>() {
        left.extend(forth.left_from(node, &mut seen));
    }
    // Who is left last comes to all whose circles it can reach: what comes back to it is its circle.
    seen.clear();
    let all = left.into_iter().rev().map(|node| back.left_from(node, &mut seen));
    let mut circles: Vec<BTreeSet<N>> =
        all.filter(|circle| !circle.is_empty()).map(|circle| circle.into_iter().collect()).collect();
    circles.reverse();
    circles
}

/// Where edges lead.
struct Neighbours<N>(BTreeMap<N, Vec<N>>);

impl<N: Copy + Ord> Neighbours<N> {
    fn new(edges: impl Iterator<Item = (N, N)>) -> Neighbours<N> {
        let mut neighbours: BTreeMap<N, Vec<N>> = BTreeMap::new();
        for (from, to) in edges {
            neighbours.entry(from).or_default().push(to);
        }
        Neighbours(neighbours)
    }

    /// The nodes that can be reached and have not been seen, each behind those to which it leads.
    fn left_from(&self, start: N, seen: &mut BTreeSet<N>) -> Vec<N> {
        let mut left = Vec::new();
        let of = |node: N| self.0.get(&node).map_or(&[][..], Vec::as_slice);
        let mut path: Vec<(N, &[N])> = if seen.insert(start) { vec![(start, of(start))] } else { Vec::new() };
        while let Some((node, to)) = path.last_mut() {
            match to.split_last() {
                Some((next, rest)) => {
                    *to = rest;
                    if seen.insert(*next) {
                        path.push((*next, of(*next)));
                    }
                }
                None => {
                    left.push(*node);
                    path.pop();
                }
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let circles = circles(&edges.iter().copied().collect());
        circles.into_iter().map(|circle| circle.into_iter().collect()).collect()
    }

    #[test]
    fn circles_share_edges_and_single_nodes_are_alone() {
        assert_eq!(
            of(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (6, 1)]),
            [vec![4, 5], vec![1, 2, 3], vec![6]]
        );
        assert_eq!(of(&[(1, 2), (2, 1), (2, 3), (3, 2)]), [vec![1, 2, 3]]);
        assert_eq!(of(&[(7, 7)]), [vec![7]]);
        assert_eq!(of(&[]), Vec::<Vec<u32>>::new());
    }

    proptest! {
        /// By definition: two are in one circle if each can be reached from the other.
        #[test]
        fn a_circle_is_who_reaches_whom_and_back(
            edges in prop::collection::btree_set((0..8u32, 0..8u32), 0..20),
        ) {
            let mut reaches = [[false; 8]; 8];
            for (from, to) in &edges {
                reaches[*from as usize][*to as usize] = true;
            }
            for via in 0..8 {
                for from in 0..8 {
                    for to in 0..8 {
                        reaches[from][to] |= reaches[from][via] && reaches[via][to];
                    }
                }
            }
            let circles = circles(&edges);
            let place = |node: usize| circles.iter().position(|circle| circle.contains(&(node as u32)));
            let nodes: BTreeSet<usize> = edges.iter().flat_map(|(a, b)| [*a as usize, *b as usize]).collect();
            prop_assert_eq!(circles.iter().map(BTreeSet::len).sum::<usize>(), nodes.len());
            for &a in &nodes {
                for &b in nodes.iter().filter(|b| **b != a) {
                    prop_assert_eq!(place(a) == place(b), reaches[a][b] && reaches[b][a]);
                    prop_assert!(!reaches[a][b] || place(b) <= place(a));
                }
            }
        }
    }
}
