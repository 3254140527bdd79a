//! What costs depend on how far apart two CPUs are: measured where the machine has such CPUs, else between
//! what it has.

use super::file::{BASE, Cost, Primitives};
use machine::Distance;

/// A kind of cost, by its table in a machine file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The way of an interrupt.
    Ipi,
    /// A cache line that the other CPU modified.
    Line,
}

impl Kind {
    /// All of them, in the order of the file.
    pub const ALL: [Kind; 2] = [Kind::Ipi, Kind::Line];

    /// Its key under `costs`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ipi => "ipi",
            Kind::Line => "line",
        }
    }
}

impl Primitives<'_> {
    /// What `kind` costs over this distance.
    pub fn over(&self, kind: Kind, distance: Distance) -> Cost {
        self.measured_over(kind, distance).unwrap_or_else(|| self.assumed_over(kind, distance))
    }

    fn measured_over(&self, kind: Kind, distance: Distance) -> Option<Cost> {
        let pair = self.measured.pairs.iter().find(|pair| pair.distance == distance)?;
        match kind {
            Kind::Line => {
                let line = pair.line?;
                let origin = format!("measured: one way, batches of 100 round trips {line}");
                Some(Cost { ns: line.quarter_ns, origin })
            }
            Kind::Ipi => {
                let round = pair.round?;
                // Where the other CPU did something else meanwhile, nobody was interrupted: low samples are
                // no better ones here. The sender's part takes what the round trip leaves for it, so that no
                // CPU is interrupted before it was asked.
                let known = self.ns("syscall")
                    + self.ns("ipi_send")
                    + self.ns("irq_entry")
                    + self.over(Kind::Line, distance).ns;
                let ns = round.median_ns.saturating_sub(known).max(round.median_ns / 10);
                let origin = format!(
                    "measured: membarrier's round trip, the median, {round} less a system call, ipi_send, \
                     irq_entry and a line; at least a tenth"
                );
                Some(Cost { ns, origin })
            }
        }
    }

    /// What no pair of CPUs here could show. It is never cheaper than what was measured between nearer CPUs,
    /// never dearer than between farther ones.
    fn assumed_over(&self, kind: Kind, distance: Distance) -> Cost {
        let name = |distance: Distance| format!("{}.{}", kind.name(), distance.name());
        let (ns, origin) = match self.base_ns(&name(distance)) {
            // The base has one node.
            0 => {
                let near = self.base_ns(&name(Distance::SameNode));
                (3 * near, format!("assumed: three times the {near} within a node of the machine {BASE}"))
            }
            ns => (ns, self.assumed(&format!("costs.{}", name(distance)))),
        };
        let measured = |other: Distance| self.measured_over(kind, other).map(|cost| cost.ns);
        let (nearer, farther) = Distance::ALL
            .into_iter()
            .filter(|other| *other != distance)
            .partition::<Vec<_>, _>(|other| *other < distance);
        let least = nearer.into_iter().filter_map(measured).max().unwrap_or(0);
        let most = farther.into_iter().filter_map(measured).min().unwrap_or(u64::MAX);
        // What is printed is no longer what stands there.
        let instead = |ns_instead, than: &str| {
            let text = origin.split_once(": ").map_or(origin.as_str(), |(_, text)| text);
            Cost { ns: ns_instead, origin: format!("assumed: {text}: {ns}, but {than} CPUs here") }
        };
        match ns {
            _ if ns < least => instead(least, "no less than nearer"),
            _ if ns > most => instead(most, "no more than farther"),
            _ => Cost { ns, origin },
        }
    }
}
