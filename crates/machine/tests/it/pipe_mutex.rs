//! The mutex of a pipe in time (machine.md 3.4): who waits for it, how, and for how long.
//!
//! A write and a read take a millisecond here, all else nothing. All runs are checked, so that MI4 holds in
//! each.

use crate::script::{Clock, FREE_CHANNEL, fifo, ideal, ms, script, us};
use machine::{
    ChannelId, ChannelSpec, Machine, Outcome, Room, RunOptions, Setup, Step, TaskCounters, TaskSpec,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};

const PIPE: ChannelSpec = ChannelSpec {
    room: Room::Pages { pages: 16, per_page: 1 },
    send_cost: Nanos::from_millis(1),
    receive_cost: Nanos::from_millis(1),
    ..FREE_CHANNEL
};

/// A machine of three CPUs and a channel.
struct Stage {
    setup: Setup,
    channel: ChannelId,
    clocks: Vec<(&'static str, Clock)>,
}

struct Played {
    outcome: Outcome,
    clocks: Vec<(&'static str, Clock)>,
}

impl Stage {
    fn new(channel: ChannelSpec) -> Stage {
        let mut setup = Setup::new(3);
        let channel = setup.channel(channel);
        Stage { setup, channel, clocks: Vec::new() }
    }

    /// A FIFO task that comes to a CPU.
    fn task(&mut self, comm: &'static str, cpu: u16, priority: u8, at: Nanos, step: Step) {
        let (spec, clock) = script(comm, [step]);
        let cpus = Some(CpuMask::single(CpuId(cpu)));
        let spec = TaskSpec { policy: fifo(priority), cpus, ..spec };
        self.setup.spawn_on(at, Some(CpuId(cpu)), spec);
        self.clocks.push((comm, clock));
    }

    /// It writes once, from then on.
    fn writes(&mut self, comm: &'static str, cpu: u16, at: Nanos) {
        let step = Step::Send(self.channel);
        self.task(comm, cpu, 10, at, step);
    }

    /// The first writes on CPU 0 from the start, the second comes to CPU 1 after 0.4 ms.
    fn two_writers(channel: ChannelSpec) -> Stage {
        let mut stage = Stage::new(channel);
        stage.writes("first", 0, Nanos::ZERO);
        stage.writes("second", 1, us(400));
        stage
    }

    fn play(self, profile: &str, settings: &[&str]) -> Played {
        let config = Config::of_profile(profile).expect("a profile");
        settings.iter().for_each(|setting| config.set(setting).expect("a setting"));
        let options = RunOptions { check: true, ..RunOptions::default() };
        let machine = Machine::new(ideal(3), config, self.setup, options).expect("a sound setup");
        Played { outcome: machine.run().expect("a run without error"), clocks: self.clocks }
    }
}

impl Played {
    /// When its call returned.
    fn done(&self, comm: &str) -> Nanos {
        let (_, clock) = self.clocks.iter().find(|(name, _)| *name == comm).expect("a task of this name");
        clock.borrow()[1]
    }

    fn counters(&self, comm: &str) -> TaskCounters {
        self.outcome.tasks.iter().find(|task| &*task.comm == comm).expect("it ran").counters
    }

    /// Voluntary switches but for that of the exit.
    fn sleeps(&self, comm: &str) -> u64 {
        self.counters(comm).nr_voluntary_switches - 1
    }

    /// CPU time but for that of its write.
    fn spun(&self, comm: &str) -> Nanos {
        self.counters(comm).sum_exec_runtime.saturating_sub(ms(1))
    }

    /// Waits that were over while the task spun, and those in which it slept.
    fn waits(&self) -> [u64; 2] {
        let totals = &self.outcome.totals;
        [totals.kernel_mutex_spins, totals.kernel_mutex_sleeps]
    }
}

#[test]
fn a_second_writer_spins_until_the_first_has_written() {
    let played = Stage::two_writers(PIPE).play("6.1", &[]);
    assert_eq!((played.done("first"), played.done("second")), (ms(1), ms(2)));
    assert_eq!((played.sleeps("second"), played.spun("second")), (0, us(600)));
    assert_eq!((played.waits(), played.outcome.totals.kernel_mutex_spin_ns), ([1, 0], 600_000));
}

#[test]
fn before_2_6_29_it_sleeps() {
    let played = Stage::two_writers(PIPE).play("6.1", &["mutex_spin=never"]);
    assert_eq!(played.done("second"), ms(2));
    assert_eq!((played.sleeps("second"), played.spun("second")), (1, Nanos::ZERO));
    assert_eq!((played.waits(), played.outcome.totals.kernel_mutex_sleep_ns), ([0, 1], 600_000));
}

#[test]
fn a_socket_has_no_such_mutex() {
    let room = Room::Messages { capacity: 16, writers_wake_at: 15 };
    let played = Stage::two_writers(ChannelSpec { room, ..PIPE }).play("6.1", &[]);
    assert_eq!((played.done("second"), played.waits()), (us(1_400), [0, 0]));
}

#[test]
fn a_reader_waits_for_a_writer() {
    let mut stage = Stage::new(PIPE);
    stage.writes("early", 0, Nanos::ZERO);
    stage.writes("writer", 0, ms(2));
    let read = Step::Receive(stage.channel);
    stage.task("reader", 1, 10, us(2_400), read);
    let played = stage.play("6.1", &[]);
    assert_eq!((played.done("reader"), played.spun("reader")), (ms(4), us(600)));
}

/// The reader has done its work before it slept, but the second writer has the mutex when it is woken.
#[test]
fn a_woken_reader_waits_for_who_writes_next() {
    let mut stage = Stage::new(PIPE);
    let read = Step::Receive(stage.channel);
    stage.task("reader", 2, 10, Nanos::ZERO, read);
    stage.writes("first", 0, us(200));
    stage.writes("second", 1, us(400));
    let played = stage.play("6.1", &[]);
    assert_eq!((played.done("first"), played.done("second")), (ms(2), ms(3)));
    assert_eq!((played.done("reader"), played.sleeps("reader")), (ms(3), 1));
    assert_eq!((played.spun("reader"), played.waits()), (ms(1), [3, 0]));
}

/// The owner is preempted in its write, where the kernel can be.
#[test]
fn it_stops_spinning_when_the_owner_loses_its_cpu() {
    let mut stage = Stage::two_writers(PIPE);
    stage.task("urgent", 0, 90, us(600), Step::Compute(ms(5)));
    let played = stage.play("6.1", &["preempt_model=full"]);
    assert_eq!((played.done("first"), played.done("second")), (ms(6), ms(7)));
    assert_eq!((played.sleeps("second"), played.spun("second")), (1, us(200)));
    assert_eq!((played.waits(), played.outcome.totals.kernel_mutex_sleep_ns), ([0, 1], 5_600_000));
}

/// It leaves its CPU runnable, hence by an involuntary switch, and when it has it again it sleeps.
#[test]
fn it_stops_spinning_when_it_has_to_reschedule() {
    for model in ["preempt_model=none", "preempt_model=full"] {
        let mut stage = Stage::two_writers(PIPE);
        stage.task("urgent", 1, 90, us(600), Step::Compute(us(100)));
        let played = stage.play("6.1", &[model]);
        assert_eq!(played.done("urgent"), us(700), "{model}: at once");
        let counters = played.counters("second");
        assert_eq!((counters.nr_involuntary_switches, played.sleeps("second")), (1, 1), "{model}");
        assert_eq!((played.done("second"), played.spun("second")), (ms(2), us(200)), "{model}");
    }
}

/// Who comes last of three gets it last, and the queue makes no difference to that.
#[test]
fn several_spin_behind_each_other() {
    for rule in ["mutex_spin=osq", "mutex_spin=owner_on_cpu"] {
        let mut stage = Stage::two_writers(PIPE);
        stage.writes("third", 2, us(500));
        let played = stage.play("6.1", &[rule]);
        assert_eq!((played.done("second"), played.done("third")), (ms(2), ms(3)), "{rule}");
        assert_eq!((played.waits(), played.sleeps("third")), ([2, 0], 0), "{rule}");
    }
}

/// A sleeper is woken by an interrupt; meanwhile one that spins takes the mutex, and another would take it
/// next. But who was woken in vain gets it before that.
#[test]
fn who_was_woken_in_vain_comes_next() {
    let mut stage = Stage::new(PIPE);
    stage.writes("first", 0, Nanos::ZERO);
    stage.task("urgent", 0, 90, us(100), Step::Compute(us(200)));
    stage.writes("sleeper", 1, us(200));
    stage.writes("thief", 2, us(400));
    let step = Step::Send(stage.channel);
    stage.task("late", 0, 10, us(1_500), step);
    let played = stage.play("6.1", &["preempt_model=full"]);
    let done = ["first", "thief", "sleeper", "late"].map(|comm| played.done(comm));
    assert_eq!(done, [us(1_200), us(2_200), us(3_200), us(4_200)]);
    assert_eq!(played.sleeps("sleeper"), 1);
}

/// machine.md 1.2: with PREEMPT_RT it is an rt_mutex, so a preempted owner goes on with the priority of who
/// wants it.
#[test]
fn with_preempt_rt_the_owner_inherits() {
    let of = |profile| {
        let mut stage = Stage::new(PIPE);
        stage.writes("owner", 0, Nanos::ZERO);
        stage.task("middle", 0, 50, us(200), Step::Compute(ms(5)));
        let write = Step::Send(stage.channel);
        stage.task("urgent", 1, 80, us(400), write);
        let played = stage.play(profile, &["preempt_model=full"]);
        (played.done("urgent"), played.done("middle"))
    };
    assert_eq!(of("6.1-rt"), (us(2_200), ms(6)));
    assert_eq!(of("6.1"), (ms(7), us(5_200)));
}
