//! What stands in a page, unpacked as its script unpacks it.

use super::content::{Cell, Content};
use super::document::{fitting, html};
use super::timeline::{At, Budget, Builder, Kind, LeftAs, LogPart, Seen, State, Throttled, Timeline, of_log};
use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use schema::example;
use schema::{Nanos, Pid, Window};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// What was packed: JSON, and the columns of each timeline by name.
struct Unpacked {
    json: Value,
    columns: Vec<BTreeMap<String, Vec<u64>>>,
}

fn unpack(data: &[u8]) -> Unpacked {
    let mut all = Vec::new();
    GzDecoder::new(data).read_to_end(&mut all).expect("gzip");
    let (length, rest) = all.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    let (json, mut rest) = rest.split_at(length);
    let json: Value = serde_json::from_slice(json).expect("JSON");
    let mut columns = Vec::new();
    for timeline in json["timelines"].as_array().expect("timelines") {
        let mut of = BTreeMap::new();
        for column in timeline["columns"].as_array().expect("columns") {
            let bytes;
            (bytes, rest) = rest.split_at(column["bytes"].as_u64().expect("bytes") as usize);
            let numbers = numbers(bytes);
            assert_eq!(numbers.len() as u64, column["count"]);
            of.insert(column["name"].as_str().expect("a name").to_owned(), numbers);
        }
        columns.push(of);
    }
    assert!(rest.is_empty(), "nothing is left over");
    Unpacked { json, columns }
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let mut out = vec![];
    let mut shift = 0;
    let mut number = 0;
    for byte in bytes {
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            out.push(number);
            (shift, number) = (0, 0);
        }
    }
    out
}

/// The data of a page, as it stands in its HTML.
fn data(html: &str) -> Vec<u8> {
    let (_, rest) = html.split_once("id=\"data\">").expect("the data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    STANDARD.decode(data).expect("base64")
}

const MS: u64 = 1_000_000;

fn at(time: u64, cpu: u32) -> At {
    At { time: Nanos(time), cpu }
}

fn task(pid: i32) -> Seen {
    Seen { pid: Pid(pid), prio: 120 }
}

/// Up to a tenth of a millisecond, so that gzip finds no pattern.
fn delay(turn: u64) -> u64 {
    (turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 100_000
}

/// Two tasks take turns on a CPU, so many times; each turn lasts a millisecond and some.
fn turns(name: &str, turns: u64) -> Timeline {
    let mut builder = Builder::new(name, 2, Nanos(0), Nanos(turns * 2 * MS), 0);
    builder.all_idle();
    let mut last = 0;
    for turn in 0..turns {
        let begin = turn * MS + delay(turn);
        let next = 1_000 + (turn % 2) as i32;
        builder.waking(at(begin, 1), task(next), true);
        builder.wakeup(at(begin + 500, 1), task(next), 0);
        builder.switch(at(begin + 2_000, 0), task(last), LeftAs::Sleeping, task(next));
        builder.decision(at(begin + 2_100, 0), Pid(next), "preempt_class", "why");
        last = next;
    }
    builder.finish()
}

fn page(name: &str) -> Page {
    let content = Content { title: name.to_owned(), ..Content::default() };
    Page { content, timelines: vec![turns(name, 20)] }
}

#[test]
fn a_timeline_comes_back_from_the_page() {
    let Unpacked { json, columns } = unpack(&data(&page("two").html()));
    assert_eq!(json["schema"], "schedlab-page/1");
    let timeline = &json["timelines"][0];
    assert_eq!(timeline["cpus"], 2);
    let pids: Vec<_> = timeline["tasks"].as_array().expect("tasks").iter().map(|task| &task["pid"]).collect();
    assert_eq!(pids, [0, 1000, 1001]);
    // Of each turn a waking, a wakeup and a switch.
    assert_eq!(columns[0]["event.time"][..6], [0, 500, 1_500, MS + delay(1) - 2_000, 500, 1_500]);
    assert_eq!(columns[0]["event.kind"][..6], [1, 2, 0, 1, 2, 0]);
    assert_eq!(columns[0]["event.cpu"][..6], [1, 1, 0, 1, 1, 0]);
    assert_eq!(columns[0]["event.task"][..6], [1, 1, 1, 2, 2, 2]);
    // By an interrupt; into the queue of CPU 0; from the idle task, then from one that sleeps.
    assert_eq!(columns[0]["event.detail"][..6], [1, 0, 0, 1, 0, 4]);
    assert_eq!(columns[0]["decision.time"].len(), 20);
}

#[test]
fn names_are_data_and_no_markup() {
    let wicked = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let mut page = page(wicked);
    page.content.command = Some(wicked.to_owned());
    page.timelines[0].tasks[1].names = vec![wicked.to_owned()];
    let html = page.html();
    assert!(!html.contains("<script>alert") && !html.contains("<img"), "a name stands in the page as it is");
    assert!(html.contains("<title>&lt;/script&gt;"));
    // The data, and the script.
    assert_eq!((html.matches("<script").count(), html.matches("</script>").count()), (2, 2));
    let unpacked = unpack(&data(&html)).json;
    assert_eq!(unpacked["timelines"][0]["tasks"][1]["names"][0], wicked, "and is told");
}

#[test]
fn a_page_allows_its_own_script_only_and_no_network() {
    let html = html(&page("x"));
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1).expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{}", &policy[..80]);
    let outside = ["src=\"http", "href=\"http", "@import", "url(http"];
    assert!(outside.iter().all(|word| !html.contains(word)));
}

#[test]
fn the_same_page_has_the_same_bytes() {
    assert_eq!(page("x").html(), page("x").html());
}

#[test]
fn what_has_no_room_is_left_out_and_named() {
    let many = Page { content: Content::default(), timelines: vec![turns("many", 20_000)] };
    let all = fitting(&many, usize::MAX);
    let left_out = |data: &[u8]| unpack(data).json["timelines"][0]["left_out"].to_string();
    assert_eq!(left_out(&all), "[]");
    let without_decisions = fitting(&many, all.len() - 1);
    assert!(left_out(&without_decisions).contains("decisions"), "{}", left_out(&without_decisions));
    let part = fitting(&many, all.len() / 4);
    assert!(part.len() <= all.len() / 4);
    assert!(left_out(&part).contains("all that happens after"), "{}", left_out(&part));
    let Unpacked { json, columns } = unpack(&part);
    let length = json["timelines"][0]["length_ns"].as_u64().expect("a length");
    let last: u64 = columns[0]["event.time"].iter().sum();
    assert!(length < 40_000 * MS && last <= length, "{last} of {length}");
    let kept = columns[0]["event.time"].len();
    assert!(kept > 5_000, "what has room stays: {kept} events in {} of {} bytes", part.len(), all.len());
}

#[test]
fn a_stretch_begins_with_what_was_before_it() {
    let mut builder = Builder::new("stretch", 1, Nanos(10 * MS), Nanos(20 * MS), 3);
    builder.all_idle();
    builder.wakeup_new(at(MS, 0), task(7), 0);
    builder.switch(at(2 * MS, 0), task(0), LeftAs::Runnable, task(7));
    builder.wakeup_new(at(3 * MS, 0), task(8), 0);
    builder.switch(at(12 * MS, 0), task(7), LeftAs::Blocked, task(8));
    builder.switch(at(25 * MS, 0), task(8), LeftAs::Dead, task(0));
    let timeline = builder.finish();
    assert_eq!((timeline.start_ns, timeline.length_ns), (3, 10 * MS));
    assert_eq!(timeline.first_on_cpu, [Some(1)]);
    let states: Vec<State> = timeline.tasks.iter().map(|task| task.state).collect();
    assert_eq!(states, [State::Absent, State::Running, State::Runnable]);
    let times: Vec<u64> = timeline.events.iter().map(|event| event.time_ns).collect();
    assert_eq!(times, [2 * MS], "only what happens in it");
}

#[test]
fn of_a_recording_a_cpu_ran_from_the_beginning_what_leaves_it_first() {
    let mut builder = Builder::new("recording", 2, Nanos(0), Nanos(MS), 0);
    builder.waking(at(0, 1), task(9), false);
    builder.switch(at(500, 0), task(7), LeftAs::Runnable, task(0));
    let timeline = builder.finish();
    assert_eq!(timeline.first_on_cpu, [Some(2), None]);
    assert_eq!((timeline.tasks[2].pid, timeline.tasks[2].state), (7, State::Running));
}

/// From when until when whom.
#[test]
fn a_task_that_leaves_a_cpu_to_which_nothing_shows_it_coming_waits_no_longer() {
    let mut builder = Builder::new("recording", 1, Nanos(0), Nanos(100), 0);
    builder.switch(at(5, 0), task(0), LeftAs::Runnable, task(2));
    builder.switch(at(6, 0), task(2), LeftAs::Sleeping, task(0));
    builder.wakeup(at(10, 0), task(1), 0);
    builder.switch(at(20, 0), task(1), LeftAs::Sleeping, task(0));
    builder.wakeup(at(50, 0), task(1), 0);
    builder.switch(at(53, 0), task(0), LeftAs::Runnable, task(1));
    assert_eq!(builder.finish().latencies_ns(|_| true), [10, 3]);
}

#[test]
fn a_preempted_task_of_which_not_all_is_recorded_is_not_shown_to_wait() {
    let mut builder = Builder::new("recording", 1, Nanos(0), Nanos(100), 0);
    builder.switch(at(10, 0), task(1), LeftAs::Runnable, task(2));
    builder.switch(at(20, 0), task(2), LeftAs::Sleeping, task(0));
    builder.switch(at(80, 0), task(1), LeftAs::Sleeping, task(0));
    let timeline = builder.finish();
    let is_left_preempted = |event: &timeline::Event| event.kind == Kind::Switch(State::Preempted);
    assert!(!timeline.events.iter().any(is_left_preempted));
}

fn throttles(timeline: &Timeline) -> Vec<(u64, u64, Throttled)> {
    timeline.throttles.iter().map(|one| (one.from_ns, one.until_ns, one.whom)).collect()
}

#[test]
fn throttling_lasts_until_it_ends() {
    let mut builder = Builder::new("throttled", 1, Nanos(0), Nanos(100), 0);
    builder.queue_throttled(at(10, 0), Budget::RealTime);
    builder.task_throttled(at(20, 0), Pid(5));
    builder.queue_unthrottled(at(40, 0), Budget::RealTime);
    let queue = Throttled::Queue { cpu: 0, budget: Budget::RealTime };
    assert_eq!(throttles(&builder.finish()), [(10, 40, queue), (20, 100, Throttled::Task(1))]);
}

/// Task 5 is in the group, 6 is not; 7 is, on the other CPU; 8 is, of real-time priority.
#[test]
fn who_waits_in_a_queue_without_budget_is_throttled() {
    let mut builder = Builder::new("throttled", 2, Nanos(0), Nanos(1_000), 0);
    builder.all_idle();
    builder.group("web", [5, 7, 8].map(Pid));
    builder.wakeup_new(at(0, 0), task(5), 0);
    builder.wakeup_new(at(0, 0), task(6), 0);
    builder.wakeup_new(at(0, 0), task(7), 1);
    builder.wakeup_new(at(0, 0), Seen { pid: Pid(8), prio: 50 }, 0);
    builder.switch(at(10, 0), task(0), LeftAs::Runnable, task(5));
    builder.queue_throttled(at(100, 0), Budget::Group(0));
    // It runs on until it leaves, waits, and is moved to where the group has time.
    builder.switch(at(110, 0), task(5), LeftAs::Runnable, task(6));
    builder.migrate(at(150, 0), task(5), 0, 1);
    // Woken into the queue, it waits until the budget is there again.
    builder.switch(at(200, 1), task(0), LeftAs::Runnable, task(7));
    builder.switch(at(220, 1), task(7), LeftAs::Sleeping, task(5));
    builder.wakeup(at(300, 1), task(7), 0);
    builder.queue_unthrottled(at(400, 0), Budget::Group(0));
    let timeline = builder.finish();
    let queue = Throttled::Queue { cpu: 0, budget: Budget::Group(0) };
    let [five, seven] = [5, 7].map(|pid| {
        let number = timeline.tasks.iter().position(|task| task.pid == pid).expect("the task") as u32;
        Throttled::Task(number)
    });
    assert_eq!(throttles(&timeline), [(110, 150, five), (100, 400, queue), (300, 400, seven)]);
    assert_eq!(timeline.groups, ["web"]);
}

/// A group's real-time tasks have a budget of their own: no fair member is throttled by it, and no real-time
/// task outside.
#[test]
fn real_time_tasks_of_a_group_are_throttled_by_themselves() {
    let mut builder = Builder::new("throttled", 1, Nanos(0), Nanos(1_000), 0);
    builder.all_idle();
    builder.group("web", [5, 8].map(Pid));
    for (pid, prio) in [(5, 120), (8, 50), (9, 50)] {
        builder.wakeup_new(at(0, 0), Seen { pid: Pid(pid), prio }, 0);
    }
    builder.queue_throttled(at(100, 0), Budget::RtGroup(0));
    builder.queue_unthrottled(at(400, 0), Budget::RtGroup(0));
    let timeline = builder.finish();
    let queue = Throttled::Queue { cpu: 0, budget: Budget::RtGroup(0) };
    let eight = timeline.tasks.iter().position(|task| task.pid == 8).expect("the task") as u32;
    assert_eq!(throttles(&timeline), [(100, 400, queue), (100, 400, Throttled::Task(eight))]);
}

#[test]
fn an_interrupt_waits_from_when_it_comes_until_it_is_served() {
    let mut builder = Builder::new("interrupts", 1, Nanos(0), Nanos(100), 0);
    builder.interrupt_raised(at(10, 0), "timer");
    builder.interrupt_raised(at(11, 0), "tick");
    builder.interrupt_begins(at(15, 0), "timer");
    builder.interrupt_ends(at(17, 0));
    builder.interrupt_begins(at(18, 0), "tick");
    builder.interrupt_ends(at(30, 0));
    let timeline = builder.finish();
    let found: Vec<_> =
        timeline.interrupts.iter().map(|one| (one.from_ns, one.until_ns, one.waited_ns)).collect();
    assert_eq!(found, [(15, 17, 5), (18, 30, 7)]);
    assert_eq!(timeline.interrupt_names, ["timer", "tick"]);
}

#[test]
fn every_kind_of_record_of_a_log_is_understood() {
    let log = example::log();
    let part = LogPart {
        name: "example",
        cpus: log.head.machine.cpus.max(16),
        tasks: &log.head.tasks,
        groups: &log.head.groups,
        records: &log.records,
        zero: Nanos(0),
        window: Window { from_ns: 0, to_ns: u64::MAX / 2 },
    };
    let timeline = of_log(part, |_| "meaning");
    let has = |wanted: fn(&schema::LogEvent) -> bool| log.records.iter().any(|record| wanted(&record.event));
    assert_eq!(
        !timeline.lock_waits.is_empty(),
        has(|event| matches!(event, schema::LogEvent::LockWait { .. }))
    );
    assert_eq!(
        !timeline.decisions.is_empty(),
        has(|event| matches!(event, schema::LogEvent::Decision { .. }))
    );
    assert_eq!(!timeline.markers.is_empty(), has(|event| matches!(event, schema::LogEvent::Marker { .. })));
    assert_eq!(!timeline.settings.is_empty(), has(|event| matches!(event, schema::LogEvent::Setting { .. })));
    assert!(!timeline.events.is_empty());
}

/// Those of the text's table, all CPUs together before each by itself.
#[test]
fn a_page_has_the_idle_states() {
    let mut run = example::run();
    let table = |run: &schema::RunResult| {
        let tables = Content::of_run(run, |_| "meaning").tables;
        tables.into_iter().find(|table| table.title == "Idle states")
    };
    let shown = table(&run).expect("a machine with several");
    assert!(shown.note.expect("who chose").starts_with("Chosen by the governor menu."));
    let row = |cpu: &str, state: &str, numbers: [f64; 4]| {
        let words = [cpu, state].map(|word| Cell::Text(word.to_owned()));
        words.into_iter().chain(numbers.map(Cell::Number)).collect::<Vec<_>>()
    };
    assert_eq!(shown.rows[1], row("all", "C6", [80.0, 1_404_000_000.0, 8.0, 4.0]));
    assert_eq!(shown.rows[2], row("0", "C1", [1_200.0, 81_000_000.0, 120.0, 60.0]));
    assert_eq!(shown.rows.len(), 6, "two states of all and of two CPUs");
    run.idle = None;
    assert!(table(&run).is_none());
}

#[test]
fn every_document_makes_a_page() {
    let run = example::run();
    let content = Content::of_run(&run, |_| "meaning");
    let tasks = content.tables.iter().find(|table| table.title == "Tasks").expect("the table of tasks");
    assert_eq!(tasks.rows.len(), run.tasks.len());
    let swept = Content::of_reproduction(&schema::reproduction::Reproduction {
        schema: schema::ReproduceSchema,
        command: None,
        version: "0".to_owned(),
        quick: false,
        experiments: vec![example::reproduction::swept()],
    });
    assert_eq!(swept.charts.len(), 1);
    assert_eq!(swept.charts[0].lines.len(), 2);
    let mut explained = Content::default();
    explained.fact("kernel", "6.18.y");
    let why = example::why();
    let timeline = Builder::new("run", 1, Nanos(0), Nanos(MS), 0).finish();
    explained.explain(&why, Nanos(0), std::slice::from_ref(&timeline));
    let told = explained.why.as_ref().expect("explanations");
    assert_eq!(told.explanations.len(), why.explanations.len());
    assert!(told.explanations.iter().all(|one| one.timeline == Some(0)));
    assert!(told.explanations.iter().flat_map(|one| &one.stretches).all(|one| one.kind < told.kinds.len()));
    let mut beside = Content::default();
    beside.explain(&why, Nanos(0), &[Timeline { start_ns: MS, ..timeline }]);
    let places = beside.why.expect("explanations").explanations;
    assert!(places.iter().all(|one| one.timeline.is_none()), "the timeline begins after them");
    let tables = told.explanations.iter().flat_map(|one| &one.tables);
    explained.tables = tables.cloned().collect();
    for content in [content, swept, explained, Content::of_comparison(&example::comparison())] {
        for table in &content.tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.title);
        }
        assert!(!content.figures.is_empty() && !content.facts.is_empty());
        assert!(unpack(&data(&Page::of(content).html())).json["title"].is_string());
    }
}

#[test]
fn a_picture_shows_who_ran_who_waited_and_how_long() {
    let svg = turns("two <tasks>\u{1}", 200).svg(|_| true);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in ["two &lt;tasks&gt;\u{fffd}, 0s to 400ms", "CPU 0", "CPU 1", ">50 ms<", ">1 µs<", ">10 µs<"]
    {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    // Each wakeup takes 2 µs until the task runs: one bar.
    let bars = svg.lines().filter(|line| line.starts_with("<rect x") && line.contains("#2563c9")).count();
    assert_eq!(bars, 1 + 1, "the legend's, and one");
    assert!(svg.contains("highest bar: 200 wakeups"));
}

/// Task 1 runs for a thousandth of the time, which is not to be seen, task 2 for half of it.
#[test]
fn rows_without_a_visible_stretch_come_last_in_a_picture() {
    let mut builder = Builder::new("two", 1, Nanos(0), Nanos(1_000 * MS), 0);
    builder.all_idle();
    builder.wakeup_new(at(0, 0), task(1), 0);
    builder.switch(at(MS / 100, 0), task(0), LeftAs::Runnable, task(1));
    builder.switch(at(MS, 0), task(1), LeftAs::Sleeping, task(0));
    builder.wakeup_new(at(2 * MS, 0), task(2), 0);
    builder.switch(at(2 * MS, 0), task(0), LeftAs::Runnable, task(2));
    builder.switch(at(502 * MS, 0), task(2), LeftAs::Sleeping, task(0));
    let svg = builder.finish().svg(|_| true);
    // They have no names.
    let [first, second] = [1, 2].map(|pid| svg.find(&format!("> {pid}</text>")).expect("a row"));
    assert!(second < first, "{svg}");
}
