//! Task groups: a group competes as one entity with its siblings, and its tasks share what it gets
//! (deadline-groups B1 to B6).
//!
//! Each group but the root has a queue on each CPU, and an entity there that stands for it in its parent's
//! queue. A queue is a queue: the disciplines order entities and do not ask what they stand for. What makes a
//! hierarchy of them is here:
//!
//! - `table`: the groups, and what is kept of each of their queues beside the locks.
//! - `front`: at any moment one queue of a CPU is in front, where the disciplines work. It is the root's
//!   unless a path here has brought another one there.
//! - `path`: a task enters, leaves, is picked, put back and charged at each level from its own queue to the
//!   root's.
//! - `preempt`: a woken task and the running one meet where their ancestors are siblings.
//! - `weight`: what the entity of a group weighs on a CPU: the CPU's part of the group's shares.
//! - `averages`: what joins or leaves a group's queue shows in all queues above.
//! - `bandwidth`: a limit to what a group may use.
//! - `load`: what a task of a group brings to the load of its CPU.
//!
//! A task of the root group takes none of these ways.

mod averages;
pub(crate) mod bandwidth;
mod front;
mod load;
mod path;
mod preempt;
mod table;
mod weight;

pub use bandwidth::{BandwidthCounts, Pool, QueueBandwidth, QuotaParams};
pub use table::{Group, GroupParams, GroupQueue, Groups, QueueAverages};

pub(crate) use averages::Living;
pub(in crate::fair) use averages::{queue_changed, update_all};
pub(in crate::fair) use load::{share_above, task_h_load};
pub(in crate::fair) use path::{
    charge_levels, choose_below, dequeue, enqueue, finish_delayed, put_prev, set_next, tick, with_queue_of,
};
pub(in crate::fair) use preempt::check_preempt_wakeup;
