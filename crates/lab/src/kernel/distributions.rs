//! Kernels that distributions ship.

use super::release::Release;

/// A distribution's own kernel: the one that its release came with, not one of its backports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// As after `--kernel`.
    pub name: &'static str,
    /// Of which Linux it is.
    pub linux: Release,
    /// CONFIG_HZ of its x86-64 build: ticks a second.
    pub hz: u32,
    /// Whether it follows the stable branch; others carry a selection of later changes, which no document
    /// here lists.
    pub follows_stable: bool,
}

/// Every distribution that `--kernel` knows. Sources: the build configurations of the distributions' x86-64
/// kernels.
pub const DISTRIBUTIONS: &[Distribution] = &[
    debian("debian10", Release::new(4, 19, 0)),
    debian("debian11", Release::new(5, 10, 0)),
    debian("debian12", Release::new(6, 1, 0)),
    debian("debian13", Release::new(6, 12, 0)),
    ubuntu("ubuntu18.04", Release::new(4, 15, 0)),
    ubuntu("ubuntu20.04", Release::new(5, 4, 0)),
    ubuntu("ubuntu22.04", Release::new(5, 15, 0)),
    ubuntu("ubuntu24.04", Release::new(6, 8, 0)),
    Distribution { hz: 1000, ..ubuntu("ubuntu26.04", Release::new(7, 0, 0)) },
    rhel("rhel7", Release::new(3, 10, 0)),
    rhel("rhel8", Release::new(4, 18, 0)),
    rhel("rhel9", Release::new(5, 14, 0)),
    rhel("rhel10", Release::new(6, 12, 0)),
];

const fn debian(name: &'static str, linux: Release) -> Distribution {
    Distribution { name, linux: linux.end_of_branch(), hz: 250, follows_stable: true }
}

const fn ubuntu(name: &'static str, linux: Release) -> Distribution {
    Distribution { name, linux, hz: 250, follows_stable: false }
}

const fn rhel(name: &'static str, linux: Release) -> Distribution {
    Distribution { name, linux, hz: 1000, follows_stable: false }
}
