//! `--plot`: pictures without a browser.

use super::report_page::{path, schedlab, written};
use serde_json::Value;
use std::fs;
use std::process::Output;

const MIX: &str = "../../demo/mix-rtover.dat";

/// What somebody recorded: `a` is woken so long before it runs, then runs for the second half of 2 ms.
fn recorded(name: &str, latency_us: u32) -> String {
    let line = |task: &str, at_us: u32, event: &str| format!("{task} [000] d... 1.{:06}: {event}\n", at_us);
    let switch = |from: &str, to: &str| format!("sched_switch: {from} ==> {to}");
    let idle = "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R";
    let text = [
        line("<idle>-0", 0, &switch(idle, "next_comm=b next_pid=8 next_prio=120")),
        line("b-8", 1000 - latency_us, "sched_wakeup: comm=a pid=7 prio=120 target_cpu=000"),
        line(
            "b-8",
            1000,
            &switch(
                "prev_comm=b prev_pid=8 prev_prio=120 prev_state=S",
                "next_comm=a next_pid=7 next_prio=120",
            ),
        ),
        line(
            "a-7",
            2000,
            &switch(
                "prev_comm=a prev_pid=7 prev_prio=120 prev_state=S",
                "next_comm=swapper/0 next_pid=0 next_prio=120",
            ),
        ),
    ];
    let file = path(name);
    fs::write(&file, text.concat()).expect("a temporary file");
    file.to_string_lossy().into_owned()
}

fn error(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

#[test]
fn a_picture_shows_a_stretch_of_a_run() {
    let file = path("stretch.svg");
    let name = file.to_string_lossy();
    let args = ["run", "cyclictest -t1 -i1000 -n", "hog -n 2", "--cpus", "2", "--for", "50ms"];
    let output = schedlab(&[&args[..], &["--from", "10ms", "--to", "20ms", "--plot", &name]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(&file).expect("the picture");
    for text in ["hog -n 2, 10ms to 20ms", ">CPU 1<", ">12 ms<", "cyclictest "] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn a_picture_is_svg_or_png_and_has_the_same_bytes_each_time() {
    let load = ["cyclictest -t1 -i1000 -n", "hog -n 2", "--cpus", "2", "--for", "20ms"];
    let of_load: [(&str, &[&str]); 3] =
        [("run", &[]), ("why", &[]), ("compare", &["--repeat", "1", "--with", "cpus=1"])];
    let commands = of_load.map(|(command, more)| (command, [&load[..], more].concat()));
    for (command, args) in commands.into_iter().chain([("inspect", vec![MIX])]) {
        let picture = |name: &str| {
            let file = path(&format!("{command}-{name}"));
            let plot = file.to_string_lossy();
            let output = schedlab(&[&[command], &args[..], &["--plot", &plot]].concat());
            (output, fs::read(&file).unwrap_or_default())
        };
        let (output, png) = picture("one.png");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{command}");
        assert_eq!(png, picture("two.png").1, "{command}");
        let svg = String::from_utf8(picture("three.svg").1).expect("text");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{command}");
        let of_svg = |name: &str| {
            let rest = svg.split_once(&format!(" {name}=\"")).expect("in the head").1;
            rest.split('"').next().and_then(|number| number.parse::<u32>().ok()).expect("a number")
        };
        let of_png = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
        assert_eq!([of_png(16), of_png(20)], ["width", "height"].map(|name| 2 * of_svg(name)), "{command}");
        let (output, nothing) = picture("four.pdf");
        assert_eq!((output.status.code(), nothing.len()), (Some(2), 0), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(".svg or .png"), "{command}");
    }
}

#[test]
fn a_picture_of_a_comparison_names_each_configuration_and_its_longest_latency() {
    let file = path("compare.svg");
    let args =
        ["compare", "cyclictest -t1 -i1000 -n", "hog -n 2", "--cpus", "2", "--for", "50ms", "--repeat", "2"];
    let page = written(
        "compare-plot.html",
        &[&args[..], &["--with", "cpus=1", "--plot", &file.to_string_lossy()]].concat(),
    );
    let svg = fs::read_to_string(&file).expect("the picture");
    assert_eq!(list_names(&page.json), ["base", "cpus=1"]);
    for text in ["base, at most ", "cpus=1, at most ", "100 %", "from wakeup to running"] {
        assert!(svg.contains(text), "{text}");
    }
}

fn list_names(page: &Value) -> Vec<&str> {
    page["timelines"].as_array().expect("timelines").iter().filter_map(|one| one["name"].as_str()).collect()
}

/// 830 pixels for 2 ms, behind 150 for the names: `b` has the CPU for the first 415, `a` for the rest.
#[test]
fn a_picture_of_a_recording_has_each_task_where_it_ran() {
    let trace = recorded("half.txt", 300);
    let file = path("half.svg");
    let output = schedlab(&["inspect", &trace, "--plot", &file.to_string_lossy()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(&file).expect("the picture");
    let row = |name: &str| {
        let from = svg.find(&format!(">{name}<")).expect("a row");
        svg[from..].lines().skip(1).take_while(|line| line.starts_with("<path")).collect::<String>()
    };
    assert!(svg.contains("half.txt, 0s to 2ms<"), "{svg}");
    assert!(row("CPU 0").contains("M150 ") && row("CPU 0").contains("h830"), "busy throughout");
    assert!(row("a 7").contains("M565 ") && row("a 7").contains("h415"), "{}", row("a 7"));
    assert!(row("b 8").contains("M150 ") && row("b 8").contains("h415"), "{}", row("b 8"));
}

#[test]
fn a_picture_of_two_recordings_has_the_latencies_of_both() {
    let [first, second] = [recorded("short.txt", 100), recorded("long.txt", 300)];
    let file = path("both.svg");
    let output = schedlab(&["inspect", &first, &second, "--plot", &file.to_string_lossy()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(&file).expect("the picture");
    for text in ["short.txt, at most 100 µs", "long.txt, at most 300 µs"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

/// Of a recording, of a run, of explanations of either.
#[test]
fn a_stretch_without_events_is_an_error_and_leaves_no_picture() {
    let file = path("nothing.svg");
    let plot = file.to_string_lossy();
    let load = ["cyclictest -t1 -i1000 -n", "--cpus", "1", "--for", "20ms"];
    let between = ["--from", "1200us", "--to", "1300us"];
    let behind = ["--from", "1h"];
    let trace = recorded("sparse.txt", 300);
    let nothing: [(&[&str], &[&str], &str); 7] = [
        (&["inspect", &trace], &between, "--from, --to: the trace has no events there"),
        (&["inspect", MIX], &behind, "is behind the end of the trace"),
        (&["inspect", &trace, &trace], &between, "the trace has no events there"),
        (&["why", &trace], &between, "--from, --to: the trace has no events there"),
        (&[&["run"], &load[..]].concat(), &between, "--plot: nothing happens there"),
        (&[&["run"], &load[..]].concat(), &behind, "is behind the end of the run"),
        (&[&["why"], &load[..]].concat(), &between, "--from, --to: nobody's wakeup ends there"),
    ];
    for (command, stretch, wanted) in nothing {
        let said = error(&schedlab(&[command, stretch, &["--plot", &plot]].concat()));
        assert!(said.contains(wanted), "{command:?}: {said}");
        assert!(!file.exists(), "{command:?}");
    }
}

/// With one figure, swept over two values.
const SWEPT: &str = r#"
title = "Hogs and their number"
source = "nowhere"
about = "A test."
settings = "machine=laptop cpus=2"
loads = ["hog -n {hogs}"]
for = "50ms"
seeds = 1
quick = { seeds = 1 }
sweep = { name = "hogs", values = [1, 3] }

[[variant]]
name = "new"
role = "prediction"
settings = "6.1"

  [[variant.row]]
  what = "switches"
  metric = "totals.context_switches"
  at = 1

  [[variant.row]]
  what = "switches"
  metric = "totals.context_switches"
  at = 3
"#;

#[test]
fn charts_of_an_experiment_are_svg_or_png() {
    let folder = path("charts");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("swept.toml");
    fs::write(&file, SWEPT).expect("a temporary file");
    let [file, into] = [&file, &folder].map(|path| path.to_string_lossy());
    let command = ["reproduce", &file, "--plot", &into];
    for format in [&[][..], &["--plot-format", "png"]] {
        let output = schedlab(&[&command[..], format].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let read = |ending: &str| fs::read(folder.join(format!("swept.switches.{ending}"))).expect("a chart");
    assert!(read("svg").starts_with(b"<svg") && read("png").starts_with(b"\x89PNG\r\n\x1a\n"));
    let said = error(&schedlab(&["reproduce", &file, "--plot-format", "png"]));
    assert!(said.contains("--plot <FOLDER>"), "{said}");
}

/// With one run of 50 ms, its timers told by quantiles on both sides.
const VALIDATED: &str = r#"
about = "A timer."
class = "mine"
cpus = 1
settings = "6.1.y machine=laptop cpus=1"

[[forward]]
name = "a timer"
loads = ["cyclictest -t1 -p80 -i1000"]
for = "50ms"
seeds = 2

[[forward.figure]]
what = "latency"
unit = "us"
measure = { result = { at = "/loads/0/threads/0/latency_ns/p50", times = 0.001 } }
at_most = 100

[[forward.distribution]]
what = "latency"
measure = { quantiles = [[0.5, "/loads/0/threads/0/latency_ns/p50"], [0.9, "/loads/0/threads/0/latency_ns/p90"]], unit_ns = 1 }
recorded = { files = ["it.json"], at = { quantiles = [[0.5, "/p50"], [0.9, "/p90"]], unit_ns = 1000 } }
"#;

/// What a picture shows is stored, so that it can be drawn again.
#[test]
fn recorded_distributions_are_drawn_with_the_simulated_ones_over_them() {
    let folder = path("validated");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("timer")).expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a temporary file");
    write("timer/reference.toml", VALIDATED);
    write("timer/it.json", r#"{"p50": 70, "p90": 500}"#);
    let stored = folder.join("stored.json");
    let [into, stored] = [&folder, &stored].map(|path| path.to_string_lossy());
    let commands: [&[&str]; 2] = [
        &["validate", &into, "--save", &stored, "--plot", &into],
        &["validate", "--stored", &stored, "--plot", &into, "--plot-format", "png"],
    ];
    for command in commands {
        let output = schedlab(command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let read =
        |ending: &str| fs::read(folder.join(format!("timer.a-timer.latency.{ending}"))).expect("a picture");
    let svg = String::from_utf8(read("svg")).expect("text");
    for text in ["timer, a timer: latency", "recorded, at most 500 µs", "simulated, 2 seeds, at most "] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(read("png").starts_with(b"\x89PNG\r\n\x1a\n"));
    write("timer/reference.toml", VALIDATED.split("[[forward.distribution]]").next().expect("a part"));
    let said = error(&schedlab(&["validate", &into, "--plot", &into]));
    assert!(said.contains("--plot: nothing that was run has a distribution"), "{said}");
    let said = error(&schedlab(&["validate", &into, "--plot", &stored]));
    assert!(said.contains("stored.json"), "{said}");
}
