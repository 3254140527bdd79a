//! Devices: requests that take their time beside the CPUs.

use super::caller::Caller;
use crate::engine::hardware::OneShot;
use crate::objects::{ChannelId, DeviceId, DeviceSpec};
use scheduler::Nanos;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Every device of a run.
#[derive(Debug)]
pub(crate) struct Devices(RefCell<Vec<Device>>);

/// A device and the requests that it serves, first come, first served.
#[derive(Debug)]
struct Device {
    spec: DeviceSpec,
    /// When each of its places gets free, as far as requests have been given out; at most `at_once`.
    busy_until: BinaryHeap<Reverse<Nanos>>,
}

impl Device {
    fn new(spec: DeviceSpec) -> Device {
        Device { spec, busy_until: BinaryHeap::new() }
    }

    /// Takes a request, and says when it will be served.
    fn serve(&mut self, now: Nanos, service: Nanos) -> Nanos {
        while self.busy_until.peek().is_some_and(|Reverse(free)| *free <= now) {
            self.busy_until.pop();
        }
        let is_full = self.busy_until.len() >= self.spec.at_once as usize;
        let begins = if is_full { self.busy_until.pop().map_or(now, |Reverse(free)| free) } else { now };
        let served = begins.saturating_add(service);
        self.busy_until.push(Reverse(served));
        served
    }

    fn is_busy(&self, now: Nanos) -> bool {
        self.busy_until.iter().any(|Reverse(free)| *free > now)
    }
}

impl Devices {
    /// Idle ones, by number.
    pub fn new(specs: &[DeviceSpec]) -> Devices {
        Devices(RefCell::new(specs.iter().cloned().map(Device::new).collect()))
    }

    /// What they are like.
    pub fn specs(&self) -> Vec<DeviceSpec> {
        self.0.borrow().iter().map(|device| device.spec.clone()).collect()
    }

    /// Whether a request to one of them has not been served at `now`.
    pub fn are_busy(&self, now: Nanos) -> bool {
        self.0.borrow().iter().any(|device| device.is_busy(now))
    }

    /// One takes a request: the interrupt comes when it is served.
    pub fn submit(&self, call: Caller<'_>, id: DeviceId, service: Nanos, done: ChannelId) {
        call.syscall();
        let now = call.hw().local_now();
        let served = self.0.borrow_mut()[id.0 as usize].serve(now, service);
        call.hw().at(served, OneShot::Served(done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(at_once: u32, requests: &[(u64, u64)]) -> Vec<u64> {
        let mut device = Device::new(DeviceSpec { at_once, name: "254,0".into() });
        requests.iter().map(|(now, service)| device.serve(Nanos(*now), Nanos(*service)).0).collect()
    }

    #[test]
    fn a_device_serves_so_many_at_once_and_the_others_in_the_order_in_which_they_came() {
        let requests = [(0, 10), (1, 10), (2, 10), (3, 10), (30, 10)];
        assert_eq!(served(u32::MAX, &requests), [10, 11, 12, 13, 40]);
        assert_eq!(served(2, &requests), [10, 11, 20, 21, 40]);
        assert_eq!(served(1, &requests), [10, 20, 30, 40, 50]);
    }
}
