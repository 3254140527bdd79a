//! How fast recordings are read: events a second, for each format.
//! `cargo bench -p schedlab-trace`; one format alone: `cargo bench -p schedlab-trace -- perf_data`.

#[path = "../tests/grown/mod.rs"]
mod grown;

use std::fs;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use trace::{Annotations, TextOptions, Trace};

/// Copies of a recording of 1819 events.
const COPIES: u64 = 100;

fn main() {
    divan::main();
}

fn perf() -> Vec<u8> {
    let packed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hackbench-pipe.perf.data.gz"));
    let packed = packed.expect("the fixture");
    let file =
        miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).expect("a sound gzip file");
    grown::perf_data(&file, COPIES)
}

fn trace() -> Trace {
    trace::read(&perf()).expect("a trace")
}

fn bench(bencher: Bencher, file: &[u8]) {
    let events = trace::read(file).expect("a trace").events.len();
    bencher.counter(ItemsCount::new(events)).bench_local(|| trace::read(black_box(file)).expect("a trace"));
}

#[divan::bench]
fn perf_data(bencher: Bencher) {
    bench(bencher, &perf());
}

#[divan::bench]
fn trace_dat(bencher: Bencher) {
    let mut file = Vec::new();
    trace::write_trace_dat(&trace(), &mut file).expect("memory takes everything");
    bench(bencher, &file);
}

#[divan::bench]
fn perfetto(bencher: Bencher) {
    let mut file = Vec::new();
    trace::write_perfetto(&trace(), &Annotations::new(), &mut file).expect("memory takes everything");
    bench(bencher, &file);
}

#[divan::bench]
fn text(bencher: Bencher) {
    let mut file = Vec::new();
    trace::write_ftrace_text(&trace(), TextOptions::default(), &mut file).expect("memory takes everything");
    bench(bencher, &file);
}
