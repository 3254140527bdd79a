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
}
