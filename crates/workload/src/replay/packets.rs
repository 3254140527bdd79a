//! Who caused a packet: over the loopback device it is the task that sent it, and from another machine it may
//! be the answer to what a task, or another thread of its process, has sent there.

use super::blocks::Asked;
use super::track::DraftStep;
use std::collections::{BTreeMap, VecDeque};
use trace::{Pid, StrId, Strings};

/// The device that gives packets back to their sender's machine.
const LOOPBACK: &str = "lo";

/// What a CPU is receiving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// A packet of a task of this machine, which it gave to the loopback device in this draft step; `None` if
    /// that does not show.
    Looped(Option<DraftStep>),
    /// A packet from another machine, by this network device.
    From(StrId),
}

/// The last packet that a process has sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub asked: Asked,
    /// By this network device; `None` if only the system call shows.
    pub by: Option<StrId>,
}

/// The packets of a trace while its events go by.
#[derive(Debug, Default)]
pub(super) struct Packets {
    cpus: Vec<Cpu>,
    sent: BTreeMap<Pid, Sent>,
}

/// One CPU. It receives itself what its tasks send over the loopback device.
#[derive(Clone, Debug, Default)]
struct Cpu {
    looped: VecDeque<Option<DraftStep>>,
    receives: Option<Received>,
}

impl Packets {
    /// For a machine with so many CPUs.
    pub fn new(cpus: usize) -> Packets {
        Packets { cpus: vec![Cpu::default(); cpus], sent: BTreeMap::new() }
    }

    /// A packet goes out on `cpu`: by a task, or as the kernel's reaction to the one that it is receiving.
    pub fn transmit(&mut self, cpu: usize, by: StrId, process: Pid, asked: Option<Asked>, strings: &Strings) {
        let place = asked.map(|asked| asked.place);
        let cpu = &mut self.cpus[cpu];
        if &strings[by] == LOOPBACK {
            let cause = match cpu.receives {
                Some(Received::Looped(place)) => place,
                _ => None,
            };
            cpu.looped.push_back(place.or(cause));
        } else if let Some(asked) = asked {
            self.sent.insert(process, Sent { asked, by: Some(by) });
        }
    }

    /// A process calls `send`, and the trace does not show its packets.
    pub fn calls_send(&mut self, process: Pid, asked: Asked) {
        self.sent.insert(process, Sent { asked, by: None });
    }

    /// `cpu` begins to receive what has come in. (The end of the last time may be missing in the trace.)
    pub fn begin_to_receive(&mut self, cpu: usize) {
        self.cpus[cpu].receives = None;
    }

    /// A packet comes in on `cpu`.
    pub fn receive(&mut self, cpu: usize, by: StrId, strings: &Strings) {
        let cpu = &mut self.cpus[cpu];
        cpu.receives = Some(match &strings[by] == LOOPBACK {
            true => Received::Looped(cpu.looped.pop_front().flatten()),
            false => Received::From(by),
        });
    }

    /// All packets that had come in on `cpu` are received.
    pub fn received(&mut self, cpu: usize) {
        self.cpus[cpu] = Cpu::default();
    }

    /// What `cpu` is receiving.
    pub fn receives(&self, cpu: usize) -> Option<Received> {
        self.cpus[cpu].receives
    }

    /// What the process has last sent to where such a packet comes from, after `since_ns`: a packet answers
    /// what was sent after the last one.
    pub fn asked(&self, process: Pid, received: Option<Received>, since_ns: u64) -> Option<Sent> {
        let sent = *self.sent.get(&process)?;
        let same_way = match (sent.by, received) {
            (Some(by), Some(Received::From(device))) => by == device,
            (None, _) => true,
            _ => false,
        };
        (same_way && sent.asked.at_ns > since_ns).then_some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::recording::TaskIndex;

    fn asked(step: usize) -> Asked {
        Asked { place: DraftStep { task: TaskIndex(1), step }, at_ns: 10 * step as u64 }
    }

    #[test]
    fn a_packet_over_the_loopback_device_is_its_senders_and_so_is_the_reaction_to_it() {
        let mut strings = Strings::default();
        let lo = strings.intern("lo");
        let mut packets = Packets::new(1);
        packets.transmit(0, lo, Pid(7), Some(asked(3)), &strings);
        packets.transmit(0, lo, Pid(8), Some(asked(4)), &strings);
        packets.receive(0, lo, &strings);
        assert_eq!(packets.receives(0), Some(Received::Looped(Some(asked(3).place))));
        packets.transmit(0, lo, Pid(0), None, &strings);
        packets.receive(0, lo, &strings);
        assert_eq!(packets.receives(0), Some(Received::Looped(Some(asked(4).place))));
        packets.receive(0, lo, &strings);
        assert_eq!(packets.receives(0), Some(Received::Looped(Some(asked(3).place))), "an acknowledgement");
        packets.received(0);
        packets.receive(0, lo, &strings);
        assert_eq!(packets.receives(0), Some(Received::Looped(None)), "whose it is was not seen");
        assert!(packets.asked(Pid(7), packets.receives(0), 0).is_none(), "nothing went to another machine");
    }

    #[test]
    fn an_answer_comes_by_the_way_that_the_question_went_and_after_it() {
        let mut strings = Strings::default();
        let [eth0, eth1] = ["eth0", "eth1"].map(|name| strings.intern(name));
        let mut packets = Packets::new(1);
        packets.transmit(0, eth0, Pid(7), Some(asked(3)), &strings);
        let by = |packets: &mut Packets, device, since_ns| {
            packets.receive(0, device, &strings);
            packets.asked(Pid(7), packets.receives(0), since_ns).map(|sent| sent.asked)
        };
        assert_eq!(by(&mut packets, eth0, 0), Some(asked(3)));
        assert_eq!(by(&mut packets, eth1, 0), None);
        assert_eq!(by(&mut packets, eth0, 30), None, "that was before the last answer");
        assert!(packets.asked(Pid(8), packets.receives(0), 0).is_none());
        packets.calls_send(Pid(8), asked(5));
        assert_eq!(by(&mut packets, eth0, 0), Some(asked(3)));
        assert!(packets.asked(Pid(8), packets.receives(0), 0).is_some());
    }
}
