//! Rules of task groups (deadline-groups B).

rules! {
    GroupShares group_shares "What does a group weigh on a CPU?" "deadline-groups B3" {
        WeightMax "weight_max"
            "By the weights that are queued there or the load of late, whichever is more (4.15 on).",
        Avg "avg" "By the weights that are queued there (up to 4.12).",
    }
    BwExpire bw_expire
        "Does the CPU time that a queue has drawn from its group expire with the period?"
        "deadline-groups B7" {
        Off "off" "No (5.4 on; up to 4.17 it rarely happened).",
        On "on" "Yes (4.18 to 5.3).",
    }
    BwThrottle bw_throttle "What stops when a group has used up its limit?" "deadline-groups B7" {
        Task "task" "Each of its tasks, when it returns to user space (6.18 on).",
        Entity "entity" "The group on that CPU, whatever its tasks are doing (up to 6.17).",
    }
    BwUnthrottle bw_unthrottle "Who lets a throttled group go on on another CPU?" "deadline-groups B7" {
        Ipi "ipi" "That CPU, by an interrupt (6.3 on).",
        Inline "inline" "The timer of the group's period, under that CPU's lock (up to 6.2).",
    }
}
