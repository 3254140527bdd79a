//! CPU bandwidth: how much CPU time a group may use in each period, on all CPUs together (deadline-groups
//! B7).
//!
//! A group with a limit has a pool, which a timer fills with each period. Its queues draw slices from it and
//! are charged while somebody below them runs. A queue that is in debt when the pool is empty is throttled
//! until the pool gives enough to repay the debt. Up to 6.17 its entity leaves its parent's queue, and what
//! is below stays where it is, frozen, and counts nowhere; since 6.18 each task parks when it returns to user
//! space.
//!
//! - `pool`: what is left, and what is counted.
//! - `charge`: a queue uses time, asks for more, and gives back what it keeps in vain.
//! - `throttle`: a queue stops, and goes on.
//! - `park`: a task of it stops, and goes on.
//! - `timer`: the period, and the slack after which something that was given back is handed out.

mod charge;
mod park;
mod pool;
mod throttle;
mod timer;

pub use pool::{BandwidthCounts, Pool, QueueBandwidth, QuotaParams};
pub(crate) use timer::{GroupTimer, group_timer};
pub use timer::{set_limit, unthrottle_called};

pub(in crate::fair) use charge::{account, front_is_frozen, has_left, stops_at_enqueue, stops_at_pick};
pub(in crate::fair) use park::leave as leave_parked;
pub use park::parks_on_return;
pub(crate) use park::{comes_to_compete, park, parked};
pub(crate) use throttle::is_hidden;
pub(in crate::fair) use throttle::{clock_of, comes, hides, is_throttled_hierarchy, now_of};
