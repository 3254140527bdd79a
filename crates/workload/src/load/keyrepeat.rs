//! keyrepeat: the low-tech test of seed 003. A key is held down in a terminal; the cursor should move evenly.
//!
//! The keyboard interrupts; the display server reads the key and tells the terminal; the terminal writes it
//! to the shell, which echoes it; the terminal asks the display server to draw it (fair-class 13.7). The
//! times between two drawings are the frames that the eye sees. Nobody forks.

use super::command::{options, parser};
use super::error::LoadError;
use super::progress::Remaining;
use super::rounds::{Rounds, task};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::latency::LatencyRecorder;
use crate::units::{bytes, micros, micros_above_zero, seconds, seconds_above_zero};
use machine::{Arrival, ChannelId, ChannelSpec, Env, Outside, Setup, Step};
use scheduler::Nanos;
use schema::{KeyrepeatResult, LoadResult};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

const NAME: &str = "keyrepeat";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A key held down in a terminal: display server, terminal, shell; how evenly the cursor moves.",
    ends: "Endless; with -D after that time.",
    source: "seed 003's second test (fair-class 13.7)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Keys a second while the key is held down (30).
    #[arg(
        short = 'r',
        long,
        value_name = "HZ",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=1_000),
    )]
    rate: u64,
    /// Release the key after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
    /// Do not count keys that come before this time, seconds without a unit (0).
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = seconds)]
    warmup: Nanos,
    /// Model: CPU time of the display server to read a key, microseconds without a unit (300us).
    #[arg(long, value_name = "TIME", default_value = "300us", value_parser = micros)]
    input: Nanos,
    /// Model: CPU time of the terminal for a key, half of it on each way, likewise (1ms).
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = micros)]
    terminal: Nanos,
    /// Model: CPU time of the shell to echo a key, likewise (100us).
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = micros)]
    shell: Nanos,
    /// Model: shortest CPU time of the display server to draw; the longest is twice that, likewise (1ms).
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = micros_above_zero)]
    draw: Nanos,
    /// Model: working set of display server and terminal in bytes, K or M (assumed; the shell has an eighth
    /// of it).
    #[arg(long, value_name = "SIZE", default_value = "256K", value_parser = bytes)]
    working_set: u64,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(Keyrepeat { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct Keyrepeat {
    options: Options,
}

/// Kernel time of a small write or read of a local socket or terminal (fair-class 12.1: 1 to 3 µs with the
/// call).
const WRITE: Nanos = Nanos::from_micros(2);
const READ: Nanos = Nanos::from_micros(1);
/// Nobody holds a key for so long that this many of them wait.
const ROOM: u32 = 1 << 20;

/// What the terminal reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ToTerminal {
    /// A key from the display server.
    Key,
    /// What the shell wrote.
    Echo,
}

/// A channel whose messages are of several kinds.
#[derive(Clone, Debug)]
struct Inbox {
    channel: ChannelId,
    kinds: Rc<RefCell<VecDeque<ToTerminal>>>,
}

impl Inbox {
    /// The step that sends a message; it is the whole of its round, so that kinds are written down as they
    /// are sent.
    fn send(&self, kind: ToTerminal) -> Step {
        self.kinds.borrow_mut().push_back(kind);
        Step::Send(self.channel)
    }

    /// The kind of the message that has just been received.
    fn kind(&self) -> Option<ToTerminal> {
        self.kinds.borrow_mut().pop_front()
    }
}

/// When keys come: at one period, two periods and so on.
#[derive(Clone, Copy, Debug)]
struct Keyboard {
    period: Nanos,
    /// After that many the key is released.
    keys: Option<u64>,
    /// Keys before this time do not count.
    warmup: Nanos,
}

impl Keyboard {
    /// Keys that have come until a time.
    fn until(self, now: Nanos) -> u64 {
        (now.0 / self.period.0).min(self.keys.unwrap_or(u64::MAX))
    }

    /// When key `number`, from 0, came.
    fn came(self, number: u64) -> Nanos {
        self.period * (number + 1)
    }
}

/// What the screen showed.
#[derive(Debug, Default)]
struct Screen {
    /// Keys that were drawn, the warm-up's too.
    drawn: Cell<u64>,
    frames: Cell<u64>,
    last: Cell<Nanos>,
    between: LatencyRecorder,
    /// Of the times between frames, for their spread.
    sum_of_squares: Cell<u128>,
    stops: Cell<u64>,
    response: LatencyRecorder,
}

impl Screen {
    fn show(&self, now: Nanos, keyboard: Keyboard) {
        let number = self.drawn.replace(self.drawn.get() + 1);
        let before = self.last.replace(now);
        let came = keyboard.came(number);
        if came < keyboard.warmup {
            return;
        }
        self.frames.set(self.frames.get() + 1);
        self.response.record(now.saturating_sub(came));
        if number == 0 {
            return;
        }
        let between = now.saturating_sub(before);
        self.between.record(between);
        self.sum_of_squares.set(self.sum_of_squares.get() + u128::from(between.0).pow(2));
        self.stops.set(self.stops.get() + u64::from(between > keyboard.period * 2));
    }

    /// Standard deviation of the times between frames.
    fn spread(&self) -> Nanos {
        let stats = self.between.stats();
        let n = u128::from(stats.all().count());
        let mean_square = self.sum_of_squares.get().checked_div(n).unwrap_or(0);
        Nanos(mean_square.saturating_sub(u128::from(stats.all().mean_ns()).pow(2)).isqrt() as u64)
    }
}

/// The display server. It reads input devices before the requests of its clients.
#[derive(Debug)]
struct Display {
    keyboard: Keyboard,
    input: Nanos,
    draw: Dist,
    requests: ChannelId,
    terminal: Inbox,
    screen: Rc<Screen>,
    keys_read: u64,
    done: Done,
    remaining: Remaining,
}

/// What the display server has just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Done {
    /// Nothing that has to be followed up.
    All,
    /// It got a message.
    Receive,
    /// It read a key.
    Key,
    /// It drew.
    Draw,
}

impl Rounds for Display {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        let (step, done) = match self.done {
            Done::Receive if self.keys_read < self.keyboard.until(env.now) => {
                self.keys_read += 1;
                (Step::Compute(self.input), Done::Key)
            }
            Done::Receive => (Step::Compute(self.draw.draw(env.rng)), Done::Draw),
            Done::Key => (self.terminal.send(ToTerminal::Key), Done::All),
            Done::Draw => {
                self.screen.show(env.now, self.keyboard);
                *env.iterations += 1;
                if Some(self.screen.drawn.get()) == self.keyboard.keys {
                    return self.remaining.none();
                }
                (Step::Receive(self.requests), Done::Receive)
            }
            Done::All => (Step::Receive(self.requests), Done::Receive),
        };
        self.done = done;
        steps.push_back(step);
    }
}

/// The terminal.
#[derive(Debug)]
struct Terminal {
    work: Nanos,
    inbox: Inbox,
    shell: ChannelId,
    display: ChannelId,
    waiting: bool,
}

impl Rounds for Terminal {
    fn plan(&mut self, _: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        let message = if self.waiting { self.inbox.kind() } else { None };
        self.waiting = message.is_none();
        match message {
            None => steps.push_back(Step::Receive(self.inbox.channel)),
            Some(kind) => {
                let to = if kind == ToTerminal::Key { self.shell } else { self.display };
                steps.extend([Step::Compute(Nanos(self.work.0 / 2)), Step::Send(to)]);
            }
        }
    }
}

/// The shell in the terminal.
#[derive(Debug)]
struct Shell {
    work: Nanos,
    input: ChannelId,
    terminal: Inbox,
    read: bool,
}

impl Rounds for Shell {
    fn plan(&mut self, _: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        self.read = !self.read;
        if !self.read {
            steps.push_back(self.terminal.send(ToTerminal::Echo));
        } else {
            steps.extend([Step::Receive(self.input), Step::Compute(self.work)]);
        }
    }
}

impl Load for Keyrepeat {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let options = &self.options;
        let period = Nanos(1_000_000_000 / options.rate);
        let keys = options.duration.map(|time| (time.0 / period.0).max(1));
        let keyboard = Keyboard { period, keys, warmup: options.warmup };
        // UNIX sockets give the hint that the sender is about to sleep; a terminal line does not.
        let channel =
            |sync| ChannelSpec { sync, send_cost: WRITE, receive_cost: READ, ..ChannelSpec::new(ROOM) };
        let requests = setup.channel(channel(true));
        let to_shell = setup.channel(channel(false));
        let terminal = Inbox { channel: setup.channel(channel(true)), kinds: Rc::default() };
        setup.outside(Outside {
            at: period,
            by: Arrival::Own,
            cpu: None,
            channel: requests,
            every: Some(period),
        });
        let (screen, remaining) = (Rc::new(Screen::default()), Remaining::new(1));
        let display = Display {
            keyboard,
            input: options.input,
            draw: Dist::up_to_longer(options.draw, options.draw),
            requests,
            terminal: terminal.clone(),
            screen: screen.clone(),
            keys_read: 0,
            done: Done::All,
            remaining: remaining.clone(),
        };
        let shell = Shell { work: options.shell, input: to_shell, terminal: terminal.clone(), read: false };
        let work = options.terminal;
        let terminal = Terminal { work, inbox: terminal, shell: to_shell, display: requests, waiting: false };
        let (large, small) = (options.working_set, options.working_set / 8);
        setup.spawn(Nanos::ZERO, task("Xorg", large, display));
        setup.spawn(Nanos::ZERO, task("terminal", large, terminal));
        setup.spawn(Nanos::ZERO, task("bash", small, shell));
        Ok(BuiltLoad::new(remaining, Progress { period, screen }))
    }
}

#[derive(Debug)]
struct Progress {
    period: Nanos,
    screen: Rc<Screen>,
}

impl Results for Progress {
    fn result(&self, load: String) -> LoadResult {
        LoadResult::Keyrepeat(KeyrepeatResult {
            load,
            period_ns: self.period.0,
            frames: self.screen.frames.get(),
            between_ns: self.screen.between.stats().all().summary(),
            spread_ns: self.screen.spread().0,
            stops: self.screen.stops.get(),
            response_ns: self.screen.response.stats().all().summary(),
        })
    }
}
