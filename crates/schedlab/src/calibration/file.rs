//! From measurements to a machine file.

use super::distances::Kind;
use super::gaps::Source;
use super::host::Host;
use super::host_stalls::Tail;
use super::sources::way;
use super::timers::{Meanwhile, Sleeper};
use super::{Measured, bandwidth, siblings};
use machine::{Costs, Distance, IrqOff, MachineSpec, Origin, OriginKind, Spread};
use scheduler::{CpuMask, Nanos};
use std::fmt::Write;

/// What cannot be measured is as there.
pub(super) const BASE: &str = "laptop";

const MEASURED_HEAD: &str = "\
# Measured by `schedlab calibrate`. An origin gives the lower quartile of the samples, in brackets the median,
# where nine tenths of them lie, and how many there are; \"less\" says what was taken off to get from what can
# be timed to the figure. What a program cannot time is as on the machine laptop, and assumed.
# In [noise], mean_ns is the mean of what comes on top of min_ns, and max_ns the longest that was seen.
";

const ASSUMED_HEAD: &str = "\
# The topology of the machine of a recording. Its costs are assumed to be those of the machine laptop:
# `schedlab calibrate` measures them.
";

/// A figure of a machine file, with its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    pub(super) ns: u64,
    pub(super) origin: String,
}

/// The primitive costs, from the composites that were measured.
pub(super) struct Primitives<'a> {
    pub(super) host: &'a Host,
    pub(super) measured: &'a Measured,
    pub(super) base: MachineSpec,
    /// There are no measurements at all.
    pub(super) unmeasured: bool,
}

/// The whole file; without measurements, the costs are assumed.
pub(super) fn text(name: &str, host: &Host, measured: Option<&Measured>) -> String {
    let base =
        MachineSpec::builtin(BASE).unwrap_or_else(|_| MachineSpec::ideal(scheduler::Topology::flat(1)));
    let (head, how) = match measured {
        Some(_) => (MEASURED_HEAD, "measured"),
        None => (ASSUMED_HEAD, "with assumed costs"),
    };
    let nothing = Measured::default();
    let primitives =
        Primitives { host, measured: measured.unwrap_or(&nothing), base, unmeasured: measured.is_none() };
    let mut text =
        format!("{head}\nname = \"{name}\"\nmeaning = \"A machine with {} CPUs, {how}.\"\n", host.cpus());
    // Writing into a text cannot fail.
    let _ = write!(text, "{}\n{}\n[costs]\n", primitives.idle_monitor(), topology(host));
    for cost in Costs::FIXED {
        let Cost { ns, origin } = primitives.fixed(cost.name);
        let _ = writeln!(text, "{} = {{ ns = {ns}, origin = {} }}", cost.name, quoted(&origin));
    }
    let percent = primitives.base.costs.ticket_spinner_percent;
    let origin = primitives.assumed("costs.ticket_spinner_percent");
    let _ =
        writeln!(text, "ticket_spinner_percent = {{ percent = {percent}, origin = {} }}", quoted(&origin));
    for kind in Kind::ALL {
        let _ = writeln!(text, "\n[costs.{}]", kind.name());
        for distance in distances(host) {
            let cost = primitives.over(kind, distance);
            let _ = writeln!(
                text,
                "{} = {{ ns = {}, origin = {} }}",
                distance.name(),
                cost.ns,
                quoted(&cost.origin)
            );
        }
    }
    let speed = measured.map_or_else(String::new, |measured| siblings::speed(host, measured.siblings));
    text + &primitives.cache(host)
        + &primitives.cold()
        + &speed
        + &bandwidth::memory(primitives.measured.bandwidth)
        + &primitives.measured.idle_states.text(Nanos(primitives.ns("idle_exit")))
        + &primitives.stretches()
        + &primitives.noise()
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "'"))
}

/// The distances that a machine with these levels has.
fn distances(host: &Host) -> Vec<Distance> {
    let has = |distance: &Distance| match distance {
        Distance::Own | Distance::SharedCache | Distance::SameNode => true,
        Distance::Smt => host.has_smt(),
        Distance::OtherNode => host.packages.len() > 1,
    };
    Distance::ALL.into_iter().filter(has).collect()
}

fn topology(host: &Host) -> String {
    let cpus = host.cpus();
    let spans = |groups: &[CpuMask]| {
        let quoted: Vec<String> = groups.iter().map(|group| format!("\"{group}\"")).collect();
        quoted.join(", ")
    };
    let mut text = format!("[topology]\ncpus = {cpus}\nlevels = [\n");
    if host.has_smt() {
        let _ = writeln!(text, "  {{ kind = \"smt\", spans = [{}] }},", spans(&host.cores));
    }
    let _ = writeln!(text, "  {{ kind = \"mc\", spans = [{}] }},", spans(&host.caches));
    let _ = writeln!(text, "  {{ kind = \"package\", spans = [{}] }},", spans(&host.packages));
    if host.packages.len() > 1 {
        let all = CpuMask::first_n(cpus);
        let _ = writeln!(text, "  {{ kind = \"numa\", distance = {}, spans = [\"{all}\"] }},", host.slit);
    }
    text + "]\norigin = \"measured: sysfs, the CPUs that are online\"\n"
}

impl Primitives<'_> {
    /// A cost of the machine whose figures are taken over; zero if that has none.
    pub(super) fn base_ns(&self, name: &str) -> u64 {
        let path = format!("costs.{name}");
        let origin = self.base.origins.iter().find(|origin| origin.field == path);
        origin.and_then(|origin| origin.value.split(' ').next()?.parse().ok()).unwrap_or(0)
    }

    /// The origin of a figure that is taken over, with the reason why it was not measured.
    pub(super) fn assumed(&self, path: &str) -> String {
        let why = match way(path, self.host, self.measured) {
            // Without any measurement there is one reason for everything.
            _ if self.unmeasured => None,
            way => way.map(|way| way.unseen),
        };
        let why = why.unwrap_or_else(|| "nothing was measured".to_owned());
        let origin = self.base.origins.iter().find(|origin: &&Origin| origin.field == path);
        match origin {
            Some(Origin { kind: OriginKind::Published, text, .. }) => {
                format!("published: {text}; as on the machine {BASE}, not measured: {why}")
            }
            other => {
                let text = other.map_or("no figure there", |origin| &origin.text);
                format!("assumed: not measured: {why}; as on the machine {BASE} ({text})")
            }
        }
    }

    /// How idle CPUs wait, if that could be told.
    fn idle_monitor(&self) -> String {
        let Some(wakeups) = self.measured.idle else { return String::new() };
        let Ok(monitor) = wakeups.monitor() else { return String::new() };
        let origin = format!(
            "measured: {} wakeups of a CPU that was idle for {} % of the time brought {} interrupts there",
            wakeups.wakeups, wakeups.idle_percent, wakeups.interrupts
        );
        format!("idle_monitor = {{ by = \"{}\", origin = {} }}\n", monitor.name(), quoted(&origin))
    }

    fn taken_over(&self, name: &str) -> Cost {
        Cost { ns: self.base_ns(name), origin: self.assumed(&format!("costs.{name}")) }
    }

    /// A cost of the machine file.
    fn fixed(&self, name: &str) -> Cost {
        self.measured_cost(name).unwrap_or_else(|| self.taken_over(name))
    }

    pub(super) fn ns(&self, name: &str) -> u64 {
        self.fixed(name).ns
    }

    fn cache(&self, host: &Host) -> String {
        let lost = self.base.cache.shared_cache_lost_percent;
        let (ps, origin) = match self.measured.refill.and_then(|r| r.in_order.zip(r.at_random)) {
            Some((in_order, at_random)) => {
                let mean = (in_order.quarter_ns + at_random.quarter_ns) / 2;
                let origin = format!(
                    "measured: a pass over 256 KiB after a move costs {in_order} ps/byte more in order, \
                     {at_random} at random; the mean, by the {lost} % that such a move loses"
                );
                ((mean * 100 / u64::from(lost.max(1))).clamp(1, 1_000_000), origin)
            }
            None => (self.base.cache.refill_ps_per_byte, self.assumed("cache.refill_ps_per_byte")),
        };
        let mut text =
            format!("\n[cache]\nrefill_ps_per_byte = {{ ps = {ps}, origin = {} }}\n", quoted(&origin));
        let (tau, origin) = (self.base.cache.tau.0, self.assumed("cache.tau"));
        let _ = writeln!(text, "tau = {{ ns = {tau}, origin = {} }}", quoted(&origin));
        let mut losses = vec![("shared_cache_lost_percent", lost)];
        if host.has_smt() {
            losses.push(("smt_lost_percent", self.base.cache.smt_lost_percent));
        }
        for (name, percent) in losses {
            let origin = self.assumed(&format!("cache.{name}"));
            let _ = writeln!(text, "{name} = {{ percent = {percent}, origin = {} }}", quoted(&origin));
        }
        text
    }

    fn noise(&self) -> String {
        let mut text = self.timer_jitter();
        let seen = &self.measured.interruptions;
        let ticks = if seen.ticks.is_some() { "ticks" } else { "no ticks" };
        for Source { what, per_minute, mean_ns, longest_ns, lengths } in seen.short() {
            if seen.is_too_rare(lengths) {
                continue;
            }
            // A host that hardly lets the thread run shows more than it can have.
            let per_minute = (*per_minute).min(IrqOff::MOST_PER_MINUTE.into());
            let least = lengths.low_ns.min(longest_ns - 1);
            let mean = mean_ns.saturating_sub(least).max(1);
            let origin = format!(
                "measured: a spinning thread saw gaps of {lengths}, {per_minute} a minute in {} ms; {ticks} and \
                 {} turns of other tasks left out",
                seen.watched_ns / 1_000_000,
                seen.by_tasks
            );
            let _ = write!(
                text,
                "\n[[noise.irq_off]]\nwhat = \"{what}\"\nper_minute_per_cpu = {per_minute}\n\
                 length = {{ min_ns = {least}, mean_ns = {mean}, max_ns = {longest_ns} }}\norigin = {}\n",
                quoted(&origin)
            );
        }
        text + &self.stalls()
    }

    /// Stalls of the host, where enough were seen.
    fn stalls(&self) -> String {
        let stalls = &self.measured.stalls;
        let Some(Tail { per_minute, length }) = stalls.tail() else { return String::new() };
        let (length, law) = match length {
            Spread::Pareto { min, slope_percent, max } => (
                format!("min_ns = {}, slope_percent = {slope_percent}, max_ns = {}", min.0, max.0),
                "Pareto's law is clearly likelier than an exponential one",
            ),
            Spread::CutExponential { min, mean, max } => (
                format!("min_ns = {}, mean_ns = {}, max_ns = {}", min.0, mean.0, max.0),
                "an exponential law is as likely as Pareto's",
            ),
            // No other is fitted.
            Spread::Constant(_) | Spread::Uniform { .. } | Spread::Exponential { .. } => {
                return String::new();
            }
        };
        let origin = format!("measured: {}; {law}", stalls.words());
        format!(
            "\n[[noise.irq_off]]\nwhat = \"the host runs something else\"\nper_minute_per_cpu = {per_minute}\n\
             length = {{ {length} }}\norigin = {}\n",
            quoted(&origin)
        )
    }

    /// How late a timer's interrupt is: what is left of how late a sleep ends.
    fn timer_jitter(&self) -> String {
        let Some(run) = self.measured.timers.as_ref().and_then(|timers| timers.of_jitter()) else {
            return String::new();
        };
        let mut known = self.ns("irq_entry")
            + self.ns("timer_expiry")
            + self.ns("wakeup")
            + self.ns("enqueue")
            + self.locks()
            + self.ns("timer_program")
            + self.ns("irq_exit")
            + self.switch()
            + self.ns("syscall") / 2;
        let whose = match run.sleeper {
            Sleeper::Fifo => "a FIFO thread of priority 95",
            Sleeper::Fair | Sleeper::FairWithoutSlack => {
                "a fair thread without timer slack, as this process may not be real-time,"
            }
        };
        let meanwhile = match run.meanwhile {
            Meanwhile::Busy => "beside a fair one that spins",
            Meanwhile::Idle | Meanwhile::Polls => {
                known += self.ns("idle_exit");
                "on an idle CPU"
            }
        };
        let jitter = run.lateness.of_timer(Nanos(known));
        let origin = format!(
            "measured: sleeps of {whose} {meanwhile}, every {} us, ended late by {}; less {known} of the way \
             from the interrupt to the thread; floor and mean by p10 and p50",
            run.interval_ns / 1000,
            run.lateness
        );
        format!(
            "\n[noise.timer_jitter]\nmin_ns = {}\nmean_ns = {}\norigin = {}\n",
            jitter.min.0,
            jitter.mean.0,
            quoted(&origin)
        )
    }
}
