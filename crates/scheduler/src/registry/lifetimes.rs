//! Since and until which kernels a feature exists. One that is not here can be switched in all. Those of 2.6
//! can in every kernel of 2.6, whichever release had them: the documents tried them in kernels of their own,
//! before any release had them and after.

use super::Feature;

/// A release of Linux by its numbers; a stable branch counts on in the third.
pub type ReleaseNumbers = [u32; 3];

/// In which kernels a feature can be switched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// The feature.
    pub feature: Feature,
    /// First release that has it, and first that has it no more.
    pub main: [ReleaseNumbers; 2],
    /// The same of stable branches that have it besides.
    pub stable: &'static [[ReleaseNumbers; 2]],
    /// That in words: "exists since 6.12", "existed from 4.13 to 6.6".
    pub kernels: &'static str,
    /// Where that is documented.
    pub source: &'static str,
}

impl Lifetime {
    /// Of a feature; `None` where nothing is said of it.
    pub fn of(feature: Feature) -> Option<&'static Lifetime> {
        LIFETIMES.iter().find(|lifetime| lifetime.feature == feature)
    }

    /// No release has it: only patches do, those of the profiles that switch it on.
    pub fn is_of_patches(&self) -> bool {
        self.main[0] == self.main[1]
    }

    /// Whether a release has the feature.
    pub fn holds(&self, release: ReleaseNumbers) -> bool {
        let within = |[from, before]: &[ReleaseNumbers; 2]| *from <= release && release < *before;
        within(&self.main) || self.stable.iter().any(within)
    }
}

const STILL: ReleaseNumbers = [u32::MAX; 3];

const fn lives(
    feature: Feature,
    main: [ReleaseNumbers; 2],
    kernels: &'static str,
    source: &'static str,
) -> Lifetime {
    Lifetime { feature, main, stable: &[], kernels, source }
}

const fn since(from: ReleaseNumbers, feature: Feature, kernels: &'static str) -> Lifetime {
    lives(feature, [from, STILL], kernels, "eevdf-class 0.4")
}

/// Of 2.6: what 2.6.35 removed, with the choice that is always made since.
const fn old(feature: Feature, kernels: &'static str) -> Lifetime {
    lives(feature, [[0, 0, 0], [3, 0, 0]], kernels, "fair-class 9; fair-placement 8.1")
}

impl Lifetime {
    const fn and(self, stable: &'static [[ReleaseNumbers; 2]]) -> Lifetime {
        Lifetime { stable, ..self }
    }
}

/// What is known.
pub const LIFETIMES: &[Lifetime] = &[
    since([6, 6, 0], Feature::PlaceLag, "exists since 6.6"),
    since([6, 6, 0], Feature::PlaceDeadlineInitial, "exists since 6.6"),
    since([6, 6, 0], Feature::RunToParity, "exists since 6.6"),
    since([6, 12, 0], Feature::PlaceRelDeadline, "exists since 6.12"),
    since([6, 12, 0], Feature::PreemptShort, "exists since 6.12"),
    since([6, 12, 0], Feature::DelayDequeue, "exists since 6.12"),
    since([6, 12, 0], Feature::DelayZero, "exists since 6.12"),
    since([6, 14, 0], Feature::PickBuddy, "exists since 6.14, and in late 6.12.y")
        .and(&[[[6, 12, 59], [6, 13, 0]]]),
    since([6, 19, 0], Feature::NiRandom, "exists since 6.19, and in late 6.1.y, 6.6.y, 6.12.y and 6.18.y")
        .and(&[
            [[6, 1, 160], [6, 2, 0]],
            [[6, 6, 1], [6, 7, 0]],
            [[6, 12, 59], [6, 13, 0]],
            [[6, 18, 2], [6, 19, 0]],
        ]),
    since([7, 1, 0], Feature::NiRate, "exists since 7.1"),
    lives(Feature::LbBias, [[0, 0, 0], [5, 3, 0]], "existed until 5.2", "fair-placement 8.1, 8.3"),
    lives(Feature::SisAvgCpu, [[4, 9, 0], [5, 12, 0]], "existed from 4.9 to 5.11", "fair-placement 8.3, 8.5"),
    lives(
        Feature::SisProp,
        [[4, 13, 0], [6, 7, 0]],
        "existed from 4.13 to 6.6",
        "fair-placement 8.3; eevdf-class 0.4",
    ),
    lives(
        Feature::SisUtil,
        [[5, 19, 0], STILL],
        "exists since 5.19, and in late 5.15.y",
        "fair-placement 8.1",
    )
    .and(&[[[5, 15, 1], [5, 16, 0]]]),
    lives(Feature::WaIdle, [[4, 14, 0], STILL], "exists since 4.14", "fair-placement 8.3"),
    lives(Feature::WaWeight, [[4, 14, 0], STILL], "exists since 4.14", "fair-placement 8.3"),
    lives(Feature::WaBias, [[4, 14, 0], STILL], "exists since 4.14", "fair-placement 8.3"),
    lives(Feature::UtilEst, [[4, 17, 0], STILL], "exists since 4.17", "fair-placement 8.3"),
    lives(
        Feature::UtilEstFastup,
        [[5, 5, 0], [6, 8, 0]],
        "existed from 5.5 to 6.7, and is always on since",
        "fair-placement 8.1 [R]",
    ),
    lives(Feature::BaseSlice, [[5, 13, 0], [6, 6, 0]], "existed from 5.13 to 6.5", "fair-placement 8.3"),
    lives(Feature::TtwuQueue, [[3, 0, 0], STILL], "exists since 3.0", "rt-class 0.3"),
    // The patches of seed 001 are for 4.0.
    lives(Feature::RtPushIpi, [[4, 0, 0], STILL], "exists since 4.1", "rt-class 0.3"),
    lives(
        Feature::PreemptLazy,
        [[0, 0, 0], [0, 0, 0]],
        "is one of the -rt patches, which mainline has not taken over",
        "machine.md 1.10",
    ),
    old(Feature::FairSleepers, "existed until 2.6.34, and is always on since"),
    old(Feature::NormalizedSleeper, "existed until 2.6.34"),
    old(Feature::StartNice, "was in no release: a patch of 2010 to 2.6.35"),
    old(Feature::AdaptiveGran, "existed until 2.6.34"),
    old(Feature::AsymGran, "existed until 2.6.34, and is always on since"),
    old(Feature::WakeupSync, "existed from 2.6.32 to 2.6.34"),
    old(Feature::WakeupOverlap, "existed until 2.6.34"),
    old(Feature::WakeupRunning, "existed from 2.6.32 to 2.6.34"),
    old(Feature::SyncWakeups, "existed until 2.6.34, and is always on since"),
    old(Feature::SyncLess, "existed from 2.6.32 to 2.6.34"),
    old(Feature::SyncMore, "existed from 2.6.32 to 2.6.34"),
    lives(
        Feature::AffineWakeups,
        [[0, 0, 0], [3, 3, 0]],
        "existed until 3.2, without effect from 2.6.35 on",
        "fair-class 9; fair-placement 8.1",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Belonging, FairPolicy};

    #[test]
    fn each_feature_stands_once() {
        for lifetime in LIFETIMES {
            assert_eq!(Lifetime::of(lifetime.feature), Some(lifetime), "{:?}", lifetime.feature);
        }
    }

    #[test]
    fn what_is_said_of_a_discipline_agrees() {
        for lifetime in LIFETIMES {
            let belonging = Belonging::of(lifetime.feature.name());
            let of_eevdf = belonging.filter(|belonging| belonging.to == FairPolicy::Eevdf);
            assert!(of_eevdf.is_none_or(|b| lifetime.kernels.starts_with(b.kernels)), "{}", lifetime.kernels);
        }
    }

    /// eevdf-class 0.4, fair-placement 8.1 and 8.7.
    #[test]
    fn releases_inside_and_outside() {
        let has = |feature, release| Lifetime::of(feature).is_some_and(|l| l.holds(release));
        assert!(!has(Feature::DelayDequeue, [6, 11, 0]) && has(Feature::DelayDequeue, [6, 12, 0]));
        assert!(has(Feature::SisProp, [6, 6, 0]) && !has(Feature::SisProp, [6, 7, 0]));
        assert!(!has(Feature::NiRandom, [6, 1, 159]) && has(Feature::NiRandom, [6, 1, 160]));
        assert!(!has(Feature::NiRandom, [6, 2, 0]) && has(Feature::NiRandom, [7, 3, 0]));
        assert!(has(Feature::LbBias, [4, 19, 0]) && !has(Feature::LbBias, [5, 4, 0]));
    }
}
