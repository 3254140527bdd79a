//! Programs as trees: sequences, loops, work in bursts.

use super::action::{Action, Observer, Overrun, TimeVar};
use super::template::Child;
use super::text::Text;
use crate::dist::Dist;
use crate::flag::Flag;
use crate::latency::LatencyRecorder;
use machine::{BarrierId, ChannelId, ForkKind, LoneStep};
use scheduler::{ClampRequest, MutexId, Nanos};
use std::rc::Rc;

/// One node of the tree.
#[derive(Clone, Debug)]
pub enum Op {
    /// A step that is the same each time, and concerns no other task.
    Step(LoneStep),
    /// Any other leaf.
    Do(Action),
    /// Repeat a block.
    Loop {
        /// How often.
        times: Times,
        /// What.
        body: Block,
    },
    /// Use CPU time in bursts with waits in between: `total` is drawn once, then `burst` and `gap` until it
    /// is used up. No gap follows the last burst; a burst that was drawn as zero takes a nanosecond.
    Bursts {
        /// CPU time altogether.
        total: Dist,
        /// CPU time of one burst.
        burst: Dist,
        /// Sleep between two bursts.
        gap: Dist,
    },
}

/// How often a loop is repeated. The condition is looked at before each pass.
#[derive(Clone, Debug)]
pub enum Times {
    /// So many passes.
    Count(u64),
    /// For ever.
    Forever,
    /// While this span has not passed since the loop was entered.
    For(Nanos),
    /// Until this time of the run.
    Until(Nanos),
    /// Until somebody raises the flag.
    UntilRaised(Flag),
}

/// A sequence of operations. Each method adds one at the end.
#[derive(Clone, Debug, Default)]
pub struct Block(pub(super) Vec<Op>);

impl Block {
    /// An empty block.
    pub fn new() -> Block {
        Block::default()
    }

    /// The operations in order.
    pub fn ops(&self) -> &[Op] {
        &self.0
    }

    /// Any operation.
    pub fn op(mut self, op: Op) -> Block {
        self.0.push(op);
        self
    }

    /// Any action.
    pub fn act(self, action: Action) -> Block {
        self.op(Op::Do(action))
    }

    /// [`Op::Step`].
    pub fn step(self, step: LoneStep) -> Block {
        self.op(Op::Step(step))
    }

    /// All of another block.
    pub fn then(mut self, other: Block) -> Block {
        self.0.extend(other.0);
        self
    }

    /// [`Op::Loop`].
    pub fn repeat(self, times: Times, body: Block) -> Block {
        self.op(Op::Loop { times, body })
    }

    /// [`Times::Forever`].
    pub fn forever(self, body: Block) -> Block {
        self.repeat(Times::Forever, body)
    }

    /// [`Op::Bursts`].
    pub fn bursts(self, total: impl Into<Dist>, burst: impl Into<Dist>, gap: impl Into<Dist>) -> Block {
        self.op(Op::Bursts { total: total.into(), burst: burst.into(), gap: gap.into() })
    }

    /// [`Action::Run`].
    pub fn run(self, time: impl Into<Dist>) -> Block {
        self.act(Action::Run(time.into()))
    }

    /// [`Action::Spin`].
    pub fn spin(self, time: impl Into<Dist>) -> Block {
        self.act(Action::Spin(time.into()))
    }

    /// [`Action::Sleep`].
    pub fn sleep(self, time: impl Into<Dist>) -> Block {
        self.act(Action::Sleep(time.into()))
    }

    /// [`Action::SleepUntil`].
    pub fn sleep_until(self, var: TimeVar) -> Block {
        self.act(Action::SleepUntil(var))
    }

    /// [`Action::Mark`].
    pub fn mark(self, var: TimeVar) -> Block {
        self.act(Action::Mark(var))
    }

    /// [`Action::Advance`].
    pub fn advance(self, var: TimeVar, by: impl Into<Dist>, overrun: Overrun) -> Block {
        self.act(Action::Advance { var, by: by.into(), overrun })
    }

    /// [`Action::Probe`].
    pub fn probe(self, since: TimeVar, recorder: &LatencyRecorder) -> Block {
        self.act(Action::Probe { since, recorder: recorder.clone() })
    }

    /// [`Action::Iteration`].
    pub fn iteration(self) -> Block {
        self.act(Action::Iteration)
    }

    /// [`machine::Step::Lock`].
    pub fn lock(self, mutex: MutexId) -> Block {
        self.step(LoneStep::Lock(mutex))
    }

    /// [`machine::Step::Unlock`].
    pub fn unlock(self, mutex: MutexId) -> Block {
        self.step(LoneStep::Unlock(mutex))
    }

    /// [`machine::Step::Send`].
    pub fn send(self, channel: ChannelId) -> Block {
        self.step(LoneStep::Send(channel))
    }

    /// [`machine::Step::Receive`].
    pub fn receive(self, channel: ChannelId) -> Block {
        self.step(LoneStep::Receive(channel))
    }

    /// [`machine::Step::SetSlice`]; none: nothing.
    pub fn slice(self, slice: Option<Nanos>) -> Block {
        match slice {
            Some(slice) => self.step(LoneStep::SetSlice(slice)),
            None => self,
        }
    }

    /// [`machine::Step::SetClamps`]; none: nothing.
    pub fn clamps(self, request: Option<ClampRequest>) -> Block {
        match request {
            Some(request) => self.step(LoneStep::SetClamps(request)),
            None => self,
        }
    }

    /// [`machine::Step::BarrierWait`].
    pub fn barrier(self, barrier: BarrierId) -> Block {
        self.step(LoneStep::BarrierWait(barrier))
    }

    /// [`Action::Fork`].
    pub fn fork(self, child: impl Into<Child>, kind: ForkKind) -> Block {
        self.act(Action::Fork { child: child.into(), kind })
    }

    /// [`machine::Step::Exec`].
    pub fn exec(self, comm: &str) -> Block {
        self.step(LoneStep::Exec(comm.into()))
    }

    /// [`machine::Step::WaitChild`].
    pub fn wait_child(self) -> Block {
        self.step(LoneStep::WaitChild)
    }

    /// [`Action::Marker`].
    pub fn marker(self, text: impl Into<Text>) -> Block {
        self.act(Action::Marker(text.into()))
    }

    /// [`Action::Raise`].
    pub fn raise(self, flag: &Flag) -> Block {
        self.act(Action::Raise(flag.clone()))
    }

    /// [`Action::Observe`].
    pub fn observe(self, observer: impl Observer + 'static) -> Block {
        self.act(Action::Observe(Rc::new(observer)))
    }
}

impl FromIterator<Op> for Block {
    fn from_iter<I: IntoIterator<Item = Op>>(ops: I) -> Block {
        Block(ops.into_iter().collect())
    }
}
