//! Objects that tasks share, as text.

use machine::{
    Backoff, ChannelId, ChannelSpec, DeviceSpec, MutexKind, MutexSpec, Objects, Operand, Room, ToldStep,
};
use scheduler::Nanos;
use std::fmt;

/// An object with the number of its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    Channel(usize, ChannelSpec),
    Mutex(usize, MutexSpec),
    /// With the number of tasks for which it waits.
    Barrier(usize, u32),
    Spinlock(usize, Backoff),
    Device(usize, DeviceSpec),
    /// Futexes have nothing but their number: there are so many.
    Futexes(u32),
}

/// Each takes memory, and no run needs more.
const MOST_FUTEXES: u32 = 1_000_000;
/// Sums of costs up to this are far from the end of the clock.
const DEAREST: Nanos = Nanos::from_secs(1000);

impl Object {
    /// All of a run.
    pub fn all(objects: &Objects) -> impl Iterator<Item = Object> + '_ {
        let channels = objects.channels.iter().enumerate().map(|(n, spec)| Object::Channel(n, *spec));
        let mutexes = objects.mutexes.iter().enumerate().map(|(n, spec)| Object::Mutex(n, spec.clone()));
        let barriers = objects.barriers.iter().enumerate().map(|(n, parties)| Object::Barrier(n, *parties));
        let spinlocks = objects.spinlocks.iter().enumerate().map(|(n, back)| Object::Spinlock(n, *back));
        let devices = objects.devices.iter().enumerate().map(|(n, spec)| Object::Device(n, spec.clone()));
        let futexes = (objects.futexes > 0).then_some(Object::Futexes(objects.futexes));
        channels.chain(mutexes).chain(barriers).chain(spinlocks).chain(devices).chain(futexes)
    }

    /// Reads what its `Display` wrote. An object that cannot be is none.
    pub fn parse(text: &str) -> Option<Object> {
        let mut words = text.splitn(3, ' ');
        let (kind, number, rest) = (words.next()?, words.next()?, words.next().unwrap_or(""));
        let number: u32 = number.parse().ok()?;
        let n = number as usize;
        match kind {
            "channel" => channel(rest).map(|spec| Object::Channel(n, spec)),
            "mutex" => mutex(rest).map(|spec| Object::Mutex(n, spec)),
            "barrier" => {
                let parties = rest.strip_prefix("parties=")?.parse().ok().filter(|parties| *parties > 0)?;
                Some(Object::Barrier(n, parties))
            }
            "spinlock" => match rest {
                "backoff=sleep" => Some(Object::Spinlock(n, Backoff::Sleep)),
                "backoff=event" => Some(Object::Spinlock(n, Backoff::Event)),
                _ => None,
            },
            "device" => device(rest).map(|spec| Object::Device(n, spec)),
            "futexes" if rest.is_empty() && number <= MOST_FUTEXES => Some(Object::Futexes(number)),
            _ => None,
        }
    }

    /// Adds it to the others. Ids count up: false, and nothing is added, if it is not the next of its kind.
    pub fn add_to(self, objects: &mut Objects) -> bool {
        let Objects { channels, mutexes, barriers, futexes, spinlocks, devices } = objects;
        match self {
            Object::Channel(n, spec) if n == channels.len() => channels.push(spec),
            Object::Mutex(n, spec) if n == mutexes.len() => mutexes.push(spec),
            Object::Barrier(n, parties) if n == barriers.len() => barriers.push(parties),
            Object::Spinlock(n, backoff) if n == spinlocks.len() => spinlocks.push(backoff),
            Object::Device(n, spec) if n == devices.len() => devices.push(spec),
            Object::Futexes(n) if *futexes == 0 => *futexes = n,
            _ => return false,
        }
        true
    }
}

/// Whether a step can be taken: the objects that it names exist, and whom it concerns can be found.
pub(crate) fn can_be_taken(step: &ToldStep, objects: &Objects) -> bool {
    let exists = |number: u32, count: usize| (number as usize) < count;
    let is_channel = |channel: &ChannelId| exists(channel.0, objects.channels.len());
    let sets_policy = matches!(step, ToldStep::SetPolicy { .. });
    let mut can_be = true;
    step.clone().operands(|operand| {
        can_be &= match operand {
            Operand::Mutex(mutex) => exists(mutex.0, objects.mutexes.len()),
            Operand::Spinlock(lock) => exists(lock.0, objects.spinlocks.len()),
            Operand::Channel(channel) => is_channel(channel),
            Operand::Device(device) => exists(device.0, objects.devices.len()),
            Operand::Futex(futex) => exists(futex.0, objects.futexes as usize),
            Operand::Barrier(barrier) => exists(barrier.0, objects.barriers.len()),
            Operand::Channels(channels) => channels.iter().all(is_channel),
            Operand::Sections(work) => {
                work.locks().iter().all(|lock| exists(lock.0, objects.spinlocks.len()))
            }
            // What a recording knows of other tasks is that they are lent priorities.
            Operand::Target(target) => target.is_none() || sets_policy,
            Operand::Time(_) | Operand::Count(_) => true,
            Operand::Policy(_) | Operand::Nice(_) | Operand::Clamps(_) => true,
            Operand::Cpus(_) | Operand::ForkKind(_) | Operand::Text(_) => true,
        }
    });
    can_be
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::Channel(n, spec) => {
                let (sync, softirq) = (yes_or_no(spec.sync), yes_or_no(spec.softirq));
                write!(f, "channel {n} ")?;
                match spec.room {
                    Room::Messages { capacity, writers_wake_at } => {
                        write!(f, "capacity={capacity} writers-wake-at={writers_wake_at} ")?;
                    }
                    Room::Pages { pages, per_page } => write!(f, "pages={pages} per-page={per_page} ")?,
                }
                write!(f, "sync={sync} softirq={softirq} ")?;
                write!(f, "send-cost={} receive-cost={}", spec.send_cost.0, spec.receive_cost.0)
            }
            Object::Mutex(n, MutexSpec { name, kind }) => {
                let kind = match kind {
                    MutexKind::Pi => "pi",
                    MutexKind::Plain => "plain",
                };
                write!(f, "mutex {n} kind={kind} name={}", name.replace('\n', " "))
            }
            Object::Barrier(n, parties) => write!(f, "barrier {n} parties={parties}"),
            Object::Spinlock(n, Backoff::Sleep) => write!(f, "spinlock {n} backoff=sleep"),
            Object::Spinlock(n, Backoff::Event) => write!(f, "spinlock {n} backoff=event"),
            Object::Device(n, DeviceSpec { at_once, name }) => {
                write!(f, "device {n} at-once={at_once} name={}", name.replace('\n', " "))
            }
            Object::Futexes(count) => write!(f, "futexes {count}"),
        }
    }
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn channel(text: &str) -> Option<ChannelSpec> {
    let mut words = text.split(' ');
    let mut number = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=')?.parse::<u32>().ok();
    let room = if text.starts_with("pages=") {
        let (pages, per_page) = (number("pages")?, number("per-page")?);
        (pages > 0 && per_page > 0).then_some(Room::Pages { pages, per_page })
    } else {
        let (capacity, writers_wake_at) = (number("capacity")?, number("writers-wake-at")?);
        (capacity > writers_wake_at).then_some(Room::Messages { capacity, writers_wake_at })
    }?;
    let mut value = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
    let flag = |text: &str| match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let cost = |text: &str| text.parse().ok().filter(|ns| *ns <= DEAREST.0).map(Nanos);
    let spec = ChannelSpec {
        room,
        sync: flag(value("sync")?)?,
        softirq: flag(value("softirq")?)?,
        send_cost: cost(value("send-cost")?)?,
        receive_cost: cost(value("receive-cost")?)?,
    };
    words.next().is_none().then_some(spec)
}

fn device(text: &str) -> Option<DeviceSpec> {
    let (at_once, name) = text.strip_prefix("at-once=")?.split_once(" name=")?;
    let at_once = at_once.parse().ok().filter(|at_once| *at_once > 0)?;
    Some(DeviceSpec { at_once, name: name.to_owned() })
}

fn mutex(text: &str) -> Option<MutexSpec> {
    let (kind, name) = text.strip_prefix("kind=")?.split_once(" name=")?;
    let kind = match kind {
        "pi" => MutexKind::Pi,
        "plain" => MutexKind::Plain,
        _ => return None,
    };
    Some(MutexSpec { name: name.to_owned(), kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::BarrierId;
    use scheduler::{Nice, Pid};

    fn objects() -> Objects {
        let pipe = ChannelSpec {
            room: Room::Pages { pages: 16, per_page: 1 },
            sync: true,
            softirq: false,
            send_cost: Nanos(700),
            receive_cost: Nanos(0),
        };
        Objects {
            channels: vec![pipe, ChannelSpec { softirq: true, ..ChannelSpec::new(u32::MAX) }],
            mutexes: vec![MutexSpec { name: "L 1 kind=x".into(), kind: MutexKind::Pi }],
            barriers: vec![3, 4],
            futexes: 5,
            spinlocks: vec![Backoff::Event, Backoff::Sleep],
            devices: vec![DeviceSpec { at_once: 4, name: "254,0 name=x".into() }],
        }
    }

    #[test]
    fn objects_come_back() {
        let mut back = Objects::default();
        for object in Object::all(&objects()) {
            let read = Object::parse(&object.to_string());
            assert_eq!(read, Some(object));
            assert!(read.is_some_and(|object| object.add_to(&mut back)));
        }
        assert_eq!(back, objects());
    }

    #[test]
    fn ids_count_up_and_steps_name_what_there_is() {
        let mut objects = objects();
        assert!(!Object::Barrier(7, 2).add_to(&mut objects));
        assert!(!can_be_taken(&ToldStep::BarrierWait(BarrierId(2)), &objects));
        assert!(can_be_taken(&ToldStep::BarrierWait(BarrierId(1)), &objects));
        let nice = Nice::default();
        assert!(can_be_taken(&ToldStep::SetNice { target: None, nice }, &objects));
        assert!(!can_be_taken(&ToldStep::SetNice { target: Some(Pid(7)), nice }, &objects));
    }

    #[test]
    fn what_cannot_be_is_no_object() {
        for text in [
            "channel 0 capacity=0 writers-wake-at=0 sync=no softirq=no send-cost=0 receive-cost=0",
            "channel 0 capacity=9 writers-wake-at=9 sync=no softirq=no send-cost=0 receive-cost=0",
            "channel 0 capacity=9 writers-wake-at=8 sync=no softirq=no send-cost=0 receive-cost=0 x",
            "channel 0 capacity=9 writers-wake-at=8 sync=no softirq=no send-cost=9999999999999 \
             receive-cost=0",
            "mutex 0 kind=fair name=x",
            "barrier 0 parties=0",
            "spinlock 0 backoff=none",
            "device 0 at-once=0 name=x",
            "device 0 at-once=1",
            "futexes 1000001",
            "table 0",
        ] {
            assert_eq!(Object::parse(text), None, "{text}");
        }
    }
}
