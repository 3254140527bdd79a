//! Writes Chrome's JSON ("Trace Event Format"), which chrome://tracing, Perfetto's UI, Speedscope and many
//! scripts read.
//!
//! The format knows processes and threads and nothing of a scheduler, so three processes stand for what there
//! is to see: the CPUs with who runs there, the tasks with their states, and the annotations.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::annotations::{Annotations, Detail, TrackKind};
use crate::model::{Cpu, Event, EventKind, Pid, SchedSwitch, Trace};

/// The process whose threads are the CPUs.
const CPUS: u32 = 1;
/// The process whose threads are the tasks, by their ids.
const TASKS: u32 = 2;
/// The process whose threads are the named tracks of annotations.
const NOTES: u32 = 3;

/// Writes a whole trace and what there is to say about it as JSON.
///
/// CPUs show who runs, tasks when they run and when they wait for a CPU; arrows lead from a waker to where
/// the woken task runs, unless an interrupt on an idle CPU woke it. Markers and changes of priority are
/// instants of the tasks.
///
/// # Errors
/// Those of `out`.
pub fn write_chrome_json(trace: &Trace, annotations: &Annotations, out: impl Write) -> io::Result<()> {
    let mut writer = Writer {
        trace,
        out,
        first: true,
        flows: 0,
        cpus: vec![None; trace.cpus as usize],
        tasks: BTreeMap::new(),
    };
    writer.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    writer.names(annotations)?;
    for event in &trace.events {
        writer.take(event)?;
    }
    writer.end()?;
    writer.annotations(annotations)?;
    writer.out.write_all(b"\n]}\n")?;
    writer.out.flush()
}

/// What a task that does not run is up to.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// Since when it is runnable.
    runnable_ns: Option<u64>,
    /// The arrow from its waker.
    flow: Option<u64>,
}

struct Writer<'a, W> {
    trace: &'a Trace,
    out: W,
    first: bool,
    /// Arrows so far.
    flows: u64,
    /// Who runs, idle tasks included.
    cpus: Vec<Option<Pid>>,
    tasks: BTreeMap<Pid, Waiting>,
}

impl<W: Write> Writer<'_, W> {
    fn take(&mut self, event: &Event) -> io::Result<()> {
        let (now, strings) = (event.time_ns, &self.trace.strings);
        match &event.kind {
            EventKind::SchedSwitch(switch) => self.switch(event.cpu, now, switch),
            EventKind::SchedWaking(wakeup) => {
                let busy = self.cpus[event.cpu.index()].is_some_and(|pid| pid != Pid::IDLE);
                if !busy {
                    return Ok(());
                }
                self.flows += 1;
                self.tasks.entry(wakeup.task.pid).or_default().flow = Some(self.flows);
                let arrow = json!({"ph": "s", "cat": "wakeup", "name": "wakeup", "id": self.flows});
                self.put(CPUS, event.cpu.0.into(), now, arrow)
            }
            EventKind::SchedWakeup(wakeup) | EventKind::SchedWakeupNew(wakeup) => {
                self.tasks.entry(wakeup.task.pid).or_default().runnable_ns.get_or_insert(now);
                Ok(())
            }
            EventKind::Marker(text) => self.instant(event.pid, now, &strings[*text], json!({})),
            EventKind::SchedPiSetprio(p) => self.instant(
                p.pid,
                now,
                "sched_pi_setprio",
                json!({"oldprio": p.oldprio, "newprio": p.newprio}),
            ),
            EventKind::SchedMigrateTask(m) => {
                let cpus = json!({"orig_cpu": m.orig_cpu.0, "dest_cpu": m.dest_cpu.0});
                self.instant(m.task.pid, now, "sched_migrate_task", cpus)
            }
            EventKind::SchedProcessFork(_)
            | EventKind::SchedProcessExec(_)
            | EventKind::SchedProcessExit(_)
            | EventKind::SchedStatRuntime(_)
            | EventKind::Activity(_) => Ok(()),
        }
    }

    fn switch(&mut self, cpu: Cpu, now: u64, switch: &SchedSwitch) -> io::Result<()> {
        self.leave(cpu, now, switch.prev_state.letters())?;
        if switch.prev_state.is_runnable() {
            self.tasks.entry(switch.prev.pid).or_default().runnable_ns = Some(now);
        }
        let (pid, comm, prio) = (switch.next.pid, switch.next.comm, switch.next.prio);
        let waited = self.tasks.remove(&pid).unwrap_or_default();
        self.cpus[cpu.index()] = Some(pid);
        if pid == Pid::IDLE {
            return Ok(());
        }
        if let Some(since_ns) = waited.runnable_ns {
            self.slice(TASKS, tid(pid), since_ns, now, "Runnable", json!({}))?;
        }
        let comm = &self.trace.strings[comm];
        self.begin(CPUS, cpu.0.into(), now, comm, json!({"pid": pid.0, "prio": prio}))?;
        self.begin(TASKS, tid(pid), now, "Running", json!({"cpu": cpu.0}))?;
        // An arrow ends in what has begun.
        match waited.flow {
            Some(id) => {
                let arrow = json!({"ph": "f", "bp": "e", "cat": "wakeup", "name": "wakeup", "id": id});
                self.put(CPUS, cpu.0.into(), now, arrow)
            }
            None => Ok(()),
        }
    }

    /// Whoever runs on the CPU leaves it.
    fn leave(&mut self, cpu: Cpu, now: u64, state: &str) -> io::Result<()> {
        let Some(pid) = self.cpus[cpu.index()].take().filter(|pid| *pid != Pid::IDLE) else { return Ok(()) };
        self.finish(CPUS, cpu.0.into(), now, json!({"left": state}))?;
        self.finish(TASKS, tid(pid), now, json!({}))
    }

    /// The trace is over.
    fn end(&mut self) -> io::Result<()> {
        let end_ns = self.trace.end_ns();
        for cpu in 0..self.trace.cpus {
            self.leave(Cpu(cpu), end_ns, "end of the trace")?;
        }
        for (pid, waiting) in std::mem::take(&mut self.tasks) {
            if let Some(since_ns) = waiting.runnable_ns.filter(|_| pid != Pid::IDLE) {
                self.slice(TASKS, tid(pid), since_ns, end_ns, "Runnable", json!({}))?;
            }
        }
        Ok(())
    }

    fn names(&mut self, annotations: &Annotations) -> io::Result<()> {
        for (process, name) in [(CPUS, "CPUs"), (TASKS, "tasks"), (NOTES, "schedlab")] {
            self.name(process, 0, "process_name", name)?;
        }
        for cpu in 0..self.trace.cpus {
            self.name(CPUS, cpu.into(), "thread_name", &format!("CPU {cpu}"))?;
        }
        for (pid, thread) in &self.trace.threads {
            let name = format!("{} {pid}", &self.trace.strings[thread.comm]);
            self.name(TASKS, tid(*pid), "thread_name", &name)?;
        }
        for (n, track) in annotations.tracks.iter().enumerate() {
            if track.kind == TrackKind::Named {
                self.name(NOTES, n as i64, "thread_name", &track.name)?;
            }
        }
        Ok(())
    }

    fn annotations(&mut self, annotations: &Annotations) -> io::Result<()> {
        let place = |track: usize| match &annotations.tracks[track].kind {
            TrackKind::Task(pid) => (TASKS, tid(*pid)),
            TrackKind::Named | TrackKind::Counter { .. } => (NOTES, track as i64),
        };
        for slice in &annotations.slices {
            let (process, thread) = place(slice.track);
            let (name, args) =
                (&annotations.strings[slice.name], details(annotations.details(slice.details)));
            self.slice(process, thread, slice.start_ns, slice.end_ns, name, args)?;
        }
        for instant in &annotations.instants {
            let (process, thread) = place(instant.track);
            let name = &annotations.strings[instant.name];
            let args = details(annotations.details(instant.details));
            let what = json!({"ph": "i", "s": "t", "name": name, "args": args});
            self.put(process, thread, instant.at_ns, what)?;
        }
        for value in &annotations.values {
            let track = &annotations.tracks[value.track];
            let TrackKind::Counter { unit } = &track.kind else { continue };
            let what = json!({"ph": "C", "name": track.name, "args": {unit.as_str(): value.value}});
            self.put(NOTES, 0, value.at_ns, what)?;
        }
        Ok(())
    }

    fn name(&mut self, process: u32, thread: i64, what: &str, name: &str) -> io::Result<()> {
        self.put(process, thread, 0, json!({"ph": "M", "name": what, "args": {"name": name}}))
    }

    fn instant(&mut self, task: Pid, at_ns: u64, name: &str, args: Value) -> io::Result<()> {
        self.put(TASKS, tid(task), at_ns, json!({"ph": "i", "s": "t", "name": name, "args": args}))
    }

    fn slice(
        &mut self,
        process: u32,
        thread: i64,
        start_ns: u64,
        end_ns: u64,
        name: &str,
        args: Value,
    ) -> io::Result<()> {
        self.begin(process, thread, start_ns, name, args)?;
        self.finish(process, thread, end_ns.max(start_ns), json!({}))
    }

    // Begins and ends apart: readers count in floating point, and a beginning and a length may then add up to
    // more than the beginning of what follows.

    fn begin(&mut self, process: u32, thread: i64, at_ns: u64, name: &str, args: Value) -> io::Result<()> {
        self.put(process, thread, at_ns, json!({"ph": "B", "name": name, "args": args}))
    }

    fn finish(&mut self, process: u32, thread: i64, at_ns: u64, args: Value) -> io::Result<()> {
        self.put(process, thread, at_ns, json!({"ph": "E", "args": args}))
    }

    /// Writes an event at its place and time.
    fn put(&mut self, process: u32, thread: i64, at_ns: u64, mut event: Value) -> io::Result<()> {
        event["pid"] = process.into();
        event["tid"] = thread.into();
        event["ts"] = micros(at_ns);
        self.out.write_all(if std::mem::take(&mut self.first) { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.out, &event).map_err(io::Error::from)
    }
}

fn tid(pid: Pid) -> i64 {
    pid.0.into()
}

/// The format counts microseconds, with decimals.
fn micros(ns: u64) -> Value {
    if ns.is_multiple_of(1000) { (ns / 1000).into() } else { (ns as f64 / 1000.0).into() }
}

fn details<'d>(details: impl Iterator<Item = Detail<&'d str>>) -> Value {
    let pairs = details.map(|detail| (detail.name.to_owned(), Value::from(detail.value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn who_runs_who_waits_and_who_woke_whom() {
        let text = "\
            a-7 [000] d... 0.000001: sched_switch: prev_comm=x prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=a \"q\" next_pid=7 next_prio=120\n\
            a-7 [000] d... 0.000002: sched_waking: comm=b pid=8 prio=97 target_cpu=000\n\
            a-7 [000] d... 0.000003: sched_wakeup: comm=b pid=8 prio=97 target_cpu=000\n\
            a-7 [000] d... 0.000003: tracing_mark_write: hello\n\
            a-7 [000] d... 0.000004500: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=8 next_prio=97\n\
            b-8 [000] d... 0.000009: sched_switch: prev_comm=b prev_pid=8 prev_prio=97 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
        let trace = read(text.as_bytes()).expect("a trace");
        let mut annotations = Annotations::new();
        annotations.run_queue_depth(&trace, None);
        let mut out = Vec::new();
        write_chrome_json(&trace, &annotations, &mut out).expect("memory takes everything");
        let file: Value = serde_json::from_slice(&out).expect("JSON");
        let events = file["traceEvents"].as_array().expect("events");
        let of = |phase: &str| -> Vec<String> {
            let chosen = events.iter().filter(|event| event["ph"] == phase);
            chosen.map(|e| format!("{}/{} {} {}", e["pid"], e["tid"], e["ts"], e["name"])).collect()
        };
        let begun = [
            "1/0 1 \"a \\\"q\\\"\"",
            "2/7 1 \"Running\"",
            "2/8 3 \"Runnable\"",
            "1/0 4.5 \"b\"",
            "2/8 4.5 \"Running\"",
            "2/7 4.5 \"Runnable\"",
        ];
        assert_eq!(of("B"), begun);
        assert_eq!(
            of("E"),
            ["1/0 4.5 null", "2/7 4.5 null", "2/8 4.5 null", "1/0 9 null", "2/8 9 null", "2/7 9 null"]
        );
        assert_eq!(of("s"), ["1/0 2 \"wakeup\""]);
        assert_eq!(of("f"), ["1/0 4.5 \"wakeup\""]);
        assert_eq!(of("i"), ["2/7 3 \"hello\""]);
        assert!(of("C").contains(&"3/0 3 \"nr_running CPU 0\"".to_owned()));
    }
}
