//! Cores that share a second-level cache (fair-placement 4.1, eevdf-class 4.3).

use super::wakeup::Wake;
use crate::domains::{LevelKind, SchedDomain};
use crate::registry::LbParams;
use crate::testing::{Lab, level};
use crate::{CpuId, Reason, Topology};
use alloc::vec::Vec;

/// Eight CPUs of one cache, in two clusters of four.
fn two_clusters() -> Topology {
    let level = |kind, size| level(8, kind, size);
    Topology::of(8, [level(LevelKind::Cluster, 4), level(LevelKind::Mc, 8)].into())
}

#[test]
fn a_cluster_is_a_level_since_5_16() {
    let levels = |kernel| {
        let lab = Lab::on(&two_clusters(), kernel, &[]);
        assert_eq!(lab.k.llc_span(CpuId(5)).weight(), 8, "{kernel}: the last-level cache is that of all");
        let level = |d: &SchedDomain| (d.kind, d.span.weight(), d.groups().len());
        lab.k.domains(CpuId(5)).iter().map(level).collect::<Vec<_>>()
    };
    for kernel in ["6.1", "6.6", "6.18.y"] {
        assert_eq!(levels(kernel), [(LevelKind::Cluster, 4, 4), (LevelKind::Mc, 8, 2)], "{kernel}");
    }
    for kernel in ["5.15", "4.4", "2.6.36"] {
        assert_eq!(levels(kernel), [(LevelKind::Mc, 8, 8)], "{kernel}");
    }
    let lab = Lab::on(&two_clusters(), "6.1", &[]);
    let cluster = &lab.k.domains(CpuId(0))[0];
    let constants = cluster.constants(LbParams::BySpan);
    assert_eq!((constants.imbalance_pct, constants.cache_nice_tries, constants.min_interval_ms), (117, 1, 4));
    assert!(cluster.shares_cache && cluster.affine);
}

/// CPU 0, busy and about to sleep, wakes a task that ran on CPU 5 of the other cluster; these are busy, too.
fn woken(rule: &str, busy: &[u16], scans: u64) -> (u16, Reason) {
    let wake = Wake::on(&two_clusters(), 0, 5, &[rule]).busy(&[0]).busy(busy);
    wake.lab.allow_scans(scans);
    let (cpu, reasons) = wake.wakes(true, false);
    assert_eq!(reasons[0], Reason::WaSync);
    (cpu, *reasons.last().expect("a reason"))
}

/// 4.3 rows 2, 6 and 7.
#[test]
fn a_woken_task_looks_in_its_wakers_cluster_first() {
    let both =
        |busy: &[u16], scans| ["off", "on"].map(|v| woken(&alloc::format!("cluster_wake={v}"), busy, scans));
    let prev = (5, Reason::SisPrev);
    assert_eq!(both(&[], 8), [prev, (1, Reason::SisCpu)]);
    assert_eq!(both(&[1, 2], 8), [prev, (3, Reason::SisCpu)]);
    assert_eq!(both(&[1, 2, 3], 8), [prev, (4, Reason::SisCpu)], "then in the rest of the cache");
    assert_eq!(both(&[1, 2, 3], 3), [prev, prev], "its last CPU, where no more may be looked at");
    assert_eq!(both(&[1, 2, 3, 5], 8), [(4, Reason::SisCpu); 2]);
}

/// 4.3 rows 4 and 7: the CPU before the last one.
#[test]
fn a_recent_cpu_of_another_cluster_is_second_best() {
    let woken = |rule: &str, scans| {
        let wake = Wake::on(&two_clusters(), 0, 5, &[rule]).busy(&[0, 2, 5]).recent(6);
        wake.lab.allow_scans(scans);
        let (cpu, reasons) = wake.wakes(true, false);
        (cpu, *reasons.last().expect("a reason"))
    };
    assert_eq!(woken("cluster_wake=off", 8), (6, Reason::SisRecent));
    assert_eq!(woken("cluster_wake=on", 8), (1, Reason::SisCpu));
    assert_eq!(woken("cluster_wake=on", 0), (6, Reason::SisRecent), "nothing may be looked at");
}
