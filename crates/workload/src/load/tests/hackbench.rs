use super::super::hackbench::{pipe_room, socket_room};
use super::*;
use machine::Room;
use schema::Seconds;

/// All children that main forks, and how.
fn children(main: &mut Script) -> Vec<(ForkKind, Script)> {
    let mut out = Vec::new();
    loop {
        match main.step() {
            Step::Fork { child, kind } => out.push((kind, Script::boxed(child.behaviour))),
            Step::WaitChild => {}
            Step::Exit => return out,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn main_forks_receivers_then_senders_of_each_group_and_waits_for_all() {
    let mut built = build("hackbench -g 2 -f 3 -l 4", 4);
    assert_eq!(built.tasks.len(), 1, "main alone is there from the start");
    let steps = built.task(0).until_exit();
    let waits = steps.iter().filter(|s| *s == "WaitChild").count();
    assert_eq!((steps.len(), waits), (24, 12));
    let LoadResult::Hackbench(result) = built.load.result("") else { panic!() };
    assert_eq!((result.tasks, result.fds_per_group, result.time_s), (12, 6, None));
    assert_eq!(length("hackbench"), Length::Work);
}

#[test]
fn each_sender_sends_to_each_receiver_of_its_group_in_each_loop() {
    let mut built = build("hackbench -g 2 -f 2 -l 3 -T", 4);
    let mut children = children(&mut built.task(0));
    assert!(children.iter().all(|(kind, _)| *kind == ForkKind::Thread));
    let steps: Vec<String> = children.iter_mut().flat_map(|(_, child)| child.until_exit()).collect();
    let count = |step: String| steps.iter().filter(|s| **s == step).count();
    for channel in 0..4 {
        let passed =
            (count(format!("Send(ChannelId({channel}))")), count(format!("Receive(ChannelId({channel}))")));
        assert_eq!(passed, (6, 6), "two senders, three loops");
    }
    assert!(built.load.is_finished());
}

#[test]
fn time_runs_from_the_first_start_to_the_last_end() {
    let mut built = build("hackbench -g 1 -f 1 -l 1 -P", 4);
    let mut children = children(&mut built.task(0));
    let mut run = |child: usize, from: Nanos, to: Nanos| {
        let (kind, script) = &mut children[child];
        assert_eq!(*kind, ForkKind::Fork);
        assert_eq!(script.steps(1), ["BarrierWait(BarrierId(0))"]);
        script.now = from;
        script.step();
        script.now = to;
        script.until_exit();
    };
    run(1, us(10), us(20));
    assert!(!built.load.is_finished());
    run(0, us(12), us(30));
    let LoadResult::Hackbench(result) = built.load.result("") else { panic!() };
    assert_eq!(result.time_s, Some(Seconds::from_ns(20_000)));
}

#[test]
fn with_fifo_main_and_all_that_it_forks_are_real_time_tasks() {
    let policies = |command: &str| {
        let mut built = build(command, 2);
        let main = built.tasks[0].spec.policy;
        let mut policies = vec![main];
        let mut main = built.task(0);
        loop {
            match main.step() {
                Step::Fork { child, .. } => policies.push(child.policy),
                Step::Exit => return policies,
                _ => {}
            }
        }
    };
    let one = Policy::Fifo(RtPriority::new(1).unwrap());
    assert_eq!(policies("hackbench -F -g 1 -f 2 -l 1"), [one; 5]);
    assert_eq!(policies("hackbench -g 1 -f 2 -l 1"), [Policy::Normal; 5]);
}

#[test]
fn capacities_of_pipes_and_sockets() {
    let pipe = |pages, per_page| Room::Pages { pages, per_page };
    // 40 messages of 100 bytes to a page, 16 pages; the writer goes on when a page is empty.
    assert_eq!(pipe_room(100), pipe(16, 40));
    assert_eq!(pipe_room(4_096), pipe(16, 1));
    assert_eq!(pipe_room(8_192), pipe(8, 1));
    assert_eq!(pipe_room(65_536), pipe(1, 1));
    let socket = |capacity, writers_wake_at| Room::Messages { capacity, writers_wake_at };
    // 768 bytes for a message of 100.
    assert_eq!(socket_room(100), socket(278, 69));
    assert_eq!(socket_room(65_536), socket(2, 0));
}

#[test]
fn refusals() {
    let cases = [
        (
            "hackbench -g 0",
            "hackbench: option '--groups <NUM>', value '0': it is a whole number from 1 to 1000",
        ),
        ("hackbench -g 1000 -f 1000", "hackbench: 2000000 tasks are too many: at most 100000"),
        (
            "hackbench -s 0",
            "hackbench: option '--data-size <SIZE>', value '0': it is a whole number from 1 to 65536",
        ),
    ];
    for (command, expected) in cases {
        assert_eq!(refusal(command), expected, "{command}");
    }
}
