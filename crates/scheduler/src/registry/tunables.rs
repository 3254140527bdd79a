//! Tunables: the sysctls (fair-class 3, rt-class 1.2 and 8.1).

use core::cell::Cell;

/// One tunable, for listings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunableInfo {
    /// Name as under /proc/sys/kernel.
    pub name: &'static str,
    /// What it bounds, with its unit.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Smallest legal value.
    pub min: i64,
    /// Largest legal value.
    pub max: i64,
}

/// A line for each tunable: field (also its name), default of 6.1, range, meaning, source.
macro_rules! tunables {
    ($($field:ident $default:literal $min:literal..=$max:literal $meaning:literal $source:literal;)+) => {
        /// The value of every tunable; of those that the number of CPUs scales, the kernel's own for one CPU.
        #[derive(Clone, Debug)]
        pub struct Tunables {
            $(#[doc = $meaning] pub $field: Cell<i64>,)+
        }

        impl Default for Tunables {
            fn default() -> Tunables {
                Tunables { $($field: Cell::new($default),)+ }
            }
        }

        /// Every tunable.
        pub const TUNABLES: &[TunableInfo] = &[
            $(TunableInfo {
                name: stringify!($field),
                meaning: $meaning,
                source: $source,
                min: $min,
                max: $max,
            },)+
        ];

        impl Tunables {
            pub(super) fn cell(&self, name: &str) -> Option<&Cell<i64>> {
                match name {
                    $(stringify!($field) => Some(&self.$field),)+
                    _ => None,
                }
            }

            /// Every tunable's name and value, in the order of [`TUNABLES`].
            pub fn iter(&self) -> impl Iterator<Item = TunableSetting> {
                [$(TunableSetting { name: stringify!($field), value: self.$field.get() },)+].into_iter()
            }
        }
    };
}

/// A tunable and its value now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunableSetting {
    /// Its name.
    pub name: &'static str,
    /// Its value, in the unit that its meaning states.
    pub value: i64,
}

tunables! {
    sched_latency_ns 6_000_000 100_000..=1_000_000_000
        "Period in which every runnable fair task runs once, in ns; scaled by the CPUs unless written."
        "fair-class 3";
    sched_min_granularity_ns 750_000 100_000..=1_000_000_000
        "Smallest slice of the period when many tasks run, in ns; scaled by the CPUs unless written."
        "fair-class 3";
    sched_wakeup_granularity_ns 1_000_000 0..=1_000_000_000
        "How far left of the running task a woken one must be to preempt it, in ns; \
         scaled by the CPUs unless written." "fair-class 3, 6.5";
    sched_nr_latency 8 1..=1000
        "Number of runnable tasks from which the period grows; also the buddy gate." "fair-class 3, 4.1";
    sched_migration_cost_ns 500_000 -1..=1_000_000_000
        "A task that ran less than this long ago is cache-hot, in ns; -1 always hot, 0 never."
        "fair-class 3, 8.6";
    sched_nr_migrate 32 1..=1000 "Tasks that one balancing looks at." "fair-class 3, 8.6";
    sched_child_runs_first 0 0..=1 "1: a forked child runs before its parent." "fair-class 5.2";
    sched_compat_yield 0 0..=1 "1: sched_yield goes behind every other fair task." "fair-class 6.7";
    sched_tunable_scaling 1 0..=2
        "How granularities grow with CPUs: 0 not, 1 logarithmically, 2 linearly." "fair-class 3.2";
    sched_scaling_cpus_max 8 1..=512
        "CPUs beyond this number do not scale the granularities (8 since 2.6.33)." "fair-class 3.2";
    sched_rr_timeslice_ms 100 -1..=10_000
        "SCHED_RR time slice in ms; zero or less restores 100." "rt-class 1.2";
    sched_rt_period_us 1_000_000 1000..=60_000_000 "Period of real-time throttling, in µs." "rt-class 8.1";
    sched_rt_runtime_us 950_000 -1..=60_000_000
        "Real-time run time allowed in each period and CPU, in µs; -1 switches throttling off."
        "rt-class 8.1";
    hz 1000 24..=10_000 "Timer ticks per second on a busy CPU (CONFIG_HZ)." "fair-class 2.7";
    nr_cpus 1 1..=4096
        "CPUs that the kernel was built for (CONFIG_NR_CPUS; never fewer than the machine has): the ticks of \
         neighbouring CPUs are half a period divided by this apart." "fair-class 2.7";
    sched_cfs_bandwidth_slice_us 5000 1..=1_000_000
        "CPU time that a queue draws from the limit of its group at a time, in µs." "deadline-groups B7";
    sched_util_clamp_min 1024 0..=1024
        "No task's lower clamp of utilisation counts as more, in 1024ths." "deadline-groups B11";
    sched_util_clamp_max 1024 0..=1024
        "No task's upper clamp of utilisation counts as more, in 1024ths." "deadline-groups B11";
    sched_util_clamp_min_rt_default 1024 0..=1024
        "Lower clamp of utilisation of real-time tasks that ask for none, in 1024ths." "deadline-groups B11";
    schedutil_rate_limit_us 1000 0..=1_000_000
        "Time that has to pass between two changes of a frequency by schedutil, in µs \
         (/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us)." "deadline-groups C2";
    base_slice_ns 700_000 1..=1_000_000_000
        "Length of a request under EEVDF, in ns; scaled by the CPUs unless written." "eevdf-class 0.6";
}
