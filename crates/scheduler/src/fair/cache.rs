//! What the CPUs of a last-level cache know of each other (fair-placement 4.1).

use crate::platform::Platform;
use crate::registry::{ClusterWake, IdleTick};
use crate::shared::Kept;
use crate::{CpuId, CpuMask, LevelKind, ThisCpu};

/// The shared structure of a cache's sched domain.
#[derive(Debug)]
pub(super) struct SharedCache {
    /// Some core was seen with all its threads idle, and no search has failed to find one since.
    pub has_idle_cores: Kept<bool>,
    /// So many CPUs a wakeup may look at, by how full they were (SIS_UTIL).
    pub nr_idle_scan: Kept<u64>,
    /// What looking for an idle CPU takes on average, in ns (SIS_PROP).
    pub scan_cost: Kept<u64>,
    /// Its CPUs (sd_llc_size).
    pub size: u32,
    /// CPUs whose ticks are stopped.
    pub nr_idle: Kept<u32>,
}

impl SharedCache {
    /// Of a cache whose CPUs have been idle for long: all of them may be searched, and none ticks. So
    /// many of them are known as idle.
    pub fn of_idle(cpus: &CpuMask, has_cores: bool, nr_idle: u32) -> SharedCache {
        let size = cpus.weight();
        SharedCache {
            has_idle_cores: Kept::new(has_cores),
            nr_idle_scan: Kept::new(u64::from(size)),
            scan_cost: Kept::new(0),
            size,
            nr_idle: Kept::new(nr_idle),
        }
    }
}

/// The structure of the cache of `cpu`.
pub(super) fn shared_cache<'k, P: Platform>(me: ThisCpu<'k, P>, cpu: CpuId) -> &'k SharedCache {
    &me.k.fair_root.caches[me.k.cache_id(cpu).index()]
}

/// The hardware threads of the core of `cpu`, itself included; `None` where it is alone in its core.
pub(super) fn core_of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Option<CpuMask> {
    if !me.k.fair_root.has_cores {
        return None;
    }
    let lowest = me.k.domains(cpu).first()?;
    (lowest.kind == LevelKind::Smt).then_some(lowest.span)
}

/// The CPUs of the cluster of `cpu`, itself included, if wakeups ask for that (rule `cluster_wake`); `None`
/// also where it is in none.
#[inline]
pub(super) fn cluster_of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Option<CpuMask> {
    if !me.k.fair_root.has_clusters || me.k.config.rules.cluster_wake.get() == ClusterWake::Off {
        return None;
    }
    let cluster = me.k.domains(cpu).iter().find(|d| d.kind == LevelKind::Cluster)?;
    Some(cluster.span)
}

/// The executing CPU begins to run its idle task: perhaps its whole core is idle now.
pub(crate) fn entered_idle<P: Platform>(me: ThisCpu<'_, P>) {
    let stops_at_once = match me.k.config.rules.idle_tick.get() {
        IdleTick::Keep => false,
        IdleTick::Drop => !me.k.idle_tick_is_governed(),
        IdleTick::Always => true,
    };
    if stops_at_once {
        super::balance::tick_stopped(me);
    }
    let Some(core) = core_of(me, me.id) else { return };
    let cache = shared_cache(me, me.id);
    if !cache.has_idle_cores.get() && core.iter().all(|c| c == me.id || me.k.idle_cpu(c)) {
        cache.has_idle_cores.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, cpus, level};
    use crate::{Policy, Topology};

    /// fair-placement 5.2: where a governor decides, a CPU that begins to idle still ticks; up to 4.16 it
    /// does not, whatever that says.
    #[test]
    fn a_governor_keeps_the_tick_since_4_17() {
        let stopped = |rule: &str, governed: bool| {
            let lab = Lab::on(&Topology::flat(2), "6.1.y", &[rule]);
            lab.k.platform.has_idle_governor.set(governed);
            lab.spawn(Policy::Normal, 0);
            // A busy tick leaves the mask.
            lab.tick(0);
            lab.block(0);
            lab.k.fair_root.idle_cpus().contains(CpuId(0))
        };
        assert_eq!([stopped("idle_tick=drop", false), stopped("idle_tick=drop", true)], [true, false]);
        assert_eq!([stopped("idle_tick=keep", false), stopped("idle_tick=keep", true)], [false, false]);
        assert_eq!([stopped("idle_tick=always", false), stopped("idle_tick=always", true)], [true, true]);
    }

    /// fair-placement 2.8: a core is known to be idle from when the last of its threads becomes idle.
    #[test]
    fn the_last_thread_that_becomes_idle_tells_of_its_core() {
        let topology = Topology::of(4, [level(4, LevelKind::Smt, 2), level(4, LevelKind::Mc, 4)].into());
        let lab = Lab::on(&topology, "6.1.y", &[]);
        (0..4).for_each(|cpu| _ = lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu])));
        let cache = shared_cache(lab.cpu(0), CpuId(0));
        cache.has_idle_cores.set(false);
        let known_after = |cpu| {
            lab.block(cpu);
            cache.has_idle_cores.get()
        };
        assert_eq!([1, 3, 2].map(known_after), [false, false, true]);
        // A wakeup that is on its way to that CPU itself does not count.
        cache.has_idle_cores.set(false);
        lab.k.rq(CpuId(2)).wake_list.push(lab.running(0));
        entered_idle(lab.cpu(2));
        assert!(cache.has_idle_cores.get());
    }
}
