//! Pipes and sockets: who is woken when there is room; and what the interrupt costs that tells another CPU.

use crate::script::{Clock, FREE_CHANNEL, fifo, ideal, ms, run, script, us};
use machine::{ByDistance, ChannelSpec, Room, Setup, Step, TaskSpec};
use scheduler::{CpuId, CpuMask, Nanos};

/// When each of four writers has put its message into a full channel, whose reader takes one each 10 ms.
fn writers_go_on(channel: ChannelSpec) -> Vec<Nanos> {
    let mut setup = Setup::new(6);
    let channel = setup.channel(channel);
    let full = (0..2).map(|_| Step::Send(channel));
    let reads = (0..6).flat_map(|_| [Step::SleepFor(ms(10)), Step::Receive(channel)]);
    setup.spawn(Nanos::ZERO, script("reader", full.chain(reads)).0);
    let writers: Vec<Clock> = (0..4)
        .map(|n| {
            let (writer, clock) = script("writer", [Step::SleepFor(us(n + 1)), Step::Send(channel)]);
            setup.spawn(Nanos::ZERO, writer);
            clock
        })
        .collect();
    run(ideal(6), setup);
    writers.iter().map(|clock| clock.borrow()[2]).collect()
}

fn pipe(pages: u32, per_page: u32) -> ChannelSpec {
    ChannelSpec { room: Room::Pages { pages, per_page }, ..FREE_CHANNEL }
}

/// fair-class 12.2: the page of a pipe that is read lets in one; of a socket's, all try at once, and one is
/// lucky. One message is a page here.
#[test]
fn each_page_of_a_pipe_lets_in_one_writer_in_the_order_of_coming() {
    assert_eq!(writers_go_on(pipe(2, 1)), [ms(10), ms(20), ms(30), ms(40)]);
}

/// A pipe whose only page held three messages is empty when that is read: the first writer lets the next go
/// on, and so forth, though the reader wakes one only.
#[test]
fn a_writer_that_has_slept_for_a_pipe_lets_the_next_one_go_on() {
    let mut setup = Setup::new(6);
    let channel = setup.channel(pipe(2, 3));
    let full = (0..6).map(|_| Step::Send(channel));
    let reads = (0..6).map(|_| Step::Receive(channel));
    let steps = full.chain([Step::SleepFor(ms(10))]).chain(reads).chain([Step::SleepFor(ms(10))]);
    setup.spawn(Nanos::ZERO, script("reader", steps).0);
    for n in 0..2 {
        let (writer, _) = script("writer", [Step::SleepFor(us(n + 1)), Step::Send(channel)]);
        setup.spawn(Nanos::ZERO, writer);
    }
    let outcome = run(ideal(6), setup);
    assert!(outcome.stalled.is_empty(), "{:?}", outcome.stalled);
}

#[test]
fn all_that_wait_for_room_in_a_socket_are_woken_at_once() {
    let blocked = |spec| {
        let mut setup = Setup::new(6);
        let channel = setup.channel(spec);
        let full = (0..2).map(|_| Step::Send(channel));
        let read = [Step::SleepFor(ms(10)), Step::Receive(channel), Step::SleepFor(ms(10))];
        let rest = (0..5).map(|_| Step::Receive(channel));
        setup.spawn(Nanos::ZERO, script("reader", full.chain(read).chain(rest)).0);
        for n in 0..4 {
            let (writer, _) = script("writer", [Step::SleepFor(us(n + 1)), Step::Send(channel)]);
            setup.spawn(Nanos::ZERO, writer);
        }
        let outcome = run(ideal(6), setup);
        let writers = outcome.tasks.iter().filter(|task| &*task.comm == "writer");
        writers.map(|task| task.counters.nr_voluntary_switches).sum::<u64>()
    };
    // Each sleeps, waits and exits: three times. The four at the socket are woken by the first message that
    // is read; one gets its place, and three wait once more.
    let (of_a_pipe, of_a_socket) = (blocked(pipe(2, 1)), blocked(ChannelSpec::new(2)));
    assert!(of_a_pipe == 12 && of_a_socket >= 15, "{of_a_pipe} {of_a_socket}");
}

/// machine.md 5.6: a hypervisor takes the CPU from its guest while an interrupt is on its way.
#[test]
fn what_an_interrupt_from_another_cpu_takes_of_the_one_it_comes_to() {
    let finished = |percent| {
        let mut setup = Setup::new(2);
        let channel = setup.channel(FREE_CHANNEL);
        let on = |cpu, policy, task: (TaskSpec, Clock)| {
            (TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), policy, ..task.0 }, task.1)
        };
        let (hog, done) = on(1, fifo(1), script("hog", [Step::Compute(ms(5))]));
        let (reader, read) = on(1, fifo(2), script("reader", [Step::Receive(channel)]));
        let (writer, _) = on(0, fifo(1), script("writer", [Step::Compute(ms(1)), Step::Send(channel)]));
        setup.spawn_on(Nanos::ZERO, Some(CpuId(1)), reader);
        setup.spawn_on(us(1), Some(CpuId(1)), hog);
        setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), writer);
        let mut spec = ideal(2);
        spec.costs.ipi = ByDistance { own: us(1), same_node: us(3), shared_cache: us(3), ..spec.costs.ipi };
        spec.costs.ipi_stolen_percent = percent;
        run(spec, setup);
        (read.borrow()[1], done.borrow()[1])
    };
    let (read, done) = finished(0);
    assert_eq!(finished(100), (read, done + us(3)), "the reader comes as soon, the hog loses the way");
}
