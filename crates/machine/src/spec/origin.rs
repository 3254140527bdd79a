//! Where the figures of a machine file come from.

use std::fmt;

/// How a figure was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginKind {
    /// Measured on the machine that the file describes.
    Measured,
    /// Printed somewhere; the text says where.
    Published,
    /// A guess; the text says on what ground.
    Assumed,
}

impl OriginKind {
    /// Every kind.
    pub const ALL: [OriginKind; 3] = [OriginKind::Measured, OriginKind::Published, OriginKind::Assumed];

    /// The word that starts an origin in a machine file.
    pub const fn name(self) -> &'static str {
        match self {
            OriginKind::Measured => "measured",
            OriginKind::Published => "published",
            OriginKind::Assumed => "assumed",
        }
    }
}

/// One figure of a machine file with its origin, for `--explain`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Path of the figure in the file, as `costs.line.smt`.
    pub field: String,
    /// The figure with its unit, as `1000 ns`.
    pub value: String,
    /// How it was found.
    pub kind: OriginKind,
    /// How exactly, where, or on what ground.
    pub text: String,
}

/// `costs.wakeup = 350 ns (published: …)`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({}: {})", self.field, self.value, self.kind.name(), self.text)
    }
}
