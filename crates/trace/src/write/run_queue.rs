//! Run-queue depth of each CPU, computed from the events, as counters to show above the CPUs.

use super::annotations::{Annotations, CounterId, TrackId};
use crate::model::{Cpu, Event, EventKind, Pid, Trace};
use crate::pidmap::PidMap;

impl Annotations {
    /// Adds a counter `nr_running` for each CPU: how many tasks are runnable there, the running one included
    /// and the idle task not. A task counts from its wakeup to the switch by which it goes to sleep; tasks
    /// that were runnable when the trace began count from their first event on.
    pub fn run_queue_depth(&mut self, trace: &Trace, parent: Option<TrackId>) {
        let counters =
            (0..trace.cpus).map(|cpu| self.counter(&format!("nr_running CPU {cpu}"), "tasks", parent));
        let counters = counters.collect();
        let depth = vec![0; trace.cpus as usize];
        let mut queues = Queues { annotations: self, counters, depth, place: PidMap::new() };
        for event in &trace.events {
            queues.event(event);
        }
    }
}

struct Queues<'a> {
    annotations: &'a mut Annotations,
    counters: Vec<CounterId>,
    depth: Vec<i64>,
    /// On which CPU's queue each task is; `None` for one that sleeps.
    place: PidMap<Option<Cpu>>,
}

impl Queues<'_> {
    fn event(&mut self, event: &Event) {
        let now = event.time_ns;
        match &event.kind {
            EventKind::SchedWakeup(wakeup) | EventKind::SchedWakeupNew(wakeup) => {
                self.put(wakeup.task.pid, Some(wakeup.target_cpu), now);
            }
            // A task on its way through a wakeup is on no queue yet.
            EventKind::SchedMigrateTask(moved) if self.place.get(moved.task.pid).flatten().is_some() => {
                self.put(moved.task.pid, Some(moved.dest_cpu), now);
            }
            EventKind::SchedSwitch(switch) => {
                let stays = switch.prev_state.is_runnable().then_some(event.cpu);
                // A task that was preempted may have been moved before the switch that takes it away.
                if stays.is_none() || self.place.get(switch.prev.pid).flatten().is_none() {
                    self.put(switch.prev.pid, stays, now);
                }
                self.put(switch.next.pid, Some(event.cpu), now);
            }
            _ => {}
        }
    }

    fn put(&mut self, pid: Pid, place: Option<Cpu>, now: u64) {
        let old = self.place.get(pid).flatten();
        if pid == Pid::IDLE || old == place {
            return;
        }
        self.place.insert(pid, place);
        for (cpu, change) in [(old, -1), (place, 1)] {
            if let Some(cpu) = cpu {
                self.depth[cpu.index()] += change;
                self.annotations.value(self.counters[cpu.index()], now, self.depth[cpu.index()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn tasks_count_from_wakeup_to_sleep_and_move_between_queues() {
        let text = "\
            <idle>-0 [000] d... 0.000001: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
            <idle>-0 [000] d... 0.000002: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
            a-7 [000] d... 0.000003: sched_wakeup: comm=b pid=8 prio=120 target_cpu=000\n\
            <idle>-0 [001] d... 0.000004: sched_migrate_task: comm=b pid=8 prio=120 orig_cpu=0 dest_cpu=1\n\
            a-7 [000] d... 0.000005: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
        let trace = read(text.as_bytes()).expect("a trace");
        let mut annotations = Annotations::new();
        annotations.run_queue_depth(&trace, None);
        let values: Vec<_> = annotations.values.iter().map(|v| (v.at_ns / 1000, v.track, v.value)).collect();
        assert_eq!(values, [(1, 0, 1), (3, 0, 2), (4, 0, 1), (4, 1, 1), (5, 0, 0)]);
    }
}
