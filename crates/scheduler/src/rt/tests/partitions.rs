//! Several root domains (deadline-groups B10): real-time and deadline tasks stay in theirs.

use crate::policy::sched_setscheduler;
use crate::testing::{Lab, cpus, deadline, fifo};
use crate::{CpuId, Partitions, Policy, Topology};

/// Four CPUs, in two halves or in one piece.
fn lab(halves: bool, settings: &[&str]) -> Lab {
    let parts = if halves { Partitions::new([cpus(&[0, 1]), cpus(&[2, 3])]) } else { Partitions::whole(4) };
    Lab::divided(&Topology::flat(4), &parts, "6.18", settings)
}

/// A task that could run at once on CPU 2 waits on CPU 1 if that is beyond its root domain.
#[test]
fn nobody_is_pushed_into_another_root_domain() {
    for (halves, waits) in [(true, true), (false, false)] {
        let lab = lab(halves, &["NO_RT_PUSH_IPI"]);
        let [a, b] = [0, 1].map(|cpu| lab.spawn(fifo(50), cpu));
        lab.settle();
        let low = lab.spawn(fifo(10), 1);
        lab.settle();
        assert_eq!([lab.running(0), lab.running(1)], [a, b]);
        assert_eq!(lab.k.task_running(low), !waits, "halves: {halves}");
        assert_eq!(lab.k.root_domain(CpuId(1)).rt.rto_count(), u32::from(waits));
        assert_eq!(
            lab.k.root_domain(CpuId(3)).rt.rto_count(),
            0,
            "the other half has no overload of its own"
        );
    }
}

/// deadline-groups A3 and B10: each half promises what its own CPUs have.
#[test]
fn each_root_domain_admits_by_itself() {
    let lab = lab(true, &["dl_server=off"]);
    let admitted = |cpu: u16| {
        let p = lab.spawn(Policy::Normal, cpu);
        let answer = lab.run(sched_setscheduler(lab.cpu(cpu), p, deadline(90, 100, 100)));
        lab.settle();
        answer.is_ok()
    };
    // 2 x 0.95 has room for two of 0.9.
    assert_eq!([0, 1, 0].map(admitted), [true, true, false]);
    assert_eq!([2, 3, 2].map(admitted), [true, true, false], "the first half has taken nothing of this one");
    let total = |cpu| lab.k.root_domain(CpuId(cpu)).dl.total_bw();
    assert_eq!([total(0), total(3)], [2 * 943_718; 2]);
}
