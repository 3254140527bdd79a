//! Affinity that changes while the task does: what random runs found.

use super::set_cpus_allowed;
use crate::CpuId;
use crate::platform::Lock;
use crate::stop::migration_cpu_stop;
use crate::testing::{Lab, cpus, fifo};

#[test]
fn a_waiting_task_that_begins_to_run_before_it_can_be_moved_is_stopped() {
    let lab = Lab::new(2, "6.1.y", &["NO_TTWU_QUEUE"]);
    lab.spawn_allowed(fifo(9), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(5), 1, cpus(&[1]));
    let mut blocked = false;
    let destination = |lock| lock == Lock::Rq(CpuId(0));
    lab.meanwhile(destination, set_cpus_allowed(lab.cpu(0), p, cpus(&[0])), |_| {
        if !blocked {
            blocked = true;
            lab.block_unsettled(1);
            assert_eq!(lab.running(1), p);
        }
    });
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(0)), (0, p));
}

#[test]
fn a_task_on_its_way_arrives_where_it_may_run_by_then() {
    let lab = Lab::new(3, "6.1.y", &["NO_TTWU_QUEUE"]);
    let p = lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.run(set_cpus_allowed(lab.cpu(2), p, cpus(&[1])));
    assert!(lab.take_ipi(CpuId(0)).is_some());
    let mut changed = false;
    let destination = |lock| lock == Lock::Rq(CpuId(1));
    lab.meanwhile(destination, migration_cpu_stop(lab.cpu(0)), |_| {
        if !changed {
            changed = true;
            lab.run(set_cpus_allowed(lab.cpu(2), p, cpus(&[2])));
        }
    });
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(2)), (2, p));
}
