//! What a page says of one run.

use super::{Cell, Content, Table, Text, Unit, duration};
use crate::text::{head, load_of, replay_words, tasks};
use schema::{
    CpuIdle, CpuResult, Figure, IdleResult, IdleStateUse, RqLockStats, RunResult, TaskResult, Totals, Window,
};

impl Content {
    /// Of a run. `meaning` says what a reason of the scheduler means.
    #[must_use]
    pub fn of_run<'m>(run: &RunResult, meaning: impl Fn(&str) -> &'m str) -> Content {
        let names: Vec<&str> = run.loads.iter().map(|load| load.load()).collect();
        let mut content = Content {
            title: names.join(" + "),
            version: run.engine.version.clone(),
            command: run.command.clone(),
            warnings: run.warnings.clone(),
            notes: run.notes.clone(),
            ..Content::default()
        };
        facts(&mut content, run);
        figures(&mut content, run);
        for load in &run.loads {
            let text = load_of(load, &run.replay);
            let (title, text) = text.split_once('\n').unwrap_or((load.load(), &text));
            content.texts.push(Text { title: title.to_owned(), text: text.to_owned() });
        }
        for fidelity in &run.replay {
            let (title, text) = replay_words(fidelity, run.window);
            content.texts.push(Text { title, text });
        }
        content.table(task_table(&run.tasks));
        content.table(group_table(run));
        content.table(cpu_table(&run.cpus));
        content.tables.extend(run.idle.as_ref().map(idle_table));
        content.table(counters(&run.totals, length_ns(run)));
        content.table(decisions(run, meaning));
        for dump in &run.dumps {
            content.texts.push(Text { title: dump.file.clone(), text: dump.text.clone() });
        }
        content
    }
}

fn length_ns(run: &RunResult) -> u64 {
    run.window.map_or(run.engine.simulated_ns, Window::length_ns)
}

fn facts(content: &mut Content, run: &RunResult) {
    content.fact("machine", head::machine(&run.machine));
    content.fact("kernel", head::kernel(&run.kernel));
    for load in &run.loads {
        content.fact("load", load.load());
    }
    content.fact("simulated", duration(run.engine.simulated_ns as f64));
    content.fact("events", run.engine.events.to_string());
    content.fact("seed", run.engine.seed.to_string());
    if let Some(window) = run.window {
        content.fact("window", head::stretch(window));
    }
}

/// What one looks at first.
fn figures(content: &mut Content, run: &RunResult) {
    let length = length_ns(run) as f64;
    let worst = run.tasks.iter().max_by_key(|task| task.wakeup_latency_ns.max);
    if let Some(task) = worst.filter(|task| task.wakeup_latency_ns.count > 0) {
        let latency = task.wakeup_latency_ns.max as f64;
        content.figure(format!("worst wakeup, of {}", task.comm), latency, Unit::Ns);
    }
    let wait: u64 = run.tasks.iter().map(|task| task.wait_sum_ns).sum();
    content.figure("waiting for a CPU, all tasks", wait as f64, Unit::Ns);
    let idle: u64 = run.cpus.iter().map(|cpu| cpu.idle_ns).sum();
    let all = length * run.cpus.len() as f64;
    if all > 0.0 {
        content.figure("CPUs busy", (1.0 - idle as f64 / all).max(0.0), Unit::Share);
        let switches = run.totals.context_switches as f64 * 1e9 / length;
        content.figure("switches a second", switches, Unit::Count);
    }
    content.figure("migrations", run.totals.migrations as f64, Unit::Count);
    let waits: u64 = run.cpus.iter().map(|cpu| cpu.rq_lock.wait_sum_ns).sum();
    content.figure("waiting for run-queue locks", waits as f64, Unit::Ns);
}

fn task_table(list: &[TaskResult]) -> Table {
    use Unit::{Count, Id, Ns, Text};
    let mut table = Table::new(
        "Tasks",
        &[
            ("pid", Id),
            ("task", Text),
            ("class", Text),
            ("CPU time", Ns),
            ("waited", Ns),
            ("voluntary switches", Count),
            ("involuntary switches", Count),
            ("migrations", Count),
            ("wakeups", Count),
            ("latency median", Ns),
            ("p99", Ns),
            ("max", Ns),
            ("exit", Ns),
        ],
    );
    table.note = Some("Latency: from a wakeup until the task runs.".to_owned());
    table.rows = list
        .iter()
        .map(|task| {
            let latency = &task.wakeup_latency_ns;
            vec![
                Cell::count(task.pid.into()),
                Cell::text(&task.comm),
                Cell::text(tasks::class(task)),
                Cell::count(task.sum_exec_runtime_ns),
                Cell::count(task.wait_sum_ns),
                Cell::count(task.nr_voluntary_switches),
                Cell::count(task.nr_involuntary_switches),
                Cell::count(task.nr_migrations),
                Cell::count(latency.count),
                Cell::count(latency.p50),
                Cell::count(latency.p99),
                Cell::count(latency.max),
                Cell::maybe(task.exited_ns.map(|at| at as f64)),
            ]
        })
        .collect();
    table
}

fn group_table(run: &RunResult) -> Table {
    use Unit::{Count, Ns, Share, Text};
    let mut table = Table::new(
        "Task groups",
        &[
            ("group", Text),
            ("weight", Count),
            ("quota", Ns),
            ("period", Ns),
            ("CPU time", Ns),
            ("share", Share),
            ("periods", Count),
            ("throttled periods", Count),
            ("throttled", Ns),
        ],
    );
    table.note = Some("As in cpu.stat of a cgroup; throttled time is summed over CPUs.".to_owned());
    table.rows = run
        .groups
        .iter()
        .map(|group| {
            let limit = |of: fn(&schema::GroupLimit) -> u64| {
                Cell::maybe(group.max.as_ref().map(|limit| of(limit) as f64))
            };
            vec![
                Cell::text(&group.name),
                Cell::maybe(group.weight.map(|weight| weight as f64)),
                limit(|limit| limit.quota_ns),
                limit(|limit| limit.period_ns),
                Cell::count(group.stat.usage_ns),
                Cell::Number(group.stat.share_permille as f64 / 1_000.0),
                Cell::count(group.stat.nr_periods),
                Cell::count(group.stat.nr_throttled),
                Cell::count(group.stat.throttled_ns),
            ]
        })
        .collect();
    table
}

/// A column for each figure of a CPU and of its lock, under the names that comparisons give them.
fn cpu_table(cpus: &[CpuResult]) -> Table {
    let mut columns = vec![("CPU", Unit::Id), ("switches", Unit::Count)];
    columns.extend(CpuResult::FIGURES.iter().map(|figure| (figure.label, unit(figure))));
    columns.extend(RqLockStats::FIGURES.iter().map(|figure| (figure.label, unit(figure))));
    let mut table = Table::new("CPUs and the locks of their run queues", &columns);
    table.rows = cpus
        .iter()
        .map(|cpu| {
            let mut row = vec![Cell::count(cpu.cpu.into()), Cell::count(cpu.nr_switches)];
            row.extend(CpuResult::FIGURES.iter().map(|figure| Cell::count((figure.of)(cpu))));
            row.extend(RqLockStats::FIGURES.iter().map(|figure| Cell::count((figure.of)(&cpu.rq_lock))));
            row
        })
        .collect();
    table
}

/// All CPUs together, then each of them.
fn idle_table(idle: &IdleResult) -> Table {
    use Unit::{Count, Ns, Text};
    let columns = [
        ("CPU", Text),
        ("idle state", Text),
        ("entered", Count),
        ("time", Ns),
        ("too deep", Count),
        ("too shallow", Count),
    ];
    let mut table = Table::new("Idle states", &columns);
    table.note = Some(format!(
        "Chosen by the governor {}. Too deep: left so soon that a shallower state would have been better.",
        idle.governor
    ));
    let row = |cpu: &str, used: &IdleStateUse| {
        vec![
            Cell::text(cpu),
            Cell::text(&used.state),
            Cell::count(used.usage),
            Cell::count(used.time_ns),
            Cell::count(used.above),
            Cell::count(used.below),
        ]
    };
    table.rows = idle.all_cpus().iter().map(|used| row("all", used)).collect();
    for CpuIdle { cpu, states } in &idle.cpus {
        table.rows.extend(states.iter().map(|used| row(&cpu.to_string(), used)));
    }
    table
}

fn unit<T>(figure: &Figure<T>) -> Unit {
    match figure.unit() {
        schema::Unit::Count => Unit::Count,
        schema::Unit::Nanoseconds => Unit::Ns,
    }
}

/// Those in the order of the text's table, then the others that are not 0.
fn counters(totals: &Totals, length_ns: u64) -> Table {
    let columns = [("counter", Unit::Text), ("total", Unit::Count), ("a second", Unit::Count)];
    let mut table = Table::new("Counters of the machine", &columns);
    let counts = |figure: &&Figure<Totals>| unit(figure) == Unit::Count;
    let mut figures: Vec<&Figure<Totals>> = Totals::FIGURES.iter().filter(counts).collect();
    figures.sort_by_key(|figure| figure.row.map_or(u8::MAX, |row| row.place));
    let shown =
        |figure: &&Figure<Totals>| (figure.of)(totals) > 0 || figure.row.is_some_and(|row| !row.if_any);
    for figure in figures.into_iter().filter(shown) {
        let number = (figure.of)(totals);
        let rate = (length_ns > 0).then(|| number as f64 * 1e9 / length_ns as f64);
        table.rows.push(vec![Cell::text(figure.label), Cell::count(number), Cell::maybe(rate)]);
    }
    table
}

fn decisions<'m>(run: &RunResult, meaning: impl Fn(&str) -> &'m str) -> Table {
    let columns = [("decision", Unit::Text), ("times", Unit::Count), ("what it means", Unit::Text)];
    let mut table = Table::new("What the scheduler decided", &columns);
    let mut sorted: Vec<(&String, &u64)> = run.decisions.iter().collect();
    sorted.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    table.rows = sorted
        .into_iter()
        .map(|(reason, times)| vec![Cell::text(reason), Cell::count(*times), Cell::text(meaning(reason))])
        .collect();
    table
}
