//! What running costs a budget. GRUB: who reclaims is charged more slowly, by what others leave
//! (deadline-groups A7).

use super::entity::DlEntity;
use super::params::{BW_SHIFT, DlParams, ratio};
use super::server::inactive_server_bw;
use crate::platform::Platform;
use crate::registry::DlGrub;
use crate::rt::RtLimit;
use crate::{CpuId, FULL_CAPACITY, Nanos, ThisCpu};

/// Fractional bits of bw_ratio.
const RATIO_SHIFT: u32 = 8;
const BW_UNIT: u64 = 1 << BW_SHIFT;

/// What an execution of `delta` costs an entity's budget, in ns.
pub(super) fn charged<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, e: &DlEntity, delta: Nanos) -> i64 {
    let reclaims = e.params().is_some_and(|params| params.reclaims());
    let rule = me.k.config.rules.dl_grub.get();
    if !reclaims || rule == DlGrub::Off {
        return plain_charge(me, cpu, delta).0 as i64;
    }
    let limit = Limit::of(me);
    let inactive = me.k.dl_cpus.this_bw(cpu) - me.k.dl_cpus.running_bw(cpu) + inactive_server_bw(me, cpu);
    // Neither in use nor promised: what of the limit is left for classes below.
    let extra = limit.max_bw.saturating_sub(super::admission::total_per_cpu(me, cpu));
    let rate = match rule {
        DlGrub::UMax => {
            let u_act = e.bw().max(limit.max_bw.saturating_sub(inactive + extra));
            (u_act * limit.bw_ratio) >> RATIO_SHIFT
        }
        DlGrub::One | DlGrub::Off => limit.least_rate(e.bw()).max(BW_UNIT.saturating_sub(inactive + extra)),
    };
    ((u128::from(delta.0) * u128::from(rate)) >> BW_SHIFT) as i64
}

/// On a CPU that is worth less, or runs at a lower frequency, a budget, which is of the best one, lasts
/// longer.
fn plain_charge<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, delta: Nanos) -> Nanos {
    let goes_by_capacity = me.k.tasks_must_fit() || me.k.frequencies.are_known();
    let rate = if goes_by_capacity { me.k.present_capacity(cpu) } else { FULL_CAPACITY };
    Nanos(delta.0 * rate / FULL_CAPACITY)
}

/// The least that an execution of `delta` on `cpu` costs a budget of these parameters: who reclaims is
/// charged with its own bandwidth of what may be promised, even if nobody else wants anything.
pub(crate) fn least_charge<P: Platform>(
    me: ThisCpu<'_, P>,
    cpu: CpuId,
    params: DlParams,
    delta: Nanos,
) -> Nanos {
    if !params.reclaims() || me.k.config.rules.dl_grub.get() == DlGrub::Off {
        return plain_charge(me, cpu, delta);
    }
    let rate = Limit::of(me).least_rate(params.bw());
    Nanos(((u128::from(delta.0) * u128::from(rate)) >> BW_SHIFT) as u64)
}

/// How much of a CPU may be promised.
struct Limit {
    /// Umax, in 2^20ths.
    max_bw: u64,
    /// 1/Umax, in 2^8ths.
    bw_ratio: u64,
}

impl Limit {
    fn of<P: Platform>(me: ThisCpu<'_, P>) -> Limit {
        let RtLimit { runtime, period } = RtLimit::of_root(&me.k.config.tunables);
        match runtime {
            Some(runtime) if runtime > Nanos::ZERO => Limit {
                max_bw: ratio(period, runtime),
                bw_ratio: ratio(runtime, period) >> (BW_SHIFT - RATIO_SHIFT),
            },
            _ => Limit { max_bw: BW_UNIT, bw_ratio: 1 << RATIO_SHIFT },
        }
    }

    /// What is charged at least for a bandwidth, in 2^20ths of the time.
    fn least_rate(&self, bw: u64) -> u64 {
        (bw * self.bw_ratio) >> RATIO_SHIFT
    }
}
