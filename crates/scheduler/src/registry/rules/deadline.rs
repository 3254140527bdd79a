//! Rules of the deadline class and its servers (deadline-groups A).

rules! {
    DlClass dl_class "Is there a deadline class?" "deadline-groups 0.2" {
        On "on" "Yes (3.14 on).",
        Off "off" "No: SCHED_DEADLINE is refused.",
    }
    DlWakeup dl_wakeup
        "What does a deadline task that wakes have left of its period?" "deadline-groups A5" {
        CbsRevised "cbs_revised"
            "What it had, if its bandwidth allows; one whose deadline lies before the end of its period never \
             gets more than its density allows up to that deadline (4.13 on).",
        Cbs "cbs" "What it had, if its bandwidth allows, else a new period.",
    }
    DlOverload dl_overload "When does a CPU have deadline tasks to give away?" "deadline-groups A9" {
        Count "count" "When two are queued and one of them may move.",
        Pushable "pushable" "When one that may move waits (6.12 on).",
    }
    DlGrub dl_grub "How slowly is a deadline task charged that reclaims?" "deadline-groups A7" {
        One "one" "By its share of what is in use and not promised (4.13 to 6.5).",
        UMax "u_max" "The same, against the 95 % that may be promised (6.6 on).",
        Off "off" "Nobody reclaims: the flag is refused.",
    }
    DlBwRelease dl_bw_release
        "When is the bandwidth of a deadline task free that leaves the class?" "deadline-groups A6" {
        ZeroLag "zero_lag" "When it would have used up its share (4.13 on).",
        Immediate "immediate" "At once.",
    }
    DlServer dl_server
        "How does the fair class get its share against real-time tasks?" "deadline-groups A11" {
        Off "off" "Only by real-time throttling (up to 6.11).",
        Deferred "deferred"
            "By a deadline server of each CPU, 50 ms in each second, that waits until fair tasks would get \
             less than that (6.12 on).",
        Plain "plain" "By such a server that does not wait: fair tasks go first in each second.",
    }
    DlServerStop dl_server_stop "When does that server stop?" "deadline-groups A11" {
        Lazy "lazy" "When it is to run and the CPU has no fair task (6.17 on; 6.12.92 on).",
        LazyIdle "lazy_idle" "Then, and when the CPU has idled for a whole period (7.0 on).",
        OnEmpty "on_empty" "When the last fair task leaves the CPU (6.12 to 6.16).",
    }
    DlServerWakeup dl_server_wakeup
        "What has that server left that stopped within its period?" "deadline-groups A11" {
        RevisedRunning "revised_running"
            "Its bandwidth up to its deadline if fair tasks were starving, else a new period (6.12.103 on).",
        RevisedAll "revised_all"
            "Its bandwidth up to its deadline, and it does not wait: fair tasks that wake go before real-time \
             ones (6.12.83 to 6.12.102).",
        NewPeriod "new_period" "A new period (6.12.0 to 6.12.82).",
    }
}
