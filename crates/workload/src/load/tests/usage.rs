//! The registry, and what every load says alike.

use super::*;

#[test]
fn unknown_loads_and_options_name_the_nearest() {
    let cases = [
        ("", "empty load: give a command line such as 'cyclictest -t8 -p90'"),
        (
            "cyclitest -t8",
            "unknown load 'cyclitest'; did you mean 'cyclictest'?; `schedlab list loads` shows all",
        ),
        ("quicksilver", "unknown load 'quicksilver'; `schedlab list loads` shows all"),
        ("63", "unknown load '63'; `schedlab list loads` shows all"),
        (
            "cyclictest --prio-spread",
            "cyclictest: unknown option '--prio-spread'; did you mean '--priospread'?; `schedlab list loads --explain \
             cyclictest` shows its options",
        ),
        (
            "hackbench -x",
            "hackbench: unknown option '-x'; `schedlab list loads --explain hackbench` shows its options",
        ),
        ("hog 'a", "load `hog 'a`: a quote is not closed, or a backslash stands at the end"),
    ];
    for (command, expected) in cases {
        assert_eq!(refusal(command), expected, "{command}");
    }
}

#[test]
fn every_load_is_documented_with_all_its_options() {
    for entry in entries() {
        let options = entry.options();
        assert!(
            !options.is_empty() && entry.about.ends_with('.') && entry.ends.ends_with('.'),
            "{}",
            entry.name
        );
        for option in options {
            assert!(option.help.len() > 4, "{}: {} has no help", entry.name, option.usage);
        }
        assert!(parse(entry.name).is_ok(), "{} runs without options", entry.name);
    }
}

#[test]
fn options_are_shown_as_in_the_manuals() {
    let usages =
        |name: &str| -> Vec<String> { find(name).unwrap().options().into_iter().map(|o| o.usage).collect() };
    let cyclictest = usages("cyclictest");
    for usage in ["-t, --threads [NUM]", "-p, --priority PRIO", "-S, --smp", "--cycle-cost TIME"] {
        assert!(cyclictest.iter().any(|u| u == usage), "{usage}: {cyclictest:?}");
    }
    assert_eq!(usages("make")[..2], ["-j, --jobs N", "[OBJECTS]"]);
}

#[test]
fn a_load_can_be_built_again_and_again() {
    let load = parse("cyclictest -t2").unwrap();
    let mut setup = Setup::new(2);
    let pids: Vec<_> = (0..2)
        .flat_map(|_| match load.build(&mut setup).unwrap().result("") {
            LoadResult::Cyclictest(result) => result.threads.into_iter().map(|t| t.pid).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pids, [1000, 1001, 1002, 1003]);
}
