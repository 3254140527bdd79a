//! The features that a kernel lists, under its names and in its order: `sched_features` in debugfs, and the
//! mask of `sched_debug`, one bit for each (fair-class 9, 11).
//!
//! Which kernels have a feature is fair-class 9, fair-placement 8.1 and 8.3, eevdf-class 0.4. Those that this
//! scheduler has no use for are listed as the kernels ship them: a bit of the mask counts them, too. The list
//! of 6.1 is compared with a recorded one, those of 4.4, 4.19, 5.4, 5.10, 6.9 and 6.16 with published lists
//! and masks; where a name stands in the others is assumed from these.

use super::release::{Release, Releases};
use scheduler::registry::{Config, Feature};

/// A name in the list.
struct Listed {
    /// As these kernels write it.
    name: &'static str,
    /// Those that list it.
    releases: Releases,
    is: Is,
}

/// What stands behind a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Switch(Feature),
    /// Nothing in this model depends on it.
    Shipped(bool),
}

impl Listed {
    const fn before(self, release: [u16; 3]) -> Listed {
        Listed { releases: self.releases.before(release), ..self }
    }

    const fn and_in(self, stable: &'static [&'static str]) -> Listed {
        Listed { releases: self.releases.and_in(stable), ..self }
    }

    fn is_in(&self, release: Release, profile: &str) -> bool {
        self.releases.hold(release, profile)
    }
}

const fn listed(from: [u16; 3], name: &'static str, is: Is) -> Listed {
    Listed { name, releases: Releases::since(from), is }
}

/// A feature under the name that the settings have for it.
const fn switch(from: [u16; 3], feature: Feature) -> Listed {
    listed(from, feature.name(), Is::Switch(feature))
}

const fn off(from: [u16; 3], name: &'static str) -> Listed {
    listed(from, name, Is::Shipped(false))
}

const fn on(from: [u16; 3], name: &'static str) -> Listed {
    listed(from, name, Is::Shipped(true))
}

const FIRST: [u16; 3] = [0, 0, 0];
/// The features of the clean-up after 2.6.34.
const TIDIED: [u16; 3] = [2, 6, 35];
const EEVDF: [u16; 3] = [6, 6, 0];

const LIST: &[Listed] = &[
    switch(EEVDF, Feature::PlaceLag),
    switch(EEVDF, Feature::PlaceDeadlineInitial),
    switch([6, 12, 0], Feature::PlaceRelDeadline),
    switch(EEVDF, Feature::RunToParity),
    switch([6, 12, 0], Feature::PreemptShort),
    listed(FIRST, "NEW_FAIR_SLEEPERS", Is::Switch(Feature::FairSleepers)).before([2, 6, 32]),
    switch([2, 6, 32], Feature::FairSleepers).before(TIDIED),
    switch([2, 6, 32], Feature::GentleFairSleepers).before(EEVDF),
    switch(FIRST, Feature::NormalizedSleeper).before(TIDIED),
    switch(FIRST, Feature::StartDebit).before(EEVDF),
    switch([2, 6, 32], Feature::StartNice).before([3, 0, 0]),
    switch(FIRST, Feature::WakeupPreemption).before([3, 3, 0]),
    switch(FIRST, Feature::AdaptiveGran).before(TIDIED),
    switch(FIRST, Feature::AsymGran).before(TIDIED),
    switch([2, 6, 32], Feature::WakeupSync).before(TIDIED),
    switch(FIRST, Feature::WakeupOverlap).before(TIDIED),
    switch([2, 6, 32], Feature::WakeupRunning).before(TIDIED),
    switch(FIRST, Feature::SyncWakeups).before(TIDIED),
    switch(FIRST, Feature::AffineWakeups).before([3, 3, 0]),
    switch([2, 6, 32], Feature::SyncLess).before(TIDIED),
    switch([2, 6, 32], Feature::SyncMore).before(TIDIED),
    switch([2, 6, 32], Feature::NextBuddy),
    switch([6, 14, 0], Feature::PickBuddy).and_in(&["6.12.y"]),
    switch(FIRST, Feature::LastBuddy).before(EEVDF),
    switch(FIRST, Feature::CacheHotBuddy),
    switch([6, 12, 0], Feature::DelayDequeue),
    switch([6, 12, 0], Feature::DelayZero),
    off([7, 1, 0], "PARANOID_AVG"),
    listed([3, 3, 0], "WAKEUP_PREEMPTION", Is::Switch(Feature::WakeupPreemption)),
    off([2, 6, 32], "ARCH_POWER").before([4, 0, 0]),
    switch(FIRST, Feature::Hrtick),
    off([5, 12, 0], "HRTICK_DL").before([7, 1, 0]),
    off(FIRST, "DOUBLE_TICK").before([6, 14, 0]),
    switch(FIRST, Feature::LbBias).before([5, 3, 0]),
    on(FIRST, "LB_WAKEUP_UPDATE").before([2, 6, 32]),
    on([2, 6, 32], "LB_SHARES_UPDATE").before([2, 6, 37]),
    on(FIRST, "ASYM_EFF_LOAD").before([2, 6, 37]),
    on(FIRST, "OWNER_SPIN").before([3, 3, 0]),
    listed([2, 6, 37], "NONTASK_POWER", Is::Switch(Feature::NontaskCapacity)).before([4, 0, 0]),
    switch([4, 0, 0], Feature::NontaskCapacity),
    switch([3, 0, 0], Feature::TtwuQueue),
    switch(FIRST, Feature::PreemptLazy).before(FIRST).and_in(&["6.1-rt"]),
    switch([4, 9, 0], Feature::SisAvgCpu).before([5, 12, 0]),
    switch([4, 13, 0], Feature::SisProp).before([6, 7, 0]),
    switch([5, 19, 0], Feature::SisUtil),
    off([4, 10, 0], "WARN_DOUBLE_CLOCK"),
    switch([4, 1, 0], Feature::RtPushIpi),
    off([3, 5, 0], "FORCE_SD_OVERLAP").before([4, 13, 0]),
    switch([3, 3, 0], Feature::RtRuntimeShare),
    off([3, 3, 0], "LB_MIN"),
    switch([4, 4, 0], Feature::AttachAgeLoad),
    switch([4, 14, 0], Feature::WaIdle),
    switch([4, 14, 0], Feature::WaWeight),
    switch([4, 14, 0], Feature::WaBias),
    switch([4, 17, 0], Feature::UtilEst),
    switch([5, 5, 0], Feature::UtilEstFastup).before([6, 8, 0]),
    off([5, 13, 0], "LATENCY_WARN"),
    switch([6, 19, 0], Feature::NiRandom).and_in(&["6.1.y", "6.12.y", "6.18.y"]),
    switch([7, 1, 0], Feature::NiRate),
    on([5, 13, 0], "ALT_PERIOD").before(EEVDF),
    switch([5, 13, 0], Feature::BaseSlice).before(EEVDF),
    on([6, 5, 0], "HZ_BW").before([6, 12, 0]),
];

/// A name and whether it is on.
struct Shown {
    name: &'static str,
    on: bool,
}

/// What the kernel lists, and after that what the run switched that this kernel does not have.
fn shown(config: &Config, release: Release, profile: &str) -> Vec<Shown> {
    let list: Vec<&Listed> = LIST.iter().filter(|listed| listed.is_in(release, profile)).collect();
    let of_kernel = list.iter().map(|listed| Shown {
        name: listed.name,
        on: match listed.is {
            Is::Switch(feature) => config.has(feature),
            Is::Shipped(on) => on,
        },
    });
    let shipped = Config::of_profile(profile).unwrap_or_default();
    let switched = |feature: &&Feature| shipped.has(**feature) != config.has(**feature);
    let foreign = Feature::ALL
        .iter()
        .filter(|feature| list.iter().all(|listed| listed.is != Is::Switch(**feature)))
        .filter(switched)
        .map(|feature| Shown { name: feature.name(), on: config.has(*feature) });
    of_kernel.chain(foreign).collect()
}

/// The file `sched_features`: all names on one line, those that are off with `NO_` before.
pub(super) fn text(config: &Config, release: Release, profile: &str) -> String {
    let all = shown(config, release, profile);
    let names: Vec<String> =
        all.iter().map(|s| format!("{}{}", if s.on { "" } else { "NO_" }, s.name)).collect();
    names.join(" ") + "\n"
}

/// One bit for each name that is on, in their order.
pub(super) fn mask(config: &Config, release: Release, profile: &str) -> u64 {
    shown(config, release, profile).iter().enumerate().filter(|(_, s)| s.on).map(|(bit, _)| 1 << bit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::registry::{Lifetime, PROFILES};

    fn of(profile: &str, settings: &[&str]) -> (String, u64) {
        let config = Config::of_profile(profile).expect("a profile");
        for setting in settings {
            config.set(setting).expect("a setting");
        }
        let release = Release::of(profile, config.rules.fair_policy.get());
        (text(&config, release, profile), mask(&config, release, profile))
    }

    /// guest-6.1 of the recordings: Debian's 6.1.192, `features.txt`.
    const RECORDED: &str = "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY \
        WAKEUP_PREEMPTION NO_HRTICK NO_HRTICK_DL NO_DOUBLE_TICK NONTASK_CAPACITY TTWU_QUEUE NO_SIS_PROP \
        SIS_UTIL NO_WARN_DOUBLE_CLOCK NO_RT_PUSH_IPI NO_RT_RUNTIME_SHARE NO_LB_MIN ATTACH_AGE_LOAD WA_IDLE \
        WA_WEIGHT WA_BIAS UTIL_EST UTIL_EST_FASTUP NO_LATENCY_WARN NI_RANDOM ALT_PERIOD BASE_SLICE";

    #[test]
    fn the_list_of_6_1_192_is_the_recorded_one() {
        assert_eq!(of("6.1.y", &[]).0.trim(), RECORDED);
    }

    /// `sched_debug` of the same kernel.
    #[test]
    fn its_mask_is_the_recorded_one() {
        let file = include_str!("recorded/sched_debug.6.1");
        let line = file.lines().find(|line| line.contains(".sysctl_sched_features")).expect("a mask");
        let recorded: u64 = line.split(':').next_back().expect("a value").trim().parse().expect("a number");
        assert_eq!(of("6.1.y", &[]).1, recorded);
    }

    /// The list of a kernel of 4.3 to 4.6, that others have published; the mask of
    /// 3.7 ([`super::super::layout`]) has a 0 where FORCE_SD_OVERLAP stands, too.
    #[test]
    fn the_list_of_4_4_is_the_published_one() {
        let published = "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY \
            WAKEUP_PREEMPTION NO_HRTICK NO_DOUBLE_TICK LB_BIAS NONTASK_CAPACITY TTWU_QUEUE RT_PUSH_IPI \
            NO_FORCE_SD_OVERLAP RT_RUNTIME_SHARE NO_LB_MIN ATTACH_AGE_LOAD";
        assert_eq!(of("4.4", &[]).0.trim(), published);
    }

    /// `sysctl_sched_features` of outputs of 4.19.0, 5.4.22 and 5.10.0 that others have published.
    #[test]
    fn masks_are_the_published_ones() {
        let masks = ["4.19", "5.4", "5.10"].map(|profile| of(profile, &[]).1);
        assert_eq!(masks, [4_118_331, 2_059_067, 4_139_835]);
    }

    /// A mask of 6.9, which runs as 6.6, and a list of 6.16, which is that of 6.18.
    #[test]
    fn the_lists_of_eevdf_are_the_published_ones() {
        let config = Config::of_profile("6.6").expect("a profile");
        assert_eq!(mask(&config, Release([6, 9, 0]), "6.6"), 6_237_751);
        let published = "PLACE_LAG PLACE_DEADLINE_INITIAL PLACE_REL_DEADLINE RUN_TO_PARITY PREEMPT_SHORT \
            NO_NEXT_BUDDY PICK_BUDDY CACHE_HOT_BUDDY DELAY_DEQUEUE DELAY_ZERO WAKEUP_PREEMPTION NO_HRTICK \
            NO_HRTICK_DL NONTASK_CAPACITY TTWU_QUEUE SIS_UTIL NO_WARN_DOUBLE_CLOCK RT_PUSH_IPI \
            NO_RT_RUNTIME_SHARE NO_LB_MIN ATTACH_AGE_LOAD WA_IDLE WA_WEIGHT WA_BIAS UTIL_EST NO_LATENCY_WARN";
        assert_eq!(of("6.18", &[]).0.trim(), published);
    }

    #[test]
    fn a_feature_that_is_switched_shows_where_it_stands() {
        assert!(of("6.1.y", &["NO_LAST_BUDDY"]).0.contains(" NO_NEXT_BUDDY NO_LAST_BUDDY "));
        assert_eq!(of("6.1.y", &["NO_LAST_BUDDY"]).1, of("6.1.y", &[]).1 & !(1 << 3));
    }

    /// Seed 003's is in no kernel of today, and runs all the same if it is asked for.
    #[test]
    fn what_the_kernel_lacks_and_the_run_switched_comes_last() {
        assert!(of("3.3", &["START_NICE"]).0.ends_with(" NO_LB_MIN START_NICE\n"));
        assert!(!of("3.3", &[]).0.contains("START_NICE"));
    }

    /// fair-class 9.
    #[test]
    fn the_list_of_2_6_32_is_that_of_its_time() {
        let text = of("2.6.32", &[]).0;
        let first = "FAIR_SLEEPERS GENTLE_FAIR_SLEEPERS NO_NORMALIZED_SLEEPER START_DEBIT NO_START_NICE ";
        assert!(text.starts_with(first), "{text}");
        assert!(text.trim().ends_with("LB_BIAS LB_SHARES_UPDATE ASYM_EFF_LOAD OWNER_SPIN"), "{text}");
        assert_eq!(of("2.6.32", &[]).1 & 0b11_1111, 0b10_1011);
    }

    /// eevdf-class 0.4.
    #[test]
    fn eevdf_lists_what_the_specification_says() {
        let text = of("6.18", &[]).0;
        let names: Vec<&str> = text.split_whitespace().collect();
        for name in ["PLACE_LAG", "PREEMPT_SHORT", "NO_NEXT_BUDDY", "PICK_BUDDY", "DELAY_ZERO", "NO_HRTICK"] {
            assert!(names.contains(&name), "{name}: {text}");
        }
        for gone in ["START_DEBIT", "LAST_BUDDY", "SIS_PROP", "DOUBLE_TICK", "HZ_BW", "PARANOID_AVG"] {
            assert!(names.iter().all(|name| name.trim_start_matches("NO_") != gone), "{gone}: {text}");
        }
    }

    /// The settings refuse a feature outside its kernels by another table.
    #[test]
    fn the_list_agrees_with_the_lifetimes() {
        for profile in PROFILES {
            let config = Config::of_profile(profile.name).expect("a profile");
            let release = Release::of(profile.name, config.rules.fair_policy.get());
            for listed in LIST.iter().filter(|listed| listed.is_in(release, profile.name)) {
                let Is::Switch(feature) = listed.is else { continue };
                let has = |life: &Lifetime| life.holds(release.0.map(u32::from)) || config.has(feature);
                assert!(Lifetime::of(feature).is_none_or(has), "{}: {}", profile.name, listed.name);
            }
        }
    }

    /// fair-class 9: "removed (always)"; and what is no feature yet is as it always was.
    #[test]
    fn what_a_profile_has_on_is_listed_or_not_to_be_switched() {
        let always = ["FAIR_SLEEPERS", "ASYM_GRAN", "SYNC_WAKEUPS", "AFFINE_WAKEUPS"];
        let earlier = ["NEXT_BUDDY", "RT_RUNTIME_SHARE", "PICK_BUDDY", "UTIL_EST_FASTUP"];
        for profile in PROFILES {
            let config = Config::of_profile(profile.name).expect("a profile");
            let release = Release::of(profile.name, config.rules.fair_policy.get());
            for feature in Feature::ALL.iter().filter(|feature| config.has(**feature)) {
                let is_it = |l: &&Listed| l.is == Is::Switch(*feature) && l.is_in(release, profile.name);
                let times = LIST.iter().filter(is_it).count();
                let fine =
                    times == 1 || times == 0 && always.iter().chain(&earlier).any(|n| *n == feature.name());
                assert!(fine, "{}: {} stands {times} times", profile.name, feature.name());
            }
        }
    }
}
