use super::*;
use machine::ChannelId;
use schema::KeyrepeatResult;

/// Walks display server, terminal and shell together: messages go from one to the other at once, in the order
/// sent.
struct Desk {
    tasks: Vec<Script>,
    /// Whom a message on a channel is for, with the number of messages that wait there.
    channels: Vec<(usize, u32)>,
    built: Built,
}

impl Desk {
    fn new(command: &str) -> Desk {
        let mut built = build(command, 1);
        let tasks = (0..3).map(|number| built.task(number)).collect();
        // In the order in which the load makes them: requests to the display, input of the shell, of the
        // terminal.
        Desk { tasks, channels: vec![(0, 0), (2, 0), (1, 0)], built }
    }

    /// Every task has come to its first receive.
    fn at_rest(command: &str) -> Desk {
        let mut desk = Desk::new(command);
        for number in 0..3 {
            desk.go_on(number, Nanos::ZERO, &mut Vec::new());
        }
        desk
    }

    /// One task goes on from its receive, if a message waits, to its next receive; true if it did anything.
    fn go_on(&mut self, number: usize, now: Nanos, steps: &mut Vec<String>) -> Nanos {
        self.tasks[number].now = now;
        loop {
            match self.tasks[number].step() {
                Step::Receive(ChannelId(_)) | Step::Exit => return self.tasks[number].now,
                Step::Send(ChannelId(to)) => {
                    steps.push(format!("{number} sends"));
                    self.channels[to as usize].1 += 1;
                }
                Step::Compute(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// A key interrupts at `now`; gives what the tasks do until all wait again, and when.
    fn key(&mut self, now: Nanos) -> (Vec<String>, Nanos) {
        let (mut steps, mut now) = (Vec::new(), now);
        self.channels[0].1 += 1;
        while let Some(index) = self.channels.iter().position(|(_, waiting)| *waiting > 0) {
            self.channels[index].1 -= 1;
            now = self.go_on(self.channels[index].0, now, &mut steps);
        }
        (steps, now)
    }

    fn result(&self) -> KeyrepeatResult {
        let LoadResult::Keyrepeat(result) = self.built.load.result("") else { panic!() };
        result
    }
}

#[test]
fn a_key_goes_through_display_terminal_shell_and_back() {
    let mut desk = Desk::at_rest("keyrepeat -r 100 -D 20ms");
    let (steps, first) = desk.key(ms(10));
    assert_eq!(steps, ["0 sends", "1 sends", "2 sends", "1 sends"]);
    // 0.3 + 0.5 + 0.1 + 0.5 ms and 1 to 2 ms of drawing.
    let took = first - ms(10);
    assert!((us(2_400)..=us(3_400)).contains(&took), "{took}");
    let (_, second) = desk.key(ms(20));
    let result = desk.result();
    assert_eq!((result.frames, result.between_ns.count, result.stops), (2, 1, 0));
    assert_eq!(result.between_ns.max, (second - first).0);
    assert_eq!(result.spread_ns, 0, "one interval only");
    assert_eq!(result.response_ns.max.max(took.0), result.response_ns.max);
    assert!(desk.built.load.is_finished(), "two keys in 20 ms");
}

#[test]
fn the_spread_is_the_standard_deviation_between_drawings() {
    let mut desk = Desk::at_rest("keyrepeat -r 20 --draw 1ns");
    // Served at once, at once, 48 ms late, and the next one in time again.
    for at in [50, 100, 198, 200] {
        desk.key(ms(at));
    }
    let result = desk.result();
    assert_eq!((result.frames, result.stops), (4, 0));
    // 50, 98 and 2 ms: mean 50, standard deviation 39.192.
    assert!(result.spread_ns.abs_diff(39_191_800) < 10_000, "{}", result.spread_ns);
}

#[test]
fn a_cursor_that_misses_two_keys_has_stopped() {
    let mut desk = Desk::at_rest("keyrepeat -r 100");
    desk.key(ms(10));
    desk.key(ms(20));
    // Three keys wait when the desk runs again.
    desk.channels[0].1 += 2;
    desk.key(ms(55));
    let result = desk.result();
    assert_eq!((result.frames, result.stops), (5, 1));
    assert!(result.between_ns.max > ms(35).0);
}

#[test]
fn keys_of_the_warm_up_do_not_count() {
    let mut desk = Desk::at_rest("keyrepeat -r 100 -D 40ms --warmup 25ms");
    for at in [10, 20, 30, 40] {
        desk.key(ms(at));
    }
    let result = desk.result();
    assert_eq!((result.frames, result.between_ns.count, result.response_ns.count), (2, 2, 2));
    assert!(desk.built.load.is_finished(), "the four keys of 40 ms");
}

#[test]
fn lengths_and_refusals() {
    assert_eq!(length("keyrepeat"), Length::Endless);
    assert_eq!(length("keyrepeat -D 3"), Length::Time(Nanos::from_secs(3)));
    assert_eq!(
        refusal("keyrepeat -r 0"),
        "keyrepeat: option '--rate <HZ>', value '0': it is a whole number from 1 to 1000"
    );
}
