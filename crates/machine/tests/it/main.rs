//! Tests of the machine from outside, in one program: building one more takes as long as running them all.

mod channels;
mod deadline;
mod engine;
mod frequencies;
mod groups;
mod idle;
mod interrupt_time;
mod kernel_locks;
mod log;
mod partitions;
mod paths;
mod pi_spin;
mod preempt_rt;
mod preemption;
mod properties;
mod rt_push_ipi;
mod sections;
mod softirq;
mod speeds;
mod starvation;
mod theory;
mod timers;
mod unequal;
mod windows;
