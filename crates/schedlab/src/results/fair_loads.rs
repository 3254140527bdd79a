//! What the loads of the fair-class documents say.

use super::latency;
use schema::{
    ForkStormResult, KeyrepeatResult, OltpDb, OltpResult, Seconds, VmarkResult, WakeupLatencyMode,
    WakeupLatencyResult,
};
use workload::load;

pub fn wakeup_latency(load: String, result: &load::WakeupLatencyResult) -> WakeupLatencyResult {
    WakeupLatencyResult {
        load,
        mode: match result.mode {
            load::WakeupLatencyMode::SigevThread => WakeupLatencyMode::SigevThread,
            load::WakeupLatencyMode::Nanosleep => WakeupLatencyMode::Nanosleep,
        },
        period_ns: result.interval.0,
        latency_ns: latency::of_load(&result.latency),
        missed: result.missed,
    }
}

pub fn fork_storm(load: String, result: &load::ForkStormResult) -> ForkStormResult {
    ForkStormResult {
        load,
        jobs: result.jobs,
        forks: result.forks,
        finished: result.finished,
        hogs: result.hogs,
        hog_cpu_ns: result.hog_cpu_time.0,
        elapsed_ns: result.elapsed.0,
    }
}

pub fn keyrepeat(load: String, result: &load::KeyrepeatResult) -> KeyrepeatResult {
    KeyrepeatResult {
        load,
        period_ns: result.period.0,
        frames: result.frames,
        between_ns: latency::of_load(&result.between),
        spread_ns: result.spread.0,
        stops: result.stops,
        response_ns: latency::of_load(&result.response),
    }
}

pub fn vmark(load: String, result: &load::VmarkResult) -> VmarkResult {
    VmarkResult {
        load,
        rooms: result.rooms,
        users: result.users,
        sent: result.sent,
        received: result.received,
        seconds: result.finished.then(|| Seconds::from_ns(result.elapsed.0)),
    }
}

pub fn oltp(load: String, result: &load::OltpResult) -> OltpResult {
    OltpResult {
        load,
        db: match result.db {
            load::OltpDb::Pgsql => OltpDb::Pgsql,
            load::OltpDb::Mysql => OltpDb::Mysql,
        },
        clients: result.clients,
        warmup_ns: result.warmup.0,
        counted_ns: result.time.0,
        reads: result.reads,
        others: result.others,
        transactions: result.transactions,
        all_requests: result.all_requests,
        latency_ns: latency::of_load(&result.latency),
    }
}
