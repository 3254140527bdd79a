//! RT_PUSH_IPI: a CPU that lowered its priority asks overloaded CPUs to push, by interrupt (rt-class 6).
//!
//! Nothing moves synchronously: the requester goes on with its pick, and the task arrives later. Three
//! walkers:
//!
//! - root domain (2017): one walker for all. A request counts itself in `loop_next`; only if no walker is
//!   under way does it start one. The walker visits every overloaded CPU, and starts over if requests came
//!   meanwhile.
//! - per source (2015): each requesting CPU has a walker, which visits the CPUs that have something better
//!   than its own best. A request during the walk makes it start over.
//! - broadcast (a draft, never merged): every overloaded CPU is interrupted at once.
//!
//! A walker that is under way when the rule changes finishes as what it was: the interrupt is recognised by
//! whose cursor stands on the interrupted CPU.

use super::RtDomain;
use super::push::{HowMany, push_asked};
use crate::platform::{Access, Cost, Ipi, Line, Lock, Platform, RootLine};
use crate::registry::{PushIpiWalker, PushSource, RtoSkipSelf};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::{CpuId, CpuMask, RootId, ThisCpu};
use alloc::boxed::Box;
use core::cell::Cell;

/// State of all walkers of a root domain.
#[derive(Debug)]
pub(super) struct Walkers {
    requests: Line,
    lock: Lock,
    root: RootWalker,
    source: Box<[SourceWalker]>,
}

/// The root domain's walker (6.4).
#[derive(Debug, Default)]
struct RootWalker {
    /// rto_cpu: the CPU that is asked to push; none: no walker. Under [`Lock::Rto`].
    cursor: Cell<Option<CpuId>>,
    /// rto_loop_next: requests ever made. Atomic, on [`RootLine::PushRequest`].
    loop_next: Cell<u64>,
    /// rto_loop: the requests that the walker has accounted for. Under [`Lock::Rto`].
    loop_done: Cell<u64>,
    /// rto_loop_start: closed while a requester tries to start a walker. Atomic, on
    /// [`RootLine::PushRequest`].
    gate: Cell<bool>,
}

/// The walker of one requesting CPU (6.3): under [`Lock::PushWalker`], and on that CPU's own line.
#[derive(Debug, Default)]
struct SourceWalker {
    executing: Cell<bool>,
    restart: Cell<bool>,
    cursor: Cell<CpuId>,
}

impl Walkers {
    /// None is under way; the machine has `cpus` CPUs.
    pub(super) fn new(root: RootId, cpus: usize) -> Walkers {
        Walkers {
            requests: Line::Root(root, RootLine::PushRequest),
            lock: Lock::Rto(root),
            root: RootWalker::default(),
            source: (0..cpus).map(|_| SourceWalker::default()).collect(),
        }
    }

    /// Whether the root domain's walker is under way.
    pub(super) fn root_active(&self) -> bool {
        self.root.cursor.get().is_some()
    }

    /// Whether the walker of a requesting CPU is under way.
    pub(super) fn source_active(&self, source: CpuId) -> bool {
        self.source[source.index()].executing.get()
    }
}

/// The queue's CPU lowered its priority, and another one is overloaded. Its lock stays held.
pub(super) async fn tell_cpu_to_push<P: Platform>(rq: &RqGuard<'_, P>) {
    let (me, source) = (rq.me, rq.cpu);
    match me.k.config.rules.push_ipi_walker.get() {
        PushIpiWalker::RootDomain => request_root(me, source).await,
        PushIpiWalker::PerSource => request_source(me, source).await,
        PushIpiWalker::Broadcast => {
            let mut overloaded: CpuMask = me.k.root_domain(source).rt.overload.mask();
            overloaded.remove(source);
            overloaded.iter().for_each(|hop| send(me, hop, source));
        }
    }
}

fn send<P: Platform>(me: ThisCpu<'_, P>, hop: CpuId, source: CpuId) {
    bump(&me.k.totals.push_ipis);
    me.k.platform.send_ipi(me.id, hop, Ipi::Push(source));
}

/// Handler of [`Ipi::Push`], in hard interrupt: pushes, then sends the walker on.
pub async fn push_irq_work<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) {
    let walkers = &me.k.root_domain(source).rt.walkers;
    let of_source = &walkers.source[source.index()];
    if of_source.executing.get() && of_source.cursor.get() == me.id {
        visit_for_source(me, source).await;
    } else if walkers.root.cursor.get() == Some(me.id) {
        visit_for_root(me, source).await;
    } else {
        push_all(me).await;
    }
}

/// Whether this CPU's own queue may have something to push, read without its lock.
fn has_pushable<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    match me.k.config.rules.push_source.get() {
        PushSource::PushableList => me.k.rq(me.id).published.rt_pushable.get(),
        PushSource::QueueScan => me.k.root_domain(me.id).rt.overload.contains(me.id),
    }
}

async fn push_all<P: Platform>(me: ThisCpu<'_, P>) {
    if has_pushable(me) {
        let mut rq = me.lock(me.id).await;
        rq.update_clock();
        push_asked(rq, HowMany::All).await;
    }
}

async fn request_root<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) {
    let walkers = &me.k.root_domain(source).rt.walkers;
    let walker = &walkers.root;
    me.touch(walkers.requests, Access::Write);
    walker.loop_next.set(walker.loop_next.get() + 1);
    if walker.gate.replace(true) {
        return;
    }
    me.k.platform.acquire(me.id, walkers.lock).await;
    let hop = if walker.cursor.get().is_none() { rto_next_cpu(me, source) } else { None };
    me.k.platform.release(me.id, walkers.lock);
    me.touch(walkers.requests, Access::Write);
    walker.gate.set(false);
    if let Some(hop) = hop {
        send(me, hop, source);
    }
}

async fn visit_for_root<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) {
    push_all(me).await;
    let lock = me.k.root_domain(source).rt.walkers.lock;
    me.k.platform.acquire(me.id, lock).await;
    let hop = rto_next_cpu(me, source);
    me.k.platform.release(me.id, lock);
    if let Some(hop) = hop {
        send(me, hop, source);
    }
}

/// Moves the cursor of the root domain of `source` to the next overloaded CPU above it; at the end, back
/// to the start if requests came since it last started. Under [`Lock::Rto`].
fn rto_next_cpu<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) -> Option<CpuId> {
    let RtDomain { walkers, overload, .. } = &me.k.root_domain(source).rt;
    let walker = &walkers.root;
    let skip_self = me.k.config.rules.rto_skip_self.get() == RtoSkipSelf::On;
    overload.touch(me, Access::Read);
    loop {
        let mut hop = overload.next(walker.cursor.get());
        if skip_self && hop == Some(me.id) {
            hop = overload.next(hop);
        }
        walker.cursor.set(hop);
        if hop.is_some() {
            return hop;
        }
        me.touch(walkers.requests, Access::Read);
        if walker.loop_done.replace(walker.loop_next.get()) == walker.loop_next.get() {
            return None;
        }
    }
}

async fn request_source<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) {
    let walker = &me.k.root_domain(source).rt.walkers.source[source.index()];
    me.touch(Line::Rq(source), Access::Write);
    if walker.executing.get() {
        me.k.platform.acquire(me.id, Lock::PushWalker(source)).await;
        let still = walker.executing.get();
        if still {
            walker.restart.set(true);
        }
        me.k.platform.release(me.id, Lock::PushWalker(source));
        if still {
            return;
        }
    }
    walker.cursor.set(source);
    if let Some(hop) = find_next_push_cpu(me, source) {
        walker.executing.set(true);
        send(me, hop, source);
    }
}

/// One push, then the next hop; a restart may come back here at once.
async fn visit_for_source<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) {
    let walker = &me.k.root_domain(source).rt.walkers.source[source.index()];
    loop {
        if has_pushable(me) {
            let mut rq = me.lock(me.id).await;
            rq.update_clock();
            push_asked(rq, HowMany::One).await;
        }
        me.k.platform.acquire(me.id, Lock::PushWalker(source)).await;
        me.touch(Line::Rq(source), Access::Write);
        if walker.restart.replace(false) {
            walker.cursor.set(source);
        }
        let hop = find_next_push_cpu(me, source);
        if hop.is_none() {
            walker.executing.set(false);
        }
        me.k.platform.release(me.id, Lock::PushWalker(source));
        match hop {
            None => return,
            Some(hop) if hop == me.id => {}
            Some(hop) => {
                send(me, hop, source);
                return;
            }
        }
    }
}

/// The next overloaded CPU after the cursor, around to the source, that has something better than the
/// source's best. The cursor follows.
fn find_next_push_cpu<P: Platform>(me: ThisCpu<'_, P>, source: CpuId) -> Option<CpuId> {
    let RtDomain { walkers, overload, .. } = &me.k.root_domain(source).rt;
    let walker = &walkers.source[source.index()];
    overload.touch(me, Access::Read);
    let best = me.k.rq(source).published.rt_highest.get();
    let mut cursor = walker.cursor.get();
    let found = loop {
        // Circular order: source + 1 to the end, then 0 to source - 1.
        let before_source = |hop: &CpuId| *hop < source;
        let above = overload.next(Some(cursor));
        let hop = if cursor >= source {
            above.or_else(|| overload.next(None).filter(before_source))
        } else {
            above.filter(before_source)
        };
        let Some(hop) = hop else { break None };
        cursor = hop;
        me.charge(Cost::ScanCpu);
        me.touch(Line::Rq(hop), Access::Read);
        if me.k.rq(hop).published.rt_next.get().beats(best) {
            break Some(hop);
        }
    };
    walker.cursor.set(found.unwrap_or(source));
    found
}
