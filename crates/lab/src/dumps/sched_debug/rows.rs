//! The table of a CPU's tasks.

use crate::dumps::format::Msecs;
use crate::dumps::{Release, Show};
use machine::{CpuSnapshot, TaskSnapshot};
use scheduler::{TaskState, fair};
use std::fmt::Write;

/// With the two columns of seed 003.
const OF_2_6: &str = "            task   PID         tree-key  switches  prio     exec-runtime         \
                      sum-exec        sum-sleep nice-pen nice-pen-timeout";
const OF_3: &str = "            task   PID         tree-key  switches  prio     \
                    exec-runtime         sum-exec        sum-sleep";
const WITH_WAITING: &str = "            task   PID         tree-key  switches  prio     \
                            wait-time             sum-exec        sum-sleep";
const WITH_STATE: &str = " S           task   PID         tree-key  switches  prio     \
                          wait-time             sum-exec        sum-sleep";
const STATE_APART: &str = " S            task   PID         tree-key  switches  prio     \
                          wait-time             sum-exec        sum-sleep";
const OF_EEVDF: &str = " S            task   PID       vruntime   eligible    deadline             \
                        slice          sum-exec      switches  prio         wait-time        \
                        sum-sleep       sum-block";

pub(super) fn write(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let (heading, rule) = match show.release {
        release if release < Release::CLOCKS => (OF_2_6, 126),
        release if release < Release::WAIT_TIME => (OF_3, 106),
        release if release < Release::TASK_STATES => (WITH_WAITING, 106),
        release if release < Release::STATES_APART => (WITH_STATE, 107),
        release if release < Release::TIDY_ROWS => (STATE_APART, 109),
        _ => (OF_EEVDF, 163),
    };
    let path = if show.groups.is_empty() || show.release < Release::TIDY_ROWS { "" } else { "  group-path" };
    let _infallible = writeln!(out, "\nrunnable tasks:\n{heading}{path}\n{:-<rule$}", "");
    let listed = |task: &&TaskSnapshot| {
        task.cpu == cpu.cpu && (task.on_rq || show.since(Release::ALL_TASKS) && task.state != TaskState::New)
    };
    for task in show.snapshot.tasks.iter().filter(listed) {
        Row { show, cpu, task: &show.as_counted(task) }.write(out);
    }
}

struct Row<'a> {
    show: &'a Show<'a>,
    cpu: &'a CpuSnapshot,
    task: &'a TaskSnapshot,
}

impl Row<'_> {
    fn write(&self, out: &mut String) {
        let row = match self.show.release {
            release if release < Release::CLOCKS => self.of_2_6(),
            release if release < Release::TASK_STATES => self.of_3(),
            release if release < Release::EEVDF => self.with_state(),
            release if release < Release::TIDY_ROWS => self.of_6_6(),
            _ => self.of_6_12(),
        };
        let apart = if self.show.since(Release::TIDY_ROWS) { "        " } else { " " };
        let path = self.show.path(self.task.group).filter(|_| self.show.since(Release::CLOCKS));
        let path = path.map_or(String::new(), |path| format!("{apart}{path}"));
        let _infallible = writeln!(out, "{row}{path}");
    }

    fn switches(&self) -> u64 {
        let stats = &self.task.stats;
        stats.nr_voluntary_switches.get() + stats.nr_involuntary_switches.get()
    }

    fn pid(&self) -> u32 {
        self.show.pid(self.task.pid)
    }

    /// Who runs, where that is all that is told.
    fn runs(&self) -> &'static str {
        if self.task.running { "R" } else { " " }
    }

    /// Who runs, and what each task does.
    fn state(&self) -> &'static str {
        match self.task.state {
            _ if self.task.running => ">R",
            TaskState::Interruptible => " S",
            TaskState::Uninterruptible => " D",
            TaskState::Dead => " X",
            TaskState::Free | TaskState::New | TaskState::Running | TaskState::Waking => " R",
        }
    }

    /// Time waited, executed and slept.
    fn times(&self) -> [Msecs; 4] {
        let stats = &self.task.stats;
        [&stats.wait_sum, &stats.sum_exec_runtime, &stats.sum_sleep_runtime, &stats.sum_block_runtime]
            .map(|time| Msecs::from(time.get()))
    }

    fn of_2_6(&self) -> String {
        let (task, vruntime) = (self.task, Msecs::of_vruntime(self.task.vruntime));
        let [_, executed, slept, _] = self.times();
        format!(
            "{}{:>15} {:>5} {vruntime:9} {:>9} {:>5} {vruntime:9} {executed:9} {slept:9} {} {:9}",
            self.runs(),
            task.comm,
            self.pid(),
            self.switches(),
            task.prio.0,
            task.penalty,
            Msecs::from(task.pen_timeout),
        )
    }

    fn of_3(&self) -> String {
        let (task, vruntime) = (self.task, Msecs::of_vruntime(self.task.vruntime));
        let [waited, executed, slept, _] = self.times();
        let first = if self.show.since(Release::WAIT_TIME) { waited } else { vruntime };
        format!(
            "{}{:>15} {:>5} {vruntime:9} {:>9} {:>5} {first:9} {executed:9} {slept:9}",
            self.runs(),
            task.comm,
            self.pid(),
            self.switches(),
            task.prio.0,
        )
    }

    fn with_state(&self) -> String {
        let (task, vruntime) = (self.task, Msecs::of_vruntime(self.task.vruntime));
        let [waited, executed, slept, blocked] = self.times();
        let apart = if self.show.since(Release::STATES_APART) { " " } else { "" };
        let mut row = format!(
            "{}{apart}{:>15} {:>5} {vruntime:9} {:>9} {:>5} {waited:9} {executed:9} {slept:9}",
            self.state(),
            task.comm,
            self.pid(),
            self.switches(),
            task.prio.0,
        );
        if self.show.since(Release::ALL_CLASSES) {
            let _infallible = write!(row, " {blocked:9}");
        }
        row
    }

    fn eligible(&self) -> char {
        let avg_vruntime = self.cpu.fair.eevdf.avg_vruntime;
        if fair::lag(self.task.vruntime, avg_vruntime) <= 0 { 'E' } else { 'N' }
    }

    /// Under the headings of the row before, and as narrow.
    fn of_6_6(&self) -> String {
        let task = self.task;
        let [waited, executed, slept, blocked] = self.times();
        format!(
            "{}{:>15} {:>5} {:9} {} {:9} {:9} {executed:9} {:>9} {:>5} {waited:9} {executed:9} {slept:9} \
             {blocked:9}",
            self.state(),
            task.comm,
            self.pid(),
            Msecs::of_vruntime(task.vruntime),
            self.eligible(),
            Msecs::of_vruntime(task.deadline),
            Msecs::from(task.slice),
            self.switches(),
            task.prio.0,
        )
    }

    fn of_6_12(&self) -> String {
        let task = self.task;
        let [waited, executed, slept, blocked] = self.times();
        format!(
            "{} {:>15} {:>5} {:9}   {}   {:9} {} {:9} {executed:9} {:>9}   {:>5} {waited:9} {slept:9} \
             {blocked:9}",
            self.state(),
            task.comm,
            self.pid(),
            Msecs::of_vruntime(task.vruntime),
            self.eligible(),
            Msecs::of_vruntime(task.deadline),
            if task.custom_slice { 'S' } else { ' ' },
            Msecs::from(task.slice),
            self.switches(),
            task.prio.0,
        )
    }
}
