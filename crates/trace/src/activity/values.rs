//! The values of an event's fields, in the order of its tracepoint's table.

use super::{Activity, CpuIdle, KernelAddress, Syscall};
use crate::strings::StrId;

/// The most fields that a tracepoint has here.
pub(crate) const MAX_FIELDS: usize = 5;

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A number; unsigned ones of 64 bits with their bits as they are.
    Number(i64),
    /// A text, or the name of a function.
    Text(StrId),
}

/// The values of a tracepoint's fields in their order; `None` for one that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Values(pub(crate) [Option<Value>; MAX_FIELDS]);

impl Values {
    pub(crate) fn of<const N: usize>(values: [Option<Value>; N]) -> Self {
        let mut all = [None; MAX_FIELDS];
        all[..N].copy_from_slice(&values);
        Values(all)
    }

    pub(super) fn number(&self, n: usize) -> Option<i64> {
        match self.0[n]? {
            Value::Number(number) => Some(number),
            Value::Text(_) => None,
        }
    }

    pub(super) fn text(&self, n: usize) -> Option<StrId> {
        match self.0[n]? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }

    pub(super) fn i32(&self, n: usize) -> Option<i32> {
        i32::try_from(self.number(n)?).ok()
    }

    pub(super) fn u32(&self, n: usize) -> Option<u32> {
        u32::try_from(self.number(n)?).ok()
    }

    pub(super) fn u8(&self, n: usize) -> Option<u8> {
        u8::try_from(self.number(n)?).ok()
    }

    pub(super) fn u64(&self, n: usize) -> Option<u64> {
        self.number(n).map(|number| number as u64)
    }

    pub(super) fn address(&self, n: usize) -> Option<KernelAddress> {
        self.u64(n).map(KernelAddress)
    }
}

impl Activity {
    /// The values of its tracepoint's fields, such that [`Tracepoint::make`](super::Tracepoint::make) makes
    /// it of them.
    pub(crate) fn values(&self) -> Values {
        let number = |number: i64| Some(Value::Number(number));
        let bits = |bits: u64| Some(Value::Number(bits as i64));
        let text = |text: StrId| Some(Value::Text(text));
        match *self {
            Activity::IrqHandlerEntry(e) => Values::of([number(e.irq.into()), text(e.name)]),
            Activity::IrqHandlerExit(e) => Values::of([number(e.irq.into()), number(e.handled.into())]),
            Activity::IrqVectorEntry(v) | Activity::IrqVectorExit(v) => Values::of([number(v.vector.into())]),
            Activity::SoftirqRaise(vec) | Activity::SoftirqEntry(vec) | Activity::SoftirqExit(vec) => {
                Values::of([number(vec.0.into())])
            }
            Activity::HrtimerStart { hrtimer, function, expires_ns, softexpires_ns, mode } => Values([
                bits(hrtimer.0),
                text(function),
                number(expires_ns),
                number(softexpires_ns),
                mode.and_then(|mode| number(mode.0.into())),
            ]),
            Activity::HrtimerCancel(address)
            | Activity::HrtimerExpireExit(address)
            | Activity::TimerExpireExit(address) => Values::of([bits(address.0)]),
            Activity::HrtimerExpireEntry(e) => {
                Values::of([bits(e.hrtimer.0), text(e.function), number(e.now_ns)])
            }
            Activity::TimerExpireEntry(e) => {
                Values::of([bits(e.timer.0), text(e.function), bits(e.now_jiffies)])
            }
            Activity::WorkqueueExecuteStart(e) | Activity::WorkqueueExecuteEnd(e) => {
                Values::of([bits(e.work.0), e.function.map(Value::Text)])
            }
            Activity::BlockRqIssue(rq) | Activity::BlockRqComplete(rq) => Values([
                number(rq.dev.0.into()),
                bits(rq.sector),
                number(rq.sectors().into()),
                text(rq.rwbs),
                number(rq.bytes.into()),
            ]),
            Activity::SchedStatWait(s)
            | Activity::SchedStatSleep(s)
            | Activity::SchedStatBlocked(s)
            | Activity::SchedStatIowait(s) => {
                Values::of([text(s.comm), number(s.pid.0.into()), bits(s.delay_ns)])
            }
            Activity::SysEnter(e) => {
                Values::of([number(call_number(e.call)), bits(e.args[0]), bits(e.args[1])])
            }
            Activity::SysExit(e) => Values::of([number(call_number(e.call)), number(e.ret)]),
            Activity::NetDevXmit(packet) | Activity::NetifReceiveSkb(packet) => {
                Values::of([text(packet.dev), number(packet.len.into())])
            }
            Activity::SchedWakeIdleWithoutIpi(cpu) => Values::of([number(cpu.0.into())]),
            Activity::CpuIdle(CpuIdle { state, cpu }) => {
                Values::of([number(state.into()), number(cpu.0.into())])
            }
            Activity::SchedlabProgram(told) => Values::of([text(told)]),
        }
    }
}

fn call_number(call: Syscall) -> i64 {
    call.number.map_or(-1, i64::from)
}
