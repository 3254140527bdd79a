//! deadline-groups C9: CPUs that the firmware prefers to others, and its worked example.

use super::allow;
use crate::testing::{Lab, cpus};
use crate::{CpuId, LevelKind, Nanos, Policy, Reason, TaskId, Topology, TopologyLevel, domains_of};
use alloc::vec;
use alloc::vec::Vec;

/// What each release does, by its rule.
const FORMS: [&str; 4] = ["off", "by_priority", "busy_threads", "idle_cores"];

/// Two large cores of two threads, CPUs 0-1 and 2-3; a cluster of small CPUs, 4-7.
fn hybrid() -> Topology {
    let level = |kind, spans: &[&[u16]]| {
        let spans = spans.iter().map(|span| cpus(span)).collect();
        TopologyLevel { kind, spans }
    };
    let levels = vec![
        level(LevelKind::Smt, &[&[0, 1], &[2, 3], &[4], &[5], &[6], &[7]]),
        level(LevelKind::Cluster, &[&[0, 1], &[2, 3], &[4, 5, 6, 7]]),
        level(LevelKind::Mc, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
    ];
    Topology::of(8, levels).with_priorities([[60; 4], [35; 4]].concat())
}

/// That machine under a kernel with this form, and a hog on each of these CPUs, which may go anywhere.
fn with_hogs(profile: &str, form: &str, on: &[u16]) -> (Lab, Vec<TaskId>) {
    let settings = ["hz=250", "NO_NI_RANDOM", "idle_tick=drop"];
    let rule = alloc::format!("asym_packing={form}");
    let lab = Lab::on(&hybrid(), profile, &[&settings[..], &[&*rule]].concat());
    let hogs = on.iter().map(|cpu| {
        let p = lab.spawn(Policy::Normal, *cpu);
        allow(&lab, p, cpus(&[*cpu]));
        lab.set_averages(p, 1024, 1024);
        p
    });
    let hogs: Vec<TaskId> = hogs.collect();
    hogs.iter().for_each(|p| allow(&lab, *p, cpus(&[0, 1, 2, 3, 4, 5, 6, 7])));
    lab.forget();
    (lab, hogs)
}

/// Where such hogs are after 200 ms.
fn go(profile: &str, form: &str, on: &[u16]) -> Vec<u16> {
    let (lab, hogs) = with_hogs(profile, form, on);
    lab.run_on(Nanos::from_millis(200));
    hogs.iter().map(|p| lab.cpu_of(*p)).collect()
}

/// Which domains of the small CPUs there are, though the large cores have no cluster level of their own: all
/// CPUs see the same groups of the cache.
#[test]
fn every_cpu_sees_the_same_groups_of_a_hybrid_cache() {
    let domains = domains_of(&hybrid());
    let kinds = |cpu: usize| domains[cpu].iter().map(|domain| domain.kind).collect::<Vec<_>>();
    assert_eq!(kinds(0), [LevelKind::Smt, LevelKind::Mc]);
    assert_eq!(kinds(4), [LevelKind::Cluster, LevelKind::Mc]);
    for chain in &domains {
        let groups: Vec<_> = chain[1].groups().iter().map(|group| (group.span, group.is_core)).collect();
        let both = [(cpus(&[0, 1]), true), (cpus(&[2, 3]), true), (cpus(&[4, 5, 6, 7]), false)];
        assert_eq!(groups, both);
    }
}

/// Example 2: a hog on a small CPU comes to a large core that idles, in every kernel from 4.10 on; and stays
/// where packing is off.
#[test]
fn a_hog_on_a_small_cpu_comes_to_a_large_core() {
    for profile in ["4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.18.y"] {
        for form in FORMS {
            let (lab, hogs) = with_hogs(profile, form, &[4]);
            lab.run_on(Nanos::from_millis(200));
            let cpu = lab.cpu_of(hogs[0]);
            assert_eq!(cpu < 4, form != "off", "{profile} {form}: {cpu}");
            let counted = [Reason::KickAsymPacking, Reason::LbAsymPacking, Reason::ActiveAsymPacking];
            let counted = counted.map(|reason| lab.count(reason) > 0);
            assert_eq!(counted, [form != "off"; 3], "{profile} {form}: asked, decided, given away");
        }
    }
}

/// The rule of each profile.
#[test]
fn which_kernels_pack() {
    let rule = |profile: &str| {
        let config = crate::registry::Config::of_profile(profile).expect("a profile");
        config.rules.asym_packing.get().name()
    };
    assert_eq!(["2.6.36", "4.1", "4.4"].map(rule), ["off"; 3]);
    assert_eq!(["4.19", "5.4", "5.10", "5.15"].map(rule), ["by_priority"; 4]);
    assert_eq!(["6.1", "6.1.y", "6.1-rt"].map(rule), ["busy_threads"; 3]);
    assert_eq!(["6.6", "6.12.y", "6.18.y", "7.1"].map(rule), ["idle_cores"; 4]);
}

/// Example 3: as many hogs as large cores and one more: that one stays on its small CPU, and does not share a
/// core.
#[test]
fn nobody_comes_to_a_core_that_is_busy() {
    for form in FORMS {
        assert_eq!(go("6.1", form, &[0, 2, 4]), [0, 2, 4], "{form}");
    }
}

/// Example 4: up to 6.4 the second thread of a core gives its task to the first one, for nothing.
#[test]
fn up_to_6_4_tasks_changed_between_threads_of_a_core() {
    assert_eq!(go("5.15", "by_priority", &[1]), [0]);
    assert_eq!(go("6.1", "busy_threads", &[1]), [0]);
    assert_eq!(go("6.6", "idle_cores", &[1]), [1]);
    assert_eq!(go("6.6", "off", &[1]), [1]);
}

/// Example 5: whoever shares a core goes to a small CPU, though that is less preferred.
#[test]
fn small_cpus_help_cores_whose_threads_are_busy() {
    for (profile, form) in [("6.1", "busy_threads"), ("6.6", "idle_cores"), ("6.18.y", "idle_cores")] {
        let mut at = go(profile, form, &[0, 1, 2, 3]);
        at.sort_unstable();
        let of_core = |core: u16| at.iter().filter(|cpu| **cpu / 2 == core).count();
        assert_eq!([of_core(0), of_core(1)], [1, 1], "{profile}: {at:?}");
    }
}

/// Example 6, C1: with SMT only whole idle cores act.
#[test]
fn a_core_with_a_busy_thread_takes_nobody_since_6_5() {
    let goes = |profile: &str, form: &str| {
        let (lab, hogs) = with_hogs(profile, form, &[0, 3, 4]);
        allow(&lab, hogs[1], cpus(&[3]));
        lab.run_on(Nanos::from_millis(200));
        lab.cpu_of(hogs[2])
    };
    assert_eq!(goes("6.18.y", "idle_cores"), 4);
    assert_eq!(goes("5.15", "by_priority"), 2, "120 against 70");
}

/// The small CPU's tick asks only if a better one idles, and from 6.5 on only if all of its core does.
#[test]
fn who_asks_for_a_better_cpu() {
    let asks = |form: &str, busy: &[u16]| {
        let (lab, _) = with_hogs("6.1", form, &[&[4], busy].concat());
        lab.advance(Nanos::from_millis(400));
        // Busy CPUs leave the mask of idle ones at their ticks.
        busy.iter().for_each(|cpu| lab.tick(*cpu));
        lab.forget();
        lab.advance(Nanos::from_millis(4));
        lab.tick(4);
        lab.count(Reason::KickAsymPacking) > 0
    };
    assert!(asks("idle_cores", &[]) && asks("idle_cores", &[0, 5]) && !asks("off", &[]));
    assert!(!asks("idle_cores", &[0, 2]) && !asks("idle_cores", &[1, 3]), "half a core is no core");
    assert!(asks("by_priority", &[1, 3]), "the first threads idle: 120 of 70");
    assert!(!asks("by_priority", &[0, 2]), "the second ones: 60 of 70");
    assert!(!asks("idle_cores", &[0, 1, 2, 3]));
}

/// Wakeups know nothing of it: who slept on a small CPU that idles wakes there, as where packing is off.
#[test]
fn a_wakeup_stays_on_its_small_cpu() {
    for form in ["off", "idle_cores"] {
        let (lab, hogs) = with_hogs("6.18.y", form, &[4]);
        lab.set_averages(hogs[0], 1024, 100);
        lab.block(4);
        lab.advance(Nanos::from_millis(1));
        lab.wake(0, hogs[0]);
        assert_eq!(lab.cpu_of(hogs[0]), 4, "{form}");
    }
}

/// Where the firmware prefers nobody, or all alike, the rule has nothing to say.
#[test]
fn a_machine_without_preferences_is_not_packed() {
    let alike = hybrid().with_priorities(vec![60; 8]);
    assert_eq!(alike.priorities, [0; 0]);
    let lab = Lab::on(&alike, "6.18.y", &["hz=250"]);
    let p = lab.spawn(Policy::Normal, 4);
    lab.run_on(Nanos::from_millis(200));
    assert_eq!((lab.cpu_of(p), lab.count(Reason::KickAsymPacking)), (4, 0));
    assert_eq!(lab.k.domains(CpuId(4)).len(), 2);
}
