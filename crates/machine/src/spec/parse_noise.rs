//! The `[noise]` of a machine file.

use super::entries;
use super::error::SpecError;
use super::noise::{IrqOff, KthreadNoise, Noise, Spread, WakeEvent, Woken};
use super::origin::Origin;
use super::parse::read_origin;
use super::reader::{Field, Table};
use scheduler::{Nanos, Nice, Policy, RtPriority};

/// Longest disturbance.
const MAX_NS: u64 = 10_000_000_000;
/// Keys of a distribution.
const SPREAD_KEYS: [&str; 5] = ["ns", "min_ns", "max_ns", "mean_ns", "slope_percent"];

pub(super) fn read_noise(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Noise, SpecError> {
    let table = field.table(&entries::NOISE)?;
    if let (Some(_), Some(delivery)) = (table.optional("timer_jitter"), table.optional("timer_delivery")) {
        let remedy = "leave one of them out: both say how late a timer's interrupt is";
        return Err(delivery.error("cannot stand beside timer_jitter", remedy));
    }
    let mut noise = Noise {
        timer_jitter: read_delay(&table, "timer_jitter", origins)?,
        timer_delivery: read_delay(&table, "timer_delivery", origins)?,
        thread_start: read_delay(&table, "thread_start", origins)?,
        spin_overshoot: read_delay(&table, "spin_overshoot", origins)?,
        ..Noise::default()
    };
    if let Some(sources) = table.optional("irq_off") {
        let sources = sources.elements()?;
        noise.irq_off = sources.iter().map(|s| read_irq_off(s, origins)).collect::<Result<_, _>>()?;
    }
    if let Some(threads) = table.optional("kthread") {
        for thread in threads.elements()? {
            let thread = read_kthread(&thread, &noise, origins)?;
            noise.kthreads.push(thread);
        }
    }
    Ok(noise)
}

/// A distribution with its origin in one table.
fn read_delay(table: &Table<'_>, key: &str, origins: &mut Vec<Origin>) -> Result<Option<Spread>, SpecError> {
    let Some(field) = table.optional(key) else { return Ok(None) };
    let table = field.table(&["ns", "min_ns", "max_ns", "mean_ns", "slope_percent", "origin"])?;
    let spread = spread_of(&table)?;
    origins.push(read_origin(&table, spread.to_string())?);
    Ok(Some(spread))
}

fn read_irq_off(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<IrqOff, SpecError> {
    let table =
        field.table(&["what", "per_second_per_cpu", "per_minute_per_cpu", "length", "device", "origin"])?;
    let (rate, per_minute_per_cpu) = match table.optional("per_minute_per_cpu") {
        None => {
            let Some(rate) = table.optional("per_second_per_cpu") else {
                let remedy = "say how often it comes by one of them";
                return Err(table
                    .field()
                    .error("has neither per_second_per_cpu nor per_minute_per_cpu", remedy));
            };
            let per_second = rate.number(1, 100_000, "per second")? as u32;
            (rate, 60 * per_second)
        }
        Some(rate) if table.optional("per_second_per_cpu").is_some() => {
            return Err(rate.error("stands beside per_second_per_cpu", "leave one of them out"));
        }
        Some(rate) => {
            let per_minute = rate.number(1, IrqOff::MOST_PER_MINUTE.into(), "per minute")? as u32;
            (rate, per_minute)
        }
    };
    let length = read_spread(&table.required("length")?)?;
    let irq_off = IrqOff {
        what: table.required("what")?.text()?.into(),
        per_minute_per_cpu,
        length,
        device: table.optional("device").map_or(Ok(false), |field| field.boolean())?,
    };
    let often = match per_minute_per_cpu {
        per_minute if per_minute % 60 == 0 => format!("{}/s", per_minute / 60),
        per_minute => format!("{per_minute}/min"),
    };
    if u64::from(per_minute_per_cpu) * length.mean().0 > 54_000_000_000 {
        return Err(rate.error(
            format!("{often} of {length} leave tasks less than a tenth of the time"),
            "make it rarer or shorter",
        ));
    }
    let handler = if irq_off.device { ", handler of a device" } else { "" };
    let value = format!("{}: {often} on each CPU, {length}{handler}", irq_off.what);
    origins.push(read_origin(&table, value)?);
    Ok(irq_off)
}

/// `known`: what the file names above the thread.
fn read_kthread(
    field: &Field<'_>,
    known: &Noise,
    origins: &mut Vec<Origin>,
) -> Result<KthreadNoise, SpecError> {
    let table = field.table(&[
        "comm",
        "policy",
        "rt_priority",
        "nice",
        "per_cpu",
        "period",
        "woken_by",
        "percent",
        "run",
        "origin",
    ])?;
    let comm = table.required("comm")?;
    if comm.text()?.len() > 15 {
        return Err(comm.error("is longer than 15 bytes", "shorten it, as the kernel would"));
    }
    let run = read_spread(&table.required("run")?)?;
    let kthread = KthreadNoise {
        comm: comm.text()?.into(),
        policy: read_policy(&table)?,
        nice: read_nice(&table)?,
        per_cpu: table.required("per_cpu")?.boolean()?,
        woken: read_woken(&table, run, known)?,
        run,
    };
    let priority = kthread.policy.rt_priority().map(|p| format!(" {}", p.get())).unwrap_or_default();
    let place = if kthread.per_cpu { "on each CPU" } else { "free to move" };
    let policy = kthread.policy.name();
    let woken = match kthread.woken {
        Woken::Every(period) => format!("every {period}"),
        Woken::By { event, percent } => {
            format!("woken by {} ({percent} %)", wake_event_name(event, known).unwrap_or_default())
        }
    };
    let value = format!("{}: {policy}{priority} {place}, {woken}, runs {run}", kthread.comm);
    origins.push(read_origin(&table, value)?);
    Ok(kthread)
}

/// `period`, or `woken_by` with or without `percent`.
fn read_woken(table: &Table<'_>, run: Spread, known: &Noise) -> Result<Woken, SpecError> {
    let percent = table.optional("percent");
    match (table.optional("period"), table.optional("woken_by")) {
        (Some(period), None) => {
            if let Some(percent) = percent {
                return Err(percent.error("belongs to woken_by", "leave it out"));
            }
            let every = read_spread(&period)?;
            if run.mean() >= every.mean() {
                return Err(period.error("is not longer than the run time", "lengthen it, or shorten run"));
            }
            Ok(Woken::Every(every))
        }
        (None, Some(by)) => {
            let percent = percent.map_or(Ok(100), |p| p.number(1, 100, "percent"))?;
            Ok(Woken::By { event: read_wake_event(&by, known)?, percent: percent as u32 })
        }
        (Some(period), Some(_)) => Err(period.error("cannot stand beside woken_by", "leave one of them out")),
        (None, None) => {
            Err(table.field().error("has neither period nor woken_by", "say when the thread wakes"))
        }
    }
}

/// Name of the tick as a wake event.
const TICK: &str = "tick";

fn read_wake_event(field: &Field<'_>, known: &Noise) -> Result<WakeEvent, SpecError> {
    let events = || {
        let irq_off = (0..known.irq_off.len()).map(WakeEvent::IrqOff);
        let kthreads = (0..known.kthreads.len()).map(WakeEvent::Kthread);
        [WakeEvent::Tick].into_iter().chain(irq_off).chain(kthreads)
    };
    let name = field.text()?;
    events().find(|e| wake_event_name(*e, known) == Some(name)).ok_or_else(|| {
        let names: Vec<_> = events().filter_map(|e| wake_event_name(e, known)).collect();
        field.error(format!("nothing is called {name} here"), format!("known are {}", names.join(", ")))
    })
}

/// What a machine file calls it.
fn wake_event_name(event: WakeEvent, known: &Noise) -> Option<&str> {
    match event {
        WakeEvent::Tick => Some(TICK),
        WakeEvent::IrqOff(source) => known.irq_off.get(source).map(|i| i.what.as_str()),
        WakeEvent::Kthread(thread) => known.kthreads.get(thread).map(|k| k.comm.as_str()),
    }
}

fn read_policy(table: &Table<'_>) -> Result<Policy, SpecError> {
    let policy = table.required("policy")?;
    let priority = table.optional("rt_priority");
    let rt = |make: fn(RtPriority) -> Policy| {
        let field = table.required("rt_priority")?;
        let value = field.number(1, 99, "(real-time priority)")?;
        RtPriority::new(value as u8).map(make).ok_or_else(|| field.error("is no priority", "give 1 to 99"))
    };
    let fair = |policy| match &priority {
        Some(priority) => Err(priority.error("belongs to fifo and rr only", "leave it out")),
        None => Ok(policy),
    };
    match policy.text()? {
        "fifo" => rt(Policy::Fifo),
        "rr" => rt(Policy::Rr),
        "other" => fair(Policy::Normal),
        "batch" => fair(Policy::Batch),
        "idle" => fair(Policy::Idle),
        _ => Err(policy.error("is no policy", "use fifo, rr, other, batch or idle")),
    }
}

fn read_nice(table: &Table<'_>) -> Result<Nice, SpecError> {
    let Some(field) = table.optional("nice") else { return Ok(Nice::default()) };
    let value = field.signed(-20, 19, "(nice value)")?;
    Nice::new(value as i8).ok_or_else(|| field.error("is no nice value", "give -20 to 19"))
}

/// A distribution in a table of its own.
pub(super) fn read_spread(field: &Field<'_>) -> Result<Spread, SpecError> {
    spread_of(&field.table(&SPREAD_KEYS)?)
}

/// `ns`, or `min_ns` and `max_ns` with or without `slope_percent`, or `mean_ns` with or without `min_ns` and
/// `max_ns`.
fn spread_of(table: &Table<'_>) -> Result<Spread, SpecError> {
    let read = |key| table.optional(key).map(|f| f.number(0, MAX_NS, "ns").map(Nanos)).transpose();
    if let Some(slope) = table.optional("slope_percent") {
        let slope_percent = slope.number(10, 1000, "percent")? as u32;
        return match (read("ns")?, read("min_ns")?, read("max_ns")?, read("mean_ns")?) {
            (None, Some(min), Some(max), None) if Nanos::ZERO < min && min < max => {
                Ok(Spread::Pareto { min, slope_percent, max })
            }
            _ => Err(slope.error(
                "needs a least and a longest",
                "give min_ns above 0 and a longer max_ns beside it, and no other key",
            )),
        };
    }
    match (read("ns")?, read("min_ns")?, read("max_ns")?, read("mean_ns")?) {
        (Some(fixed), None, None, None) => Ok(Spread::Constant(fixed)),
        (None, Some(min), Some(max), None) if min <= max => Ok(Spread::Uniform { min, max }),
        (None, min, None, Some(mean)) => Ok(Spread::Exponential { min: min.unwrap_or_default(), mean }),
        (None, min, Some(max), Some(mean)) if min.unwrap_or_default() < max => {
            Ok(Spread::CutExponential { min: min.unwrap_or_default(), mean, max })
        }
        (None, Some(_), Some(_), None) => Err(table.field().error("min_ns is above max_ns", "swap them")),
        (None, _, Some(_), Some(_)) => {
            Err(table.field().error("max_ns is not above min_ns", "let it be the longest, or leave it out"))
        }
        _ => Err(table.field().error(
            "is no distribution",
            "give ns (always the same), min_ns and max_ns (uniform, or Pareto with slope_percent), or mean_ns \
             (exponential, with or without min_ns, cut at max_ns or not)",
        )),
    }
}
