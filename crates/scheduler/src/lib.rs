//! The Linux CPU scheduler: run queues, wakeup, fork, tick, the real-time and the fair class.
