//! What CPUs do: the loop of each, the events and interrupts that keep them going, and the steps of the task
//! that runs.

mod callbacks;
mod cpu;
mod cpu_threads;
mod events;
mod execution;
mod idle;
mod interrupts;
mod irq_threads;
mod kthreads;
mod lock_meetings;
mod preemption;
mod rcu;
mod sim;
mod softirq;
mod steps;
mod switched;
mod ticks;
mod wake_path;

pub(crate) use cpu::cpu_main;
pub(crate) use cpu_threads::CpuThreadPlan;
pub(crate) use kthreads::{Kthreads, kthreads};
pub(crate) use rcu::Rcu;
pub(crate) use sim::{Sim, Surroundings, softirq_dice};
