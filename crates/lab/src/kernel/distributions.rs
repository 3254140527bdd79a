//! Kernels that distributions ship.

use super::release::Release;
use scheduler::registry::PreemptModel;

/// A distribution's own kernel: the one that its release came with, not one of its backports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// As after `--kernel`.
    pub name: &'static str,
    /// What the distribution calls that release, in one word; understood there, too.
    pub codename: Option<&'static str>,
    /// Of which Linux it is.
    pub linux: Release,
    /// How its x86-64 kernel is built and boots.
    pub build: Build,
    /// Whether it follows the stable branch; others carry a selection of later changes, which no document
    /// here lists.
    pub follows_stable: bool,
}

/// What a distribution decides about its kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Build {
    /// CONFIG_HZ: ticks a second.
    pub hz: u32,
    /// How it preempts tasks in the kernel where nobody says `preempt=` at boot.
    pub preempt_model: PreemptModel,
    /// Whether that model was read in a kernel of the distribution (fair-placement 8.8).
    pub model_origin: ModelOrigin,
}

/// How a distribution's preemption model is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelOrigin {
    /// Read in such a kernel.
    Read,
    /// Nobody has looked.
    Assumed,
}

impl Build {
    /// What it sets: `hz=250, preempt_model=voluntary`, and whether a part of it is assumed.
    #[must_use]
    pub fn settings_text(&self) -> String {
        format!("hz={}, preempt_model={}", self.hz, self.model_text())
    }

    /// The preemption model, and whether it is assumed: `voluntary (assumed)`.
    #[must_use]
    pub fn model_text(&self) -> String {
        let assumed = match self.model_origin {
            ModelOrigin::Read => "",
            ModelOrigin::Assumed => " (assumed)",
        };
        format!("{}{assumed}", self.preempt_model.name())
    }
}

impl Distribution {
    /// The one with this name or codename.
    pub fn find(word: &str) -> Option<&'static Distribution> {
        DISTRIBUTIONS.iter().find(|d| d.name == word || d.codename == Some(word))
    }
}

/// Distributions whose names do not tell a kernel, by the beginnings of those names, with the reason. A
/// number may follow.
const UNSETTLED: &[(&[&str], &str)] = &[
    (&["fedora", "fc"], "Fedora moves on to newer kernels within a release"),
    (
        &["arch", "manjaro", "tumbleweed", "opensuse", "gentoo", "nixos", "void"],
        "it moves on to newer kernels all the time",
    ),
    (&["alpine"], "it has one of the long-term kernels: 6.6 in 3.19 and 3.20, 6.12 in 3.21 and 3.22"),
    (&["debian14", "forky", "sid"], "it is not released, and moves on to newer kernels"),
    (&["mint", "linuxmint"], "it has the kernels of Ubuntu: ubuntu22.04 in 21, ubuntu24.04 in 22"),
    (&["centos", "rocky", "alma", "almalinux", "oracle"], "it has the kernels of Red Hat: rhel9 in 9"),
];

/// What people write between a distribution's name and its release, where the names here have nothing.
const SEPARATORS: [char; 5] = ['-', ' ', ':', '_', '/'];

/// The distributions that a word without a release may mean: `debian`.
pub fn releases_of(word: &str) -> Vec<&'static str> {
    let word = word.to_lowercase();
    let word = word.trim_end_matches(SEPARATORS);
    let family = |name: &'static str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let names = DISTRIBUTIONS.iter().map(|distribution| distribution.name);
    names.filter(|name| family(name) == word).collect()
}

/// Why the name of a distribution tells no kernel, where that is known.
pub fn why_unsettled(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let is_it = |name: &str| {
        let number = word.strip_prefix(name).map(|rest| rest.trim_start_matches(SEPARATORS));
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    UNSETTLED.iter().find(|(names, _)| names.iter().any(|name| is_it(name))).map(|(_, why)| *why)
}

/// Every distribution that `--kernel` knows. Sources: of ticks the build configurations of the distributions'
/// x86-64 kernels, of preemption models fair-placement 8.8.
pub const DISTRIBUTIONS: &[Distribution] = &[
    debian("debian9", "stretch", Release::new(4, 9, 0), ModelOrigin::Assumed),
    debian("debian10", "buster", Release::new(4, 19, 0), ModelOrigin::Read),
    debian("debian11", "bullseye", Release::new(5, 10, 0), ModelOrigin::Read),
    debian("debian12", "bookworm", Release::new(6, 1, 0), ModelOrigin::Read),
    debian("debian13", "trixie", Release::new(6, 12, 0), ModelOrigin::Assumed),
    ubuntu("ubuntu16.04", "xenial", Release::new(4, 4, 0)),
    ubuntu("ubuntu18.04", "bionic", Release::new(4, 15, 0)),
    ubuntu("ubuntu20.04", "focal", Release::new(5, 4, 0)),
    ubuntu("ubuntu22.04", "jammy", Release::new(5, 15, 0)),
    ubuntu("ubuntu24.04", "noble", Release::new(6, 8, 0)),
    Distribution {
        build: Build { hz: 1000, preempt_model: PreemptModel::Lazy, model_origin: ModelOrigin::Assumed },
        ..ubuntu("ubuntu26.04", "resolute", Release::new(7, 0, 0))
    },
    rhel("rhel7", Release::new(3, 10, 0)),
    rhel("rhel8", Release::new(4, 18, 0)),
    rhel("rhel9", Release::new(5, 14, 0)),
    rhel("rhel10", Release::new(6, 12, 0)),
];

const fn debian(
    name: &'static str,
    codename: &'static str,
    linux: Release,
    model_origin: ModelOrigin,
) -> Distribution {
    let (codename, build) = (Some(codename), voluntary(250, model_origin));
    Distribution { name, codename, linux: linux.end_of_branch(), build, follows_stable: true }
}

const fn ubuntu(name: &'static str, codename: &'static str, linux: Release) -> Distribution {
    let (codename, build) = (Some(codename), voluntary(250, ModelOrigin::Assumed));
    Distribution { name, codename, linux, build, follows_stable: false }
}

const fn rhel(name: &'static str, linux: Release) -> Distribution {
    let build = voluntary(1000, ModelOrigin::Assumed);
    Distribution { name, codename: None, linux, build, follows_stable: false }
}

const fn voluntary(hz: u32, model_origin: ModelOrigin) -> Build {
    Build { hz, preempt_model: PreemptModel::Voluntary, model_origin }
}
