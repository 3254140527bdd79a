//! The kernel's paths name no scheduling class: whatever is asked of one goes through `scheduler/class`.

use regex_lite::Regex;

use crate::source::{lines, without_tests};
use crate::tree::{Finding, Texts, expect_none, planted, texts};

const CORE: &str = "crates/scheduler/src/";

/// Parts of the scheduler that may: the classes, the functions that match on them, what is checked of each,
/// and the places where each keeps its state.
const MAY: [&str; 12] = [
    "check/",
    "class/",
    "dl/",
    "fair/",
    "kernel.rs",
    "lib.rs",
    "root_domain.rs",
    "rq.rs",
    "rt/",
    "task.rs",
    "testing.rs",
    "testing/",
];

fn named(sources: &Texts) -> Vec<Finding> {
    let class = Regex::new(r"\b(dl|rt|fair)::|\bClass::[A-Z][a-z]\w*").expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources {
        let Some(inner) = path.strip_prefix(CORE) else { continue };
        if MAY.iter().any(|may| inner.starts_with(may)) {
            continue;
        }
        for (index, line) in without_tests(lines(text)).iter().enumerate() {
            if let Some(found) = class.find(&line.code) {
                let what = format!("{}: only scheduler/class asks something of one class", found.as_str());
                findings.push(Finding { path: path.clone(), line: index + 1, what });
            }
        }
    }
    findings
}

#[test]
fn the_core_names_no_class() {
    let sources: Texts = texts(&["crates/scheduler/src"], &["rs"])
        .into_iter()
        .filter(|(path, _)| !path.contains("/tests/") && !path.ends_with("/tests.rs"))
        .collect();
    for core in ["schedule.rs", "wakeup.rs", "fork.rs", "tick.rs", "policy.rs", "affinity.rs", "mutex/mod.rs"]
    {
        assert!(sources.contains_key(&format!("{CORE}{core}")), "{core} is looked at");
    }
    for may in MAY {
        assert!(sources.keys().any(|path| path.starts_with(&format!("{CORE}{may}"))), "{may} is there");
    }
    expect_none(&named(&sources));
}

#[test]
fn a_class_that_is_named_is_found() {
    let found = |file: &str, code: &str| named(&planted(&[(&format!("{CORE}{file}"), code)])).len();
    for code in ["rt::push(rq);", "use crate::fair::lag;", "if class == Class::Rt {}"] {
        assert_eq!((found("schedule.rs", code), found("mutex/pi.rs", code)), (1, 1), "{code}");
        assert_eq!((found("class/queue.rs", code), found("rt/push.rs", code)), (0, 0), "{code}");
        assert_eq!(found("schedule.rs", &format!("// {code}")), 0, "a comment");
    }
    assert_eq!(found("schedule.rs", "for class in Class::ALL {} start::x(); rq.rt.next();"), 0);
}
