//! vmark and oltp.

use super::*;

/// How often each kind of step comes up to the task's end, or within so many steps.
fn census(task: &mut Script, most: usize) -> Vec<(&'static str, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..most {
        let kind = match task.step() {
            Step::Compute(_) => "compute",
            Step::Send(_) => "send",
            Step::Receive(_) => "receive",
            Step::Lock(_) => "lock",
            Step::Unlock(_) => "unlock",
            Step::Sections(_) => "sections",
            Step::BarrierWait(_) => "barrier",
            Step::Exit => break,
            other => panic!("{other:?}"),
        };
        *counts.entry(kind).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn a_message_goes_to_all_others_of_the_room() {
    let mut built = build("vmark --rooms 2 --users 5 --count 3", 4);
    assert_eq!(built.tasks.len(), 2 * 5 * 4);
    assert_eq!(census(&mut built.task(0), 999), [("barrier", 1), ("compute", 3), ("send", 3)]);
    // Reads three messages, hands each to four others.
    assert_eq!(census(&mut built.task(2), 999), [("compute", 15), ("receive", 3), ("send", 12)]);
    // Four others send three each.
    assert_eq!(census(&mut built.task(3), 999), [("compute", 12), ("receive", 12), ("send", 12)]);
    assert_eq!(census(&mut built.task(1), 999), [("compute", 12), ("receive", 12)]);
}

#[test]
fn a_chat_is_over_when_every_message_was_read() {
    let mut built = build("vmark --rooms 1 --users 2 --count 10", 4);
    let vmark = |built: &Built| {
        let LoadResult::Vmark(result) = built.load.result("") else { panic!() };
        result
    };
    for number in 0..built.tasks.len() {
        let last_reader = 5;
        assert_eq!(vmark(&built).seconds.is_some(), number > last_reader, "{number}");
        built.task(number).until_exit();
    }
    let result = vmark(&built);
    assert_eq!((result.sent, result.received, result.seconds.is_some()), (20, 20, true));
    assert_eq!(length("vmark"), Length::Work);
    assert_eq!(
        refusal("vmark --rooms 1000 --users 1000"),
        "vmark: 4000000 threads are too many: at most 100000"
    );
}

#[test]
fn a_transaction_is_begin_fourteen_reads_commit() {
    let mut built = build("oltp --clients 3 --time 1s --warmup 0s", 4);
    assert_eq!(built.tasks.len(), 6);
    assert_eq!(
        (built.tasks[0].spec.comm.as_str(), built.tasks[1].spec.comm.as_str()),
        ("postgres", "sysbench")
    );
    let mut client = built.task(1);
    // Sixteen round trips, and the mutex under which sysbench hands out a transaction.
    let first = census(&mut client, 16 * 4 + 3);
    assert_eq!(first, [("compute", 33), ("lock", 1), ("receive", 16), ("send", 16), ("unlock", 1)]);
    client.step();
    let LoadResult::Oltp(result) = built.load.result("") else { panic!() };
    assert_eq!((result.reads, result.others, result.transactions, result.all_requests), (14, 2, 1, 16));
    client.now = Nanos::from_secs(1);
    client.until_exit();
    let LoadResult::Oltp(result) = built.load.result("") else { panic!() };
    assert_eq!((result.transactions, result.latency_ns.count), (1, 1), "the second one ended too late");
    assert!(result.all_requests > 16);
}

#[test]
fn the_warm_up_is_not_counted() {
    let mut built = build("oltp --time 1s --warmup 2s", 4);
    let mut client = built.task(1);
    census(&mut client, 200);
    let oltp = |built: &Built| {
        let LoadResult::Oltp(result) = built.load.result("") else { panic!() };
        result
    };
    assert_eq!((oltp(&built).reads, oltp(&built).transactions), (0, 0));
    client.now = Nanos::from_secs(2);
    census(&mut client, 200);
    assert!(oltp(&built).reads > 14 && oltp(&built).transactions > 1);
    assert_eq!(length("oltp --time 1s --warmup 2s"), Length::Time(Nanos::from_secs(3)));
    assert_eq!(length("oltp --clients 100 --time 1s"), Length::Time(ms(1_000 + 500 + 2_500)));
}

#[test]
fn each_database_has_its_own_locks() {
    // Spinlocks and mutexes of BEGIN and of the read behind it.
    let locks = |command: &str| {
        let mut server = build(command, 4).task(0);
        [(); 2].map(|()| {
            let mut steps = Vec::new();
            while !matches!(steps.last(), Some(Step::Send(_))) {
                steps.push(server.step());
            }
            let spinlocks = steps.iter().map(|step| match step {
                Step::Sections(work) => work.locks().len(),
                _ => 0,
            });
            let mutexes = steps.iter().filter(|step| matches!(step, Step::Lock(_)));
            (spinlocks.sum::<usize>(), mutexes.count())
        })
    };
    assert_eq!(locks("oltp --db pgsql"), [(0, 1), (6, 0)]);
    assert_eq!(locks("oltp --db mysql"), [(1, 0), (4, 0)]);
    assert_eq!(locks("oltp --no-locks"), [(0, 0), (0, 0)]);
}

/// Mean CPU time of the server for a transaction.
fn server_time(command: &str) -> Nanos {
    let mut server = build(command, 4).task(0);
    let (mut sends, mut time) = (0, Nanos::ZERO);
    while sends < 16 * 50 {
        match server.step() {
            Step::Compute(part) => time += part,
            Step::Sections(work) => {
                time += work.first + (work.hold + work.part) * work.locks().len() as u64;
            }
            Step::Send(_) => sends += 1,
            _ => {}
        }
    }
    Nanos(time.0 / 50)
}

#[test]
fn a_crowd_costs_every_request_the_same() {
    let alone = server_time("oltp --server-work 42us --clients 8").0 as i64;
    let with = |options: &str| {
        let crowded = server_time(&format!("oltp --server-work 42us --footprint {options}"));
        crowded.0 as i64 - alone
    };
    let near = |value: i64, expected: i64| assert!((value - expected).abs() < 100, "{value} {expected}");
    near(with("2us --clients 1"), 0);
    near(with("2us --clients 16"), 16 * 2_000);
    near(with("2us --clients 24"), 16 * 3_000);
    near(with("2us --clients 256"), 16 * 10_000);
    near(with("0 --clients 256"), 0);
    near(with("0 --clients 4 --per-client 1us"), 16 * 4_000);
}
