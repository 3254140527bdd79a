//! Which events are recorded. A kernel that lacks some of them is recorded without.

/// Events of a system of tracepoints.
#[derive(Clone, Copy, Debug)]
pub struct EventGroup {
    /// Folder below `events`.
    pub system: &'static str,
    /// Folders below that.
    pub events: &'static [&'static str],
}

/// What recordings hold beside scheduling and the causes of wakeups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// System calls in which tasks wait for each other, for a time or for data.
    pub syscalls: bool,
}

/// Who runs where, and who woke it.
const SCHED: EventGroup = EventGroup {
    system: "sched",
    events: &[
        "sched_switch",
        "sched_waking",
        "sched_wakeup",
        "sched_wakeup_new",
        "sched_migrate_task",
        "sched_process_fork",
        "sched_process_exec",
        "sched_process_exit",
        "sched_pi_setprio",
        "sched_stat_runtime",
        // These come only where kernel.sched_schedstats is 1.
        "sched_stat_wait",
        "sched_stat_sleep",
        "sched_stat_blocked",
        "sched_stat_iowait",
    ],
};

/// Why it was woken: by a device, a timer, deferred work.
const CAUSES: [EventGroup; 4] = [
    EventGroup {
        system: "irq",
        events: &["irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit"],
    },
    EventGroup { system: "irq_vectors", events: &["local_timer_entry", "local_timer_exit"] },
    EventGroup {
        system: "timer",
        events: &["hrtimer_expire_entry", "hrtimer_expire_exit", "timer_expire_entry", "timer_expire_exit"],
    },
    EventGroup { system: "workqueue", events: &["workqueue_execute_start", "workqueue_execute_end"] },
];

/// How long a device took.
const BLOCK: EventGroup = EventGroup { system: "block", events: &["block_rq_issue", "block_rq_complete"] };

/// Who sent the packets that end waits, and when.
const NET: EventGroup = EventGroup { system: "net", events: &["net_dev_xmit", "netif_receive_skb"] };

/// In what a task sleeps by its own wish. Reads and writes are among them, since pipes and sockets are waited
/// for in these.
const SYSCALLS: EventGroup = EventGroup {
    system: "syscalls",
    events: &[
        "sys_enter_futex",
        "sys_exit_futex",
        "sys_enter_futex_wait",
        "sys_exit_futex_wait",
        "sys_enter_futex_waitv",
        "sys_exit_futex_waitv",
        "sys_enter_nanosleep",
        "sys_exit_nanosleep",
        "sys_enter_clock_nanosleep",
        "sys_exit_clock_nanosleep",
        "sys_enter_poll",
        "sys_exit_poll",
        "sys_enter_ppoll",
        "sys_exit_ppoll",
        "sys_enter_select",
        "sys_exit_select",
        "sys_enter_pselect6",
        "sys_exit_pselect6",
        "sys_enter_epoll_wait",
        "sys_exit_epoll_wait",
        "sys_enter_epoll_pwait",
        "sys_exit_epoll_pwait",
        "sys_enter_read",
        "sys_exit_read",
        "sys_enter_write",
        "sys_exit_write",
        "sys_enter_recvfrom",
        "sys_exit_recvfrom",
        "sys_enter_recvmsg",
        "sys_exit_recvmsg",
        "sys_enter_sendto",
        "sys_exit_sendto",
        "sys_enter_sendmsg",
        "sys_exit_sendmsg",
        "sys_enter_wait4",
        "sys_exit_wait4",
        "sys_enter_waitid",
        "sys_exit_waitid",
        "sys_enter_sched_yield",
        "sys_exit_sched_yield",
    ],
};

/// The events to record on a machine with or without block devices.
pub fn wanted(extras: Extras, has_block_devices: bool) -> Vec<EventGroup> {
    let mut groups = vec![SCHED];
    groups.extend(CAUSES);
    groups.push(NET);
    groups.extend(has_block_devices.then_some(BLOCK));
    groups.extend(extras.syscalls.then_some(SYSCALLS));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_system_calls_are_recorded_where_they_are_wanted() {
        let systems = |extras, devices| -> Vec<&str> {
            wanted(extras, devices).into_iter().map(|group| group.system).collect()
        };
        let usual = ["sched", "irq", "irq_vectors", "timer", "workqueue", "net"];
        assert_eq!(systems(Extras::default(), false), usual);
        assert_eq!(systems(Extras::default(), true), [&usual[..], &["block"]].concat());
        assert_eq!(systems(Extras { syscalls: true }, false), [&usual[..], &["syscalls"]].concat());
    }
}
