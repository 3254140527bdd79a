//! Rules of what tasks count where CPUs are compared, and what a CPU is worth (fair-placement 1).

rules! {
    RtLoadWeight rt_load_weight "What does an RT task add to its CPU's load?" "fair-class 1.1; rt-class 9" {
        Zero "zero" "Nothing (2.6.35 on).",
        TwiceMax "twice_max"
            "Twice the weight of nice -20, 177522: fair tasks avoid a CPU that runs RT tasks (up to 2.6.34).",
    }
    LoadTracking load_tracking
        "What does a task count where CPUs are compared?" "fair-class 8.2; fair-placement 1" {
        Pelt "pelt" "Decaying averages of how much it was runnable, and ran (3.8 on, in the form of 4.3).",
        Weights "weights" "All its weight while it is runnable, nothing while it sleeps (up to 3.7).",
    }
    BalanceLoad balance_load
        "Which of its tasks are the load of a CPU, where CPUs are compared?" "fair-placement 1.6, 8.5" {
        All "all" "All, those asleep too (5.7 on).",
        Queued "queued" "Those that are queued (3.8 to 5.6).",
    }
    NewTaskUtil new_task_util "What does a new task count as using?" "fair-placement 1.7, 8.5" {
        Half "half" "Half of what is free on its CPU (4.7 on).",
        Full "full" "All of a CPU (up to 4.6).",
    }
    PeltLag pelt_lag
        "Does a task that leaves an idle CPU asleep fade for all of its sleep?" "fair-placement 1.7" {
        On "on" "Yes (6.0 on).",
        Off "off" "Only up to the last update of that CPU's queue.",
    }
    CpuCapacity cpu_capacity
        "Is a CPU worth less to fair tasks by what real-time ones use of it?" "fair-placement 1.9" {
        Pelt "pelt" "Yes, by a decaying average of it (4.19 on).",
        Windows "windows"
            "Yes, by their time in the last half second, and half of that in each half second before (up to \
             4.18).",
        Ignored "ignored" "No.",
    }
    UnequalCpus unequal_cpus
        "Must a task fit a CPU, where the firmware tells that CPUs are worth more and less?"
        "deadline-groups C1" {
        Fit "fit"
            "Yes: wakeups look for an idle CPU that it fits, and a task that does not fit where it runs moves \
             to a better one (5.10 on).",
        Ignored "ignored"
            "No: such CPUs are only worth less where loads are compared (up to 5.9; from 4.9 on those kernels \
             placed such tasks in other ways, which are not modelled).",
    }
    Governor governor
        "Who chooses the frequencies of CPUs that have several (scaling_governor)?" "deadline-groups C2" {
        Performance "performance" "Nobody: they run at the highest.",
        Schedutil "schedutil"
            "The scheduler: what a CPU's tasks use, within their clamps, and a quarter more (4.7 on).",
    }
    FreqMargin freq_margin
        "Is the quarter that schedutil adds part of what clamps bound?" "deadline-groups C2" {
        After "after" "No: it comes on top of the clamped utilisation (up to 6.7).",
        Before "before" "Yes: a clamp is the frequency's as well (6.8 on).",
    }
    EnergyAware energy_aware
        "Does a woken fair task go where it costs the least energy, as long as no CPU is overutilised?"
        "deadline-groups C4" {
        AnyGain "any_gain"
            "Yes, for any gain, where a machine file says what CPUs take and governor=schedutil chooses their \
             frequencies (6.0 on).",
        Sixteenth "sixteenth" "Yes, for a gain of a sixteenth of all that is taken (5.0 to 5.19).",
        Off "off" "No.",
    }
    Uclamp uclamp
        "How do clamps of utilisation decide which CPU a task fits?" "deadline-groups B11" {
        Fits "fits"
            "It fits below its upper clamp on a CPU that is worth that, and above its lower one only on a CPU \
             that is worth as much; a fifth has to stay free of what it really uses alone (6.2 on, 6.1.y).",
        Margin "margin"
            "It counts as using what it uses within its clamps, and a fifth more than that (5.3 to 6.1).",
        Off "off" "There are none (up to 5.2).",
    }
}
