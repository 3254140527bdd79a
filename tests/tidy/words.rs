//! Words that must not stand in the repository, each with the reason.

use regex_lite::Regex;

use crate::tree::{Finding, Texts, expect_none, planted, texts};

/// A word that must not stand in a file.
struct Banned {
    pattern: &'static str,
    /// Why, and what to write.
    reason: &'static str,
}

/// A name that has given way to another.
struct Renamed {
    old: &'static str,
    now: &'static str,
}

const fn renamed(old: &'static str, now: &'static str) -> Renamed {
    Renamed { old, now }
}

const BANNED: [Banned; 8] = [
    Banned {
        pattern: r"\b(TODO|FIXME|XXX|HACK)\b",
        reason: "what is missing is an issue, or a row of docs/limits.md",
    },
    Banned { pattern: r"\b(todo|unimplemented|dbg)!", reason: "what is there works, and prints nothing" },
    Banned {
        pattern: r"\b(kernel-audit|truth|design) [0-9]|\bdesign: ",
        reason: "a document outside the repository: name a section of docs/spec",
    },
    Banned { pattern: r"(^|[^\w.-])/(work|home|root|Users)/[a-z]", reason: "a path of one machine" },
    Banned {
        pattern: r"\b(seeds?|data|shared|spec)/[0-9a-z_-]*\.(txt|py)\b|\bshared/(data|spec|seeds|review)\b",
        reason: "a path outside the repository: say in words where it is",
    },
    Banned {
        pattern: r"\b[Ww]hite-?list|\b[Bb]lack-?list|\b[Ss]anity.check",
        reason: "write what is allowed, refused or checked",
    },
    Banned {
        pattern: r"\bstrsim::|\bedit_distance\b",
        reason: "there is one \"did you mean\": suggest::suggest",
    },
    Banned {
        pattern: concat!(
            r"\b(equal_prio_check|floor_order|next_set|overlap_check|pick_mode|sched_idle|wake_placement)=v",
            r"(6|2008|3[1-9]|49|61)\b|\bfork_path=(early33|late32)\b|\w::V[0-9]+\b"
        ),
        reason: "a rule's value says what it does, not when it came",
    },
];

/// Names that once stood for what kernel/sched has a name of its own for, or that had two meanings.
const RENAMED: [Renamed; 29] = [
    renamed("rt::lowers", "need_pull_rt_task"),
    renamed("others_overloaded", "rt_overloaded"),
    renamed("take_from_others", "pre_schedule"),
    renamed("woken_cannot_run", "task_woken"),
    renamed("wants_post_schedule", "post_schedule"),
    renamed("relocks_to_push", "post_schedule"),
    renamed("wake_while_queued", "ttwu_runnable"),
    renamed("should_queue", "ttwu_queue_cond"),
    renamed("queue_remote_wakeup", "ttwu_queue_wakelist"),
    renamed("count_wakeup", "ttwu_stat"),
    renamed("idle_ends", "update_avg_idle"),
    renamed("stint_ends", "averages::on_put"),
    renamed("wakes_another", "averages::on_wake_other"),
    renamed("goes_to_sleep", "averages::on_sleep"),
    renamed("fn conclude", "check_class_changed"),
    renamed("fallback_cpu", "select_fallback_rq"),
    renamed("ask_stopper", "stop_one_cpu_nowait"),
    renamed("requeue_waiter", "rt_mutex_adjust_prio_chain"),
    renamed("task_changes_cpu", "migrate_task_rq"),
    renamed("becomes_idle", "init_idle"),
    renamed("balance_idle_cpus", "nohz_idle_balance"),
    renamed("leaver", "prev"),
    renamed("comer", "next"),
    renamed("fn bury", "task_exits"),
    renamed("be_watched_by", "set_watch"),
    renamed("enum Once", "OneShot"),
    renamed("enum Whom", "TaskSelector"),
    renamed("enum Recorded", "ReplayStep"),
    renamed("record::Recorder", "latency::LatencyRecorder"),
];

/// Where a banned word may stand.
const EXCEPTIONS: [&str; 3] = [
    // The words themselves.
    "tests/tidy/words.rs",
    "crates/suggest/src/lib.rs",
    "crates/scheduler/src/registry/aliases.rs",
];

fn spoken(files: &Texts) -> Vec<Finding> {
    let regex = |word: &Banned| (Regex::new(word.pattern).expect("a pattern"), word.reason);
    let banned = BANNED.each_ref().map(regex);
    let mut findings = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !EXCEPTIONS.contains(&path.as_str())) {
        for (index, line) in text.lines().enumerate() {
            for (pattern, reason) in &banned {
                if let Some(found) = pattern.find(line) {
                    let what = format!("{:?}: {reason}", found.as_str());
                    findings.push(Finding { path: path.clone(), line: index + 1, what });
                }
            }
        }
        for Renamed { old, now } in &RENAMED {
            for at in whole_words(text, old) {
                let line = text[..at].matches('\n').count() + 1;
                findings.push(Finding { path: path.clone(), line, what: format!("{old:?}: say {now}") });
            }
        }
    }
    findings
}

/// Where `word` stands and is not a part of a longer one. (A name is no pattern: finding thirty of them as
/// patterns took most of the time of all these checks.)
fn whole_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !goes_on(text[..*at].chars().next_back()) && !goes_on(text[at + word.len()..].chars().next())
    })
}

#[test]
fn no_banned_word_stands_anywhere() {
    let roots =
        ["crates", "tests", "machines", "experiments", "demo", "fuzz", "validation", "docs", "python"];
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "Cargo.toml"];
    let mut files = texts(&roots, &["rs", "toml", "md", "py", "trycmd"]);
    files.extend(pages.map(|page| (page.to_owned(), crate::tree::text(page))));
    expect_none(&spoken(&files));
    for exception in EXCEPTIONS {
        assert!(files.contains_key(exception), "{exception} is not there");
    }
}

#[test]
fn a_banned_word_is_found() {
    for (line, expected) in [
        ("// TODO: later", 1),
        ("todo!()", 1),
        ("source: \"kernel-audit 6\"", 1),
        ("see /Users/me/x", 1),
        ("\"/home/somebody\"", 1),
        ("data in shared/data/native", 1),
        ("strsim::jaro_winkler(a, b)", 1),
        ("a blacklist", 1),
        ("--set floor_order=v49", 1),
        ("FloorOrder::V49 => {}", 1),
        ("if rt::lowers(&rq, prev, prio) {", 1),
        ("fn count_wakeup<P: Platform>(me: ThisCpu<'_, P>) {", 1),
        ("the truth of it, a todo list, usr/home/x, workload/spec, https://x.org/work/x, it lowers", 0),
    ] {
        assert_eq!(spoken(&planted(&[("a.rs", line)])).len(), expected, "{line}");
    }
}
