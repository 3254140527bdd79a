//! The same inputs give the same bytes: in a debug and in a release build, on any machine, next year.
//!
//! Each line of the snapshot is a run: what it simulated, and a hash over its whole trace, as text, and over
//! its decisions. A change of behaviour that is meant is taken over with `INSTA_UPDATE=always cargo test -p
//! schedlab-workload --test it golden`; CI runs it in both profiles.

use machine::{Machine, MachineSpec, Outcome, RunOptions, Setup, TimedSetting, Tracing};
use scheduler::Nanos;
use scheduler::registry::Config;
use schema::LogEvent;
use std::io::Write;
use trace::{TextOptions, write_ftrace_text};
use workload::{load, run_trace};

struct Case {
    machine: &'static str,
    kernel: &'static str,
    loads: &'static [&'static str],
    /// At half time.
    setting: &'static str,
}

const CASES: &[Case] = &[
    Case {
        machine: "seed002",
        kernel: "2.6.23-rt5",
        loads: &["cyclictest -n -p 90 -t 8 -d 100 -i 100", "make -j8"],
        setting: "overload_rule=migratory",
    },
    Case {
        machine: "seed001",
        kernel: "4.0",
        loads: &["cyclictest -S -p95 -d0 -i100 -q", "periodic -n 4 -p 1ms -r 50us -P 50"],
        setting: "RT_PUSH_IPI",
    },
    Case {
        machine: "seed000",
        kernel: "2.6.36",
        loads: &["rt-migrate -s 5"],
        setting: "wake_route=strictly_higher",
    },
    Case {
        machine: "seed004",
        kernel: "tip",
        loads: &["hackbench -g 2 -l 100 -p"],
        setting: "STRONG_BUDDIES",
    },
    Case { machine: "seed003", kernel: "2.6.35.2+D", loads: &["make -j10"], setting: "START_NICE" },
    Case {
        machine: "vm2",
        kernel: "6.1",
        loads: &["rt-migrate -p -s 5", "hackbench -g 1 -l 50"],
        setting: "rtmutex_spin=never",
    },
    Case {
        machine: "laptop",
        kernel: "6.1-rt",
        loads: &["cyclictest -t4 -p80 -i200 -d20", "hackbench -g 1 -l 50 -p"],
        setting: "NO_RT_PUSH_IPI",
    },
    Case {
        machine: "laptop",
        kernel: "6.1.y",
        loads: &["make -j10", "cyclictest -t2 -p80 -i500"],
        setting: "NO_NI_RANDOM",
    },
    Case {
        machine: "laptop",
        kernel: "5.15",
        loads: &["hackbench -g 1 -l 50", "hog -n 3"],
        setting: "nohz_balance=next_due",
    },
    Case {
        machine: "laptop",
        kernel: "5.10",
        loads: &["make -j10", "hackbench -g 1 -l 20 -p"],
        setting: "idle_sibling=scan",
    },
    Case {
        machine: "laptop",
        kernel: "5.4",
        loads: &["make -j10", "hackbench -g 1 -l 20"],
        setting: "lb=group_type",
    },
    Case {
        machine: "vm2",
        kernel: "4.19",
        loads: &["make -j10", "cyclictest -t2 -p80 -i500"],
        setting: "NO_LB_BIAS",
    },
    Case {
        machine: "laptop",
        kernel: "4.4",
        loads: &["make -j10", "hackbench -g 1 -l 20", "cyclictest -t2 -p80 -i500"],
        setting: "lb=group_room",
    },
    Case { machine: "vm2", kernel: "6.6", loads: &["make -j10"], setting: "NO_RUN_TO_PARITY" },
    Case {
        machine: "vm2",
        kernel: "6.12",
        loads: &["hackbench -g 1 -l 50", "hog -n 3"],
        setting: "NO_DELAY_DEQUEUE",
    },
    Case {
        machine: "laptop",
        kernel: "6.12-rt",
        loads: &["cyclictest -t2 -i500 -q", "hackbench -g 1 -l 50", "hog -n 3"],
        setting: "NO_RT_PUSH_IPI",
    },
    Case {
        machine: "laptop",
        kernel: "6.18-rt",
        loads: &["make -j10", "cyclictest -t2 -p80 -i500", "cyclictest -t2 -i500 -q"],
        setting: "lb_lag=off",
    },
    Case { machine: "laptop", kernel: "6.12.y", loads: &["make -j10"], setting: "NO_PLACE_LAG" },
    Case {
        machine: "laptop",
        kernel: "6.18",
        loads: &["hackbench -g 1 -l 50 -p", "cyclictest -t4 -p80 -i200 -d20"],
        setting: "lb_lag=off",
    },
    Case {
        machine: "vm2",
        kernel: "6.18.y",
        loads: &["make -j10", "cyclictest -t2 -i1000"],
        setting: "base_slice_ns=3000000",
    },
    Case { machine: "vm2", kernel: "7.0", loads: &["hackbench -g 1 -l 50"], setting: "NEXT_BUDDY" },
    Case { machine: "vm2", kernel: "7.1", loads: &["make -j10"], setting: "delay_lag=clip" },
];

fn run(case: &Case) -> Outcome {
    let spec = MachineSpec::builtin(case.machine).expect("it is built in");
    let mut setup = Setup::new(spec.cpus());
    let _built: Vec<_> =
        case.loads.iter().map(|l| load::parse(l).and_then(|l| l.build(&mut setup)).expect(l)).collect();
    let config = Config::of_profile(case.kernel).expect("a profile");
    let duration = Nanos::from_millis(60);
    let setting = TimedSetting { at: Nanos(duration.0 / 2), setting: case.setting.into() };
    let options =
        RunOptions { duration, trace: Tracing::Everything, settings: vec![setting], ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// FNV-1a over what is written, so that no text of the whole trace is needed.
struct Hash(u64);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn hash(outcome: &Outcome) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    let records = outcome.log.as_deref().expect("a log is kept");
    let trace = run_trace(records, outcome.cpus.len());
    write_ftrace_text(&trace, TextOptions::default(), &mut hash).expect("hashing cannot fail");
    // They have no tracepoint.
    for record in records {
        if let LogEvent::Decision { of, reason } = &record.event {
            let (time, cpu) = (record.time, record.cpu);
            writeln!(hash, "{time} {cpu} {of} {reason}").expect("hashing cannot fail");
        }
    }
    hash.0
}

#[test]
fn runs_are_the_same_bytes_everywhere() {
    let lines: Vec<String> = CASES
        .iter()
        .map(|case| {
            let outcome = run(case);
            let totals = &outcome.totals;
            format!(
                "{} {} {:?} {}: {} switches, {} migrations, {:016x}",
                case.machine,
                case.kernel,
                case.loads,
                case.setting,
                totals.context_switches,
                totals.migrations,
                hash(&outcome)
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
