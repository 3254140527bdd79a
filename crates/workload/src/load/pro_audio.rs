//! pro_audio: a sound server with its clients, the engine of a workstation program with its workers, and a
//! window that takes their mutexes, as a family of loads.
//!
//! What was reported in August 2026 without RT_PUSH_IPI, starved threads of sound production, has no figures
//! (deadline-groups E4). So this is the family that might show it. A server of FIFO 88 wakes its clients
//! (FIFO 83) each period, one after the other or all at once, and waits for the last. The first client wakes
//! workers (FIFO 77), which compute, spin for a while and sleep again. Each client takes a PI mutex for 20
//! µs; a fair thread of the window holds the same one for 50 to 500 µs every 16 ms, one time in ten with a
//! page fault of 1 ms in it, and inherits the priority of whoever waits. Beside them: fair loops, and
//! real-time helpers of low priority. Workers and helpers may take the mutexes, too.
//!
//! Who waits for a CPU that runs something lower meanwhile, and why, the machine counts
//! ([`machine::WaitTally`]).

use super::command::{options, parser};
use super::error::LoadError;
use super::pro_audio_member::{Member, Pinning, Sharing};
use super::progress::{Remaining, Tally};
use super::rounds::{Rounds, task};
use super::spawn::{program, rt_priority};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::latency::LatencyRecorder;
use crate::program::{Action, Block, Overrun, Template, TimeVar, Times};
use crate::units::{micros_above_zero, seconds_above_zero};
use machine::{ChannelId, ChannelSpec, Env, MutexKind, Setup, Step, TaskSpec, WaitTally};
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Policy};
use schema::{Better, LoadResult, OwnResult};
use std::collections::VecDeque;

const NAME: &str = "pro_audio";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A sound server, its clients and workers, and a window that shares their PI mutexes.",
    ends: "Endless; with -D after that time.",
    source: "the family of deadline-groups E4, for the report of 14 August 2026",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Draw what is not given from the family's ranges, by this number (0: the defaults).
    #[arg(short = 'm', long, value_name = "NUM", default_value_t = 0)]
    member: u64,
    /// From one cycle of the server to the next, microseconds without a unit (1333us).
    #[arg(short = 'p', long, value_name = "TIME", value_parser = micros_above_zero)]
    period: Option<Nanos>,
    /// Clients of the server (8).
    #[arg(short = 'c', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=64))]
    clients: Option<u32>,
    /// The clients run one after the other, not all at once.
    #[arg(long)]
    chain: bool,
    /// Workers of the first client (one for each CPU).
    #[arg(short = 'w', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(0..=512))]
    workers: Option<u32>,
    /// PI mutexes that clients and the window share (1).
    #[arg(short = 'l', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=4))]
    locks: Option<u32>,
    /// Endless loops of SCHED_OTHER for each CPU (0).
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(0..=64))]
    hogs: Option<u32>,
    /// Real-time helpers of FIFO 1 to 20 that compute 2 ms of each 10 ms (0).
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(0..=64))]
    helpers: Option<u32>,
    /// Who has an affinity (nobody).
    #[arg(long, value_name = "WHO", value_enum)]
    pin: Option<Pinning>,
    /// How long a worker spins before it sleeps (20us).
    #[arg(long, value_name = "TIME", value_parser = micros_above_zero)]
    spin: Option<Nanos>,
    /// Who takes the mutexes beside the window (the clients).
    #[arg(long, value_name = "WHO", value_enum)]
    sharing: Option<Sharing>,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(ProAudio { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct ProAudio {
    options: Options,
}

/// Priorities under SCHED_FIFO: deadline-groups E4.
const SERVER: u8 = 88;
const CLIENT: u8 = 83;
const WORKER: u8 = 77;
const HELPERS: [u8; 8] = [1, 4, 7, 10, 13, 15, 18, 20];

/// CPU times of a cycle, and what else deadline-groups E4 says of them.
const SERVER_WORKS: Nanos = Nanos::from_micros(150);
const CLIENT_WORKS: [Nanos; 2] = [Nanos::from_micros(100), Nanos::from_micros(300)];
/// Of the others, too.
const HOLDS: Nanos = Nanos::from_micros(20);
const WINDOW_PERIOD: Nanos = Nanos::from_millis(16);
const WINDOW_HOLDS: [Nanos; 2] = [Nanos::from_micros(50), Nanos::from_micros(500)];
const PAGE_FAULT: Nanos = Nanos::from_millis(1);
/// Assumed, as that of a client; the document has none.
const WORKER_WORKS: [Nanos; 2] = [Nanos::from_micros(50), Nanos::from_micros(200)];
/// Assumed: a fifth of a CPU each.
const HELPER_WORKS: Nanos = Nanos::from_millis(2);
const HELPER_SLEEPS: Nanos = Nanos::from_millis(8);

/// What its threads share.
struct Objects {
    to_clients: Vec<ChannelId>,
    to_workers: Vec<ChannelId>,
    done: ChannelId,
    locks: Vec<MutexId>,
}

impl Objects {
    fn new(setup: &mut Setup, member: &Member) -> Objects {
        // A futex that is woken twice before somebody looks is woken once.
        let mut channels = |count: u32| (0..count).map(|_| setup.channel(ChannelSpec::new(1))).collect();
        let (to_clients, to_workers) = (channels(member.clients), channels(member.workers));
        let done = setup.channel(ChannelSpec::new(member.clients));
        let locks = (1..=member.locks).map(|n| setup.mutex(format!("graph {n}"), MutexKind::Pi)).collect();
        Objects { to_clients, to_workers, done, locks }
    }
}

/// One of its real-time or fair threads.
struct Thread {
    name: &'static str,
    policy: Policy,
    cpus: CpuMask,
    cycle: Block,
}

impl ProAudio {
    fn member(&self, cpus: usize) -> Member {
        let given = &self.options;
        let drawn = Member::drawn(given.member, cpus as u32);
        Member {
            period: given.period.unwrap_or(drawn.period),
            clients: given.clients.unwrap_or(drawn.clients),
            chain: given.chain || drawn.chain,
            workers: given.workers.unwrap_or(drawn.workers),
            locks: given.locks.unwrap_or(drawn.locks),
            hogs_per_cpu: given.hogs.unwrap_or(drawn.hogs_per_cpu),
            helpers: given.helpers.unwrap_or(drawn.helpers),
            pinning: given.pin.unwrap_or(drawn.pinning),
            spin: given.spin.unwrap_or(drawn.spin),
            sharing: given.sharing.unwrap_or(drawn.sharing),
        }
    }

    fn threads(
        &self,
        member: &Member,
        cpus: usize,
        objects: &Objects,
        kept: &Kept,
    ) -> Result<Vec<Thread>, LoadError> {
        let fifo = |priority: u8| rt_priority(NAME, "a thread", i64::from(priority)).map(Policy::Fifo);
        let between = |[low, high]: [Nanos; 2]| Dist::up_to_longer(low, high - low);
        let all = CpuMask::first_n(cpus);
        let few = window_cpus(member, cpus);
        let mut threads = vec![Thread {
            name: "server",
            policy: fifo(SERVER)?,
            cpus: all,
            cycle: server(member, objects, kept),
        }];
        let (workers_share, helpers_share) =
            (member.sharing != Sharing::Clients, member.sharing == Sharing::Helpers);
        let takes = |cycle: Block, number: usize, shares: bool| {
            let lock = objects.locks[number % objects.locks.len()];
            if shares { cycle.lock(lock).run(HOLDS).unlock(lock) } else { cycle }
        };
        for number in 0..member.clients as usize {
            let mut cycle = Block::new().receive(objects.to_clients[number]);
            if number == 0 {
                let wakes = |cycle: Block, worker: &ChannelId| cycle.step(Step::TrySend(*worker));
                cycle = objects.to_workers.iter().fold(cycle, wakes);
            }
            let cycle = takes(cycle.run(between(CLIENT_WORKS)), number, true);
            let next = objects.to_clients.get(number + 1).filter(|_| member.chain);
            let cycle = cycle.send(*next.unwrap_or(&objects.done)).iteration();
            threads.push(Thread { name: "client", policy: fifo(CLIENT)?, cpus: all, cycle });
        }
        for (number, channel) in objects.to_workers.iter().enumerate() {
            let cycle = Block::new().receive(*channel).run(between(WORKER_WORKS));
            let cycle = takes(cycle, number, workers_share).spin(member.spin).iteration();
            let own = CpuMask::single(CpuId((number % cpus) as u16));
            let cpus = if member.pinning == Pinning::Workers { own } else { all };
            threads.push(Thread { name: "worker", policy: fifo(WORKER)?, cpus, cycle });
        }
        for number in 0..member.helpers as usize {
            let cycle = takes(Block::new().run(HELPER_WORKS), number, helpers_share);
            let cycle = cycle.sleep(HELPER_SLEEPS).iteration();
            let priority = fifo(HELPERS[number % HELPERS.len()])?;
            threads.push(Thread { name: "helper", policy: priority, cpus: few, cycle });
        }
        for _ in 0..member.hogs_per_cpu as usize * cpus {
            let cycle = Block::new().run(Nanos::from_millis(10)).iteration();
            threads.push(Thread { name: "hog", policy: Policy::Normal, cpus: all, cycle });
        }
        Ok(threads)
    }
}

/// Where the window and the helpers may run.
fn window_cpus(member: &Member, cpus: usize) -> CpuMask {
    CpuMask::first_n(if member.pinning == Pinning::Window { cpus.min(2) } else { cpus })
}

/// Wakes its clients when a period begins, and waits for them.
fn server(member: &Member, objects: &Objects, kept: &Kept) -> Block {
    let due = TimeVar(0);
    let first = if member.chain { &objects.to_clients[..1] } else { &objects.to_clients[..] };
    let mut cycle = Block::new().sleep_until(due).run(SERVER_WORKS);
    cycle = first.iter().fold(cycle, |cycle, client| cycle.send(*client));
    cycle = first.iter().fold(cycle, |cycle, _| cycle.receive(objects.done));
    let cycle = cycle.probe(due, &kept.cycles).observe(kept.count.clone()).iteration();
    cycle.act(Action::Advance { var: due, by: member.period.into(), overrun: Overrun::Skip })
}

/// A fair thread that draws: it holds one mutex after the other.
#[derive(Debug)]
struct Window {
    locks: Vec<MutexId>,
    next: usize,
    due: Nanos,
}

impl Rounds for Window {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        let lock = self.locks[self.next];
        self.next = (self.next + 1) % self.locks.len();
        let half = Nanos(env.rng.between(WINDOW_HOLDS[0], WINDOW_HOLDS[1]).0 / 2);
        steps.extend([Step::Lock(lock), Step::Compute(half)]);
        if env.rng.chance(1, 10) {
            steps.push_back(Step::SleepFor(PAGE_FAULT));
        }
        self.due = (self.due + WINDOW_PERIOD).max(env.now);
        steps.extend([Step::Compute(half), Step::Unlock(lock), Step::SleepUntil(self.due)]);
        *env.iterations += 1;
    }
}

impl Load for ProAudio {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let cpus = setup.cpus();
        let member = self.member(cpus);
        let objects = Objects::new(setup, &member);
        let kept = Kept {
            cycles: LatencyRecorder::with_limit(member.period),
            count: Tally::default(),
            waits: setup.watch_waits(),
            member,
        };
        let remaining = Remaining::new(1);
        if let Some(duration) = self.options.duration {
            // Those that wait for each other do not come to an end by themselves.
            let ends = Block::new().sleep(duration).observe(remaining.clone());
            setup.spawn(Nanos::ZERO, Template::new(NAME, program(NAME, ends)?).spec());
        }
        for thread in self.threads(&member, cpus, &objects, &kept)? {
            let block = Block::new().repeat(Times::Forever, thread.cycle);
            let mut template = Template::new(thread.name, program(NAME, block)?);
            (template.policy, template.cpus) = (thread.policy, Some(thread.cpus));
            setup.spawn(Nanos::ZERO, template.spec());
        }
        let window = task("window", 0, Window { locks: objects.locks, next: 0, due: Nanos::ZERO });
        setup.spawn(Nanos::ZERO, TaskSpec { cpus: Some(window_cpus(&member, cpus)), ..window });
        Ok(BuiltLoad::new(remaining, kept))
    }
}

/// What is counted.
#[derive(Debug)]
struct Kept {
    /// From when a cycle is due to its end.
    cycles: LatencyRecorder,
    count: Tally,
    waits: WaitTally,
    member: Member,
}

impl Results for Kept {
    fn result(&self, load: String) -> LoadResult {
        let stats = self.cycles.stats();
        let waits = self.waits.counts();
        let starved = waits.starved;
        let result = OwnResult::new(load, NAME)
            .count("cycles", Better::Higher, self.count.get())
            .count("cycles over the period", Better::Lower, stats.over_limit().unwrap_or(0))
            .nanos("longest cycle", Better::Lower, stats.all().max_ns())
            .nanos("longest wait of a boosted task", Better::Lower, waits.longest_boosted.0)
            .nanos("longest wait beside something lower", Better::Lower, waits.longest_beside_lower.0)
            .count("starved for 1 ms", Better::Lower, starved.sum())
            .count("H1 boosted, free to move", Better::Lower, starved.boosted_anywhere)
            .count("H2 boosted, with an affinity", Better::Lower, starved.boosted_bound)
            .count("H3 boosted, all CPUs higher for 10 ms", Better::Lower, waits.held_up)
            .count("H4 the lower one could not be switched away", Better::Lower, starved.not_rescheduled)
            .count("starved behind the fair server", Better::Lower, starved.behind_server)
            .count("starved, not boosted", Better::Lower, starved.unboosted);
        LoadResult::Own(result)
    }

    fn notes(&self, load: &str) -> Vec<String> {
        vec![format!("{load}: {}", self.member)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(words: &[&str], cpus: usize) -> Vec<machine::Spawn> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut setup = Setup::new(cpus);
        parse(&words).and_then(|load| load.build(&mut setup)).expect("a load");
        setup.into_tasks()
    }

    fn count(tasks: &[machine::Spawn], name: &str) -> usize {
        tasks.iter().filter(|task| task.spec.comm == name).count()
    }

    #[test]
    fn without_options_it_is_the_default_of_the_table() {
        let all = tasks(&[], 16);
        let counts = ["server", "client", "worker", "helper", "hog", "window"].map(|name| count(&all, name));
        assert_eq!(counts, [1, 8, 16, 0, 0, 1]);
        let everywhere = CpuMask::first_n(16);
        assert!(all.iter().all(|task| task.spec.cpus == Some(everywhere)));
    }

    #[test]
    fn options_go_before_what_a_number_draws() {
        let all =
            tasks(&["-m", "5", "-c", "3", "-w", "2", "--hogs", "2", "--helpers", "4", "--pin", "window"], 4);
        let counts = ["client", "worker", "helper", "hog"].map(|name| count(&all, name));
        assert_eq!(counts, [3, 2, 4, 8]);
        let window = all.iter().find(|task| task.spec.comm == "window").expect("there is one");
        assert_eq!(window.spec.cpus, Some(CpuMask::first_n(2)));
    }

    #[test]
    fn pinned_workers_have_a_cpu_each() {
        let all = tasks(&["--pin", "workers"], 4);
        let workers = all.iter().filter(|task| task.spec.comm == "worker");
        let cpus: Vec<_> = workers.map(|task| task.spec.cpus).collect();
        assert_eq!(cpus, [0, 1, 2, 3].map(|cpu| Some(CpuMask::single(CpuId(cpu)))));
    }
}
