//! The largest values that options take. With overflow checks, as here, a sum or product that does not fit is
//! a panic.

use super::*;
use machine::{Machine, MachineSpec, RunOptions};
use scheduler::registry::Config;

/// From beyond what can be counted down to what every option of that kind takes.
const TIMES: [&str; 8] = ["18446744073709551615", "213503d", "3650d", "10d", "1h", "1s", "100ms", "1"];
const SIZES: [&str; 6] = ["18446744073709551615", "9223372036854775807", "1024G", "1G", "1M", "100"];

fn run(command: &str) {
    let spec = MachineSpec::builtin("laptop").and_then(|laptop| laptop.with_cpus(4)).expect("it is built in");
    let mut setup = Setup::new(spec.cpus());
    let built =
        parse(command).and_then(|load| load.build(&mut setup)).unwrap_or_else(|e| panic!("{command}: {e}"));
    let config = Config::of_profile("6.1").expect("a profile");
    let options = RunOptions { duration: ms(5), ..RunOptions::default() };
    let run = Machine::new(spec, config, setup, options).and_then(Machine::run);
    run.unwrap_or_else(|e| panic!("{command}: {e}"));
    let _ = built.result("");
}

#[test]
fn the_largest_time_or_size_that_an_option_takes_overflows_nothing() {
    let mut tried = 0;
    for entry in entries() {
        for option in entry.options() {
            let words: Vec<&str> = option.usage.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            let values = match words.last() {
                Some(&("TIME" | "INTV" | "DIST" | "US")) => &TIMES[..],
                Some(&"SIZE") => &SIZES[..],
                _ => continue,
            };
            let command = |value: &&&str| format!("{} {} {value}", entry.name, words[words.len() - 2]);
            let largest = values.iter().find(|value| parse(&command(value)).is_ok());
            let largest = largest.unwrap_or_else(|| panic!("{} takes nothing", option.usage));
            assert!(*largest != values[0] && *largest != values[1], "{}", command(&largest));
            run(&command(&largest));
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn all_costs_of_a_load_may_be_the_largest_together() {
    run("vmark --send-cost 1h --work 10000 --working-set 1024G");
    run("oltp --client-work 1h --server-work 1h --footprint 1h --per-client 1h --clients 10000 --spin-hold \
         1h");
    run("hackbench --send-cost 1h --receive-cost 1h");
    run("cyclictest -t 4 -i 10d -d 10d --cycle-cost 1h");
}

#[test]
fn what_does_not_fit_is_refused() {
    for (command, most) in [
        ("vmark --send-cost 213503d", "1h"),
        ("oltp --client-work 213503d", "1h"),
        ("oltp --per-client 18446744073709551615", "1h"),
        ("vmark --working-set 9223372036854775807", "1024G"),
        ("cyclictest --cycle-cost 18446744073709551615", "1h"),
        ("hackbench --send-cost 18446744073709551615", "1h"),
        ("cyclictest -i 11d", "10d"),
        ("oltp --warmup 3651d", "3650d"),
    ] {
        let refusal = refusal(command);
        assert!(refusal.ends_with(&format!("at most {most}")), "{refusal}");
    }
}
