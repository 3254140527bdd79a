//! The two need-resched flags (5.1).

use crate::platform::Ipi;
use crate::policy::set_user_nice;
use crate::rq::Resched;
use crate::testing::{Lab, fifo};
use crate::tick::scheduler_tick;
use crate::{CpuId, CpuMask, Nanos, Nice, Policy, Reason, TaskId};
use alloc::format;

/// Two CPUs. On CPU 1 a hog runs whose request has ended, so that any charge asks for a reschedule, and
/// another one waits; nothing is asked yet.
fn lab(model: &str) -> (Lab, [TaskId; 2]) {
    let lab = Lab::new(2, "6.18.y", &[&format!("preempt_model={model}")]);
    let only = CpuMask::single(CpuId(1));
    let tasks = [(); 2].map(|()| lab.spawn_allowed(Policy::Normal, 1, only));
    let [runs, waits] = if lab.running(1) == tasks[0] { tasks } else { [tasks[1], tasks[0]] };
    lab.stand(runs, 10.5, 20.0);
    lab.k.task(runs).se.eevdf.vprot.set(0);
    lab.stand(waits, 11.0, 12.0);
    lab.forget();
    (lab, [runs, waits])
}

impl Lab {
    fn resched(&self, cpu: u16) -> Resched {
        self.k.rq(CpuId(cpu)).published.resched.get()
    }

    fn reschedule_ipis(&self) -> usize {
        self.k.platform.ipis.borrow().iter().filter(|sent| sent.ipi == Ipi::Reschedule).count()
    }

    /// A sleeping task of CPU 1 that will be picked as soon as it is woken.
    fn urgent_sleeper(&self) -> TaskId {
        let p = self.spawn_unsettled(Policy::Normal, 0, 1, CpuMask::single(CpuId(1)));
        let runs = self.running(1);
        self.stand(p, 0.0, 1.0);
        self.k.task(runs).se.eevdf.vprot.set(0);
        self.k.rq(CpuId(1)).published.resched.overwrite(Resched::Full);
        self.settle();
        assert_eq!(self.block(1), p);
        assert_eq!(self.running(1), runs, "whoever was there goes on");
        self.k.task(p).se.eevdf.vlag.set(1_000_000);
        self.k.task(runs).se.eevdf.vprot.set(0);
        self.k.rq(CpuId(1)).published.resched.overwrite(Resched::No);
        self.forget();
        p
    }
}

/// A wakeup on another CPU: the full flag goes with an interrupt, the lazy one without.
#[test]
fn a_lazy_request_sends_no_interrupt() {
    for (model, flag, interrupts) in
        [("voluntary", Resched::Full, 1), ("full", Resched::Full, 1), ("lazy", Resched::Lazy, 0)]
    {
        let (lab, _) = lab(model);
        let p = lab.urgent_sleeper();
        let before = lab.count(Reason::AskedLazily);
        lab.wake_unsettled(0, p);
        assert_eq!((lab.resched(1), lab.reschedule_ipis()), (flag, interrupts), "{model}");
        let told = lab.count(Reason::AskedLazily) - before;
        assert_eq!(told, u64::from(flag == Resched::Lazy), "{model}");
    }
}

/// An idle CPU is always asked in full.
#[test]
fn an_idle_cpu_is_asked_in_full() {
    let lab = Lab::new(2, "6.18.y", &["preempt_model=lazy", "NO_TTWU_QUEUE"]);
    let p = lab.spawn_allowed(Policy::Normal, 1, CpuMask::single(CpuId(1)));
    lab.block(1);
    lab.wake_unsettled(0, p);
    assert_eq!((lab.resched(1), lab.reschedule_ipis()), (Resched::Full, 1));
}

/// Real-time wakeups and changes of nice values ask in full, also who has been asked lazily before.
#[test]
fn other_requests_are_full_ones() {
    let (lab, [runs, _]) = lab("lazy");
    let p = lab.urgent_sleeper();
    lab.wake_unsettled(0, p);
    assert_eq!(lab.resched(1), Resched::Lazy);
    lab.spawn_unsettled(fifo(1), 0, 1, CpuMask::single(CpuId(1)));
    assert_eq!(lab.resched(1), Resched::Full);
    lab.settle();
    lab.block(1);
    assert_eq!(lab.resched(1), Resched::No, "schedule() clears both");
    let curr = lab.running(1);
    assert_ne!(curr, runs, "the woken task was picked");
    lab.k.task(curr).se.eevdf.vprot.set(u64::MAX / 4);
    lab.run(set_user_nice(lab.cpu(1), curr, Nice::new(5).expect("-20 to 19")));
    assert_eq!(lab.resched(1), Resched::Full);
}

/// The tick hardens a request that it finds, not the one that it makes itself: that is the next tick's.
#[test]
fn a_tick_hardens_the_request_that_it_finds() {
    let (lab, _) = lab("lazy");
    lab.advance(Nanos::from_millis(1));
    lab.run(scheduler_tick(lab.cpu(1)));
    assert_eq!(lab.resched(1), Resched::Lazy, "its own request");
    lab.advance(Nanos::from_millis(1));
    lab.run(scheduler_tick(lab.cpu(1)));
    assert_eq!((lab.resched(1), lab.count(Reason::LazyHardened)), (Resched::Full, 1));
    assert_eq!(lab.count(Reason::AskedLazily), 1, "a second lazy request does nothing");
}

/// 3.5, step 3: only the full flag ends the check of a wakeup.
#[test]
fn a_lazy_request_does_not_end_the_check_of_a_wakeup() {
    for (flag, pending) in [(Resched::Lazy, 0), (Resched::Full, 1)] {
        let (lab, _) = lab("lazy");
        let p = lab.urgent_sleeper();
        lab.k.rq(CpuId(1)).published.resched.overwrite(flag);
        lab.wake_unsettled(0, p);
        assert_eq!(lab.count(Reason::PreemptPending), pending, "{flag:?}");
    }
}
