//! The tracepoints of [`Activity`] with their fields: one table for all readers and writers.
//!
//! A reader finds the fields of an event in its format by their names here, and [`Tracepoint::make`] makes
//! the event of their values. A writer takes the values from [`Activity::values`]. Fields that we do not keep
//! are not in the table.

use super::values::Values;
use super::{
    Activity, BlockDevice, BlockRq, CpuIdle, HrtimerExpireEntry, HrtimerMode, IrqHandlerEntry,
    IrqHandlerExit, IrqVector, IrqVectorKind, Packet, SECTOR_BYTES, SchedStatDelay, SoftirqVec, SysEnter,
    SysExit, Syscall, TimerExpireEntry, WorkqueueExecute,
};
use crate::model::{Cpu, Pid};

/// What a field is in the kernel's records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldType {
    /// `int`.
    Int,
    /// `unsigned int`.
    UnsignedInt,
    /// `s64`, `long`.
    S64,
    /// `u64`, `unsigned long`, `sector_t`.
    U64,
    /// A pointer to an object.
    Address,
    /// A pointer to a function, which has a name.
    Function,
    /// Text of any length.
    Text,
    /// Text in place: a task's name.
    Comm,
    /// Text in place: letters for what a block request does.
    Letters,
    /// This element of an array of `unsigned long`.
    Element(usize),
}

/// A field of a tracepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    /// Its name in the record.
    pub(crate) name: &'static str,
    /// Its name in the kernel's text.
    pub(crate) printed: &'static str,
    pub(crate) of: FieldType,
    /// Not all kernels have it.
    pub(crate) optional: bool,
}

const fn field(name: &'static str, of: FieldType) -> Field {
    Field { name, printed: name, of, optional: false }
}

const fn optional(name: &'static str, of: FieldType) -> Field {
    Field { name, printed: name, of, optional: true }
}

/// A tracepoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracepoint {
    pub(crate) name: &'static str,
    /// The folder of its description under tracefs `events`.
    pub(crate) system: &'static str,
    pub(crate) fields: &'static [Field],
    /// The event with these values; `None` if one is missing or out of range.
    pub(crate) make: fn(&Values) -> Option<Activity>,
}

impl Tracepoint {
    /// The one with this name.
    pub(crate) fn find(name: &str) -> Option<&'static Tracepoint> {
        TRACEPOINTS.into_iter().find(|tracepoint| tracepoint.name == name)
    }
}

/// All of them.
pub(crate) const TRACEPOINTS: [&Tracepoint; 36] = [
    &IRQ_HANDLER_ENTRY,
    &IRQ_HANDLER_EXIT,
    &LOCAL_TIMER_ENTRY,
    &LOCAL_TIMER_EXIT,
    &RESCHEDULE_ENTRY,
    &RESCHEDULE_EXIT,
    &CALL_FUNCTION_ENTRY,
    &CALL_FUNCTION_EXIT,
    &CALL_FUNCTION_SINGLE_ENTRY,
    &CALL_FUNCTION_SINGLE_EXIT,
    &IRQ_WORK_ENTRY,
    &IRQ_WORK_EXIT,
    &SOFTIRQ_RAISE,
    &SOFTIRQ_ENTRY,
    &SOFTIRQ_EXIT,
    &HRTIMER_START,
    &HRTIMER_CANCEL,
    &HRTIMER_EXPIRE_ENTRY,
    &HRTIMER_EXPIRE_EXIT,
    &TIMER_EXPIRE_ENTRY,
    &TIMER_EXPIRE_EXIT,
    &WORKQUEUE_EXECUTE_START,
    &WORKQUEUE_EXECUTE_END,
    &BLOCK_RQ_ISSUE,
    &BLOCK_RQ_COMPLETE,
    &SCHED_STAT_WAIT,
    &SCHED_STAT_SLEEP,
    &SCHED_STAT_BLOCKED,
    &SCHED_STAT_IOWAIT,
    &SYS_ENTER,
    &SYS_EXIT,
    &NET_DEV_XMIT,
    &NETIF_RECEIVE_SKB,
    &SCHEDLAB_PROGRAM,
    &SCHED_WAKE_IDLE_WITHOUT_IPI,
    &CPU_IDLE,
];

const IRQ_HANDLER_ENTRY: Tracepoint = Tracepoint {
    name: "irq_handler_entry",
    system: "irq",
    fields: &[field("irq", FieldType::Int), field("name", FieldType::Text)],
    make: |v| Some(Activity::IrqHandlerEntry(IrqHandlerEntry { irq: v.i32(0)?, name: v.text(1)? })),
};

const IRQ_HANDLER_EXIT: Tracepoint = Tracepoint {
    name: "irq_handler_exit",
    system: "irq",
    fields: &[field("irq", FieldType::Int), field("ret", FieldType::Int)],
    make: |v| Some(Activity::IrqHandlerExit(IrqHandlerExit { irq: v.i32(0)?, handled: v.number(1)? != 0 })),
};

const VECTOR_FIELDS: &[Field] = &[field("vector", FieldType::Int)];

fn vector(values: &Values, kind: IrqVectorKind) -> Option<IrqVector> {
    Some(IrqVector { kind, vector: values.u8(0)? })
}

const LOCAL_TIMER_ENTRY: Tracepoint = Tracepoint {
    name: "local_timer_entry",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::LocalTimer).map(Activity::IrqVectorEntry),
};

const LOCAL_TIMER_EXIT: Tracepoint = Tracepoint {
    name: "local_timer_exit",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::LocalTimer).map(Activity::IrqVectorExit),
};

const RESCHEDULE_ENTRY: Tracepoint = Tracepoint {
    name: "reschedule_entry",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::Reschedule).map(Activity::IrqVectorEntry),
};

const RESCHEDULE_EXIT: Tracepoint = Tracepoint {
    name: "reschedule_exit",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::Reschedule).map(Activity::IrqVectorExit),
};

const CALL_FUNCTION_ENTRY: Tracepoint = Tracepoint {
    name: "call_function_entry",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::CallFunction).map(Activity::IrqVectorEntry),
};

const CALL_FUNCTION_EXIT: Tracepoint = Tracepoint {
    name: "call_function_exit",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::CallFunction).map(Activity::IrqVectorExit),
};

const CALL_FUNCTION_SINGLE_ENTRY: Tracepoint = Tracepoint {
    name: "call_function_single_entry",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::CallFunctionSingle).map(Activity::IrqVectorEntry),
};

const CALL_FUNCTION_SINGLE_EXIT: Tracepoint = Tracepoint {
    name: "call_function_single_exit",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::CallFunctionSingle).map(Activity::IrqVectorExit),
};

const IRQ_WORK_ENTRY: Tracepoint = Tracepoint {
    name: "irq_work_entry",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::IrqWork).map(Activity::IrqVectorEntry),
};

const IRQ_WORK_EXIT: Tracepoint = Tracepoint {
    name: "irq_work_exit",
    system: "irq_vectors",
    fields: VECTOR_FIELDS,
    make: |v| vector(v, IrqVectorKind::IrqWork).map(Activity::IrqVectorExit),
};

const SOFTIRQ_FIELDS: &[Field] = &[field("vec", FieldType::UnsignedInt)];

const SOFTIRQ_RAISE: Tracepoint = Tracepoint {
    name: "softirq_raise",
    system: "irq",
    fields: SOFTIRQ_FIELDS,
    make: |v| v.u8(0).map(|vec| Activity::SoftirqRaise(SoftirqVec(vec))),
};

const SOFTIRQ_ENTRY: Tracepoint = Tracepoint {
    name: "softirq_entry",
    system: "irq",
    fields: SOFTIRQ_FIELDS,
    make: |v| v.u8(0).map(|vec| Activity::SoftirqEntry(SoftirqVec(vec))),
};

const SOFTIRQ_EXIT: Tracepoint = Tracepoint {
    name: "softirq_exit",
    system: "irq",
    fields: SOFTIRQ_FIELDS,
    make: |v| v.u8(0).map(|vec| Activity::SoftirqExit(SoftirqVec(vec))),
};

const HRTIMER_START: Tracepoint = Tracepoint {
    name: "hrtimer_start",
    system: "timer",
    fields: &[
        field("hrtimer", FieldType::Address),
        field("function", FieldType::Function),
        field("expires", FieldType::S64),
        field("softexpires", FieldType::S64),
        optional("mode", FieldType::UnsignedInt),
    ],
    make: |v| {
        Some(Activity::HrtimerStart {
            hrtimer: v.address(0)?,
            function: v.text(1)?,
            expires_ns: v.number(2)?,
            softexpires_ns: v.number(3)?,
            mode: v.u8(4).map(HrtimerMode),
        })
    },
};

const HRTIMER_CANCEL: Tracepoint = Tracepoint {
    name: "hrtimer_cancel",
    system: "timer",
    fields: &[field("hrtimer", FieldType::Address)],
    make: |v| v.address(0).map(Activity::HrtimerCancel),
};

const HRTIMER_EXPIRE_ENTRY: Tracepoint = Tracepoint {
    name: "hrtimer_expire_entry",
    system: "timer",
    fields: &[
        field("hrtimer", FieldType::Address),
        field("function", FieldType::Function),
        field("now", FieldType::S64),
    ],
    make: |v| {
        let (hrtimer, function) = (v.address(0)?, v.text(1)?);
        Some(Activity::HrtimerExpireEntry(HrtimerExpireEntry { hrtimer, function, now_ns: v.number(2)? }))
    },
};

const HRTIMER_EXPIRE_EXIT: Tracepoint = Tracepoint {
    name: "hrtimer_expire_exit",
    system: "timer",
    fields: &[field("hrtimer", FieldType::Address)],
    make: |v| v.address(0).map(Activity::HrtimerExpireExit),
};

const TIMER_EXPIRE_ENTRY: Tracepoint = Tracepoint {
    name: "timer_expire_entry",
    system: "timer",
    fields: &[
        field("timer", FieldType::Address),
        field("function", FieldType::Function),
        field("now", FieldType::U64),
    ],
    make: |v| {
        let (timer, function) = (v.address(0)?, v.text(1)?);
        Some(Activity::TimerExpireEntry(TimerExpireEntry { timer, function, now_jiffies: v.u64(2)? }))
    },
};

const TIMER_EXPIRE_EXIT: Tracepoint = Tracepoint {
    name: "timer_expire_exit",
    system: "timer",
    fields: &[field("timer", FieldType::Address)],
    make: |v| v.address(0).map(Activity::TimerExpireExit),
};

const WORKQUEUE_EXECUTE_START: Tracepoint = Tracepoint {
    name: "workqueue_execute_start",
    system: "workqueue",
    fields: &[field("work", FieldType::Address), field("function", FieldType::Function)],
    make: |v| {
        let (work, function) = (v.address(0)?, Some(v.text(1)?));
        Some(Activity::WorkqueueExecuteStart(WorkqueueExecute { work, function }))
    },
};

const WORKQUEUE_EXECUTE_END: Tracepoint = Tracepoint {
    name: "workqueue_execute_end",
    system: "workqueue",
    fields: &[field("work", FieldType::Address), optional("function", FieldType::Function)],
    make: |v| {
        let (work, function) = (v.address(0)?, v.text(1));
        Some(Activity::WorkqueueExecuteEnd(WorkqueueExecute { work, function }))
    },
};

fn block_rq(v: &Values) -> Option<BlockRq> {
    let (dev, sector, rwbs) = (BlockDevice(v.u32(0)?), v.u64(1)?, v.text(3)?);
    let bytes = match v.0[4] {
        Some(_) => v.u32(4)?,
        None => v.u32(2)?.saturating_mul(SECTOR_BYTES),
    };
    Some(BlockRq { dev, sector, bytes, rwbs })
}

const BLOCK_RQ_ISSUE: Tracepoint = Tracepoint {
    name: "block_rq_issue",
    system: "block",
    fields: &[
        field("dev", FieldType::UnsignedInt),
        field("sector", FieldType::U64),
        field("nr_sector", FieldType::UnsignedInt),
        field("rwbs", FieldType::Letters),
        optional("bytes", FieldType::UnsignedInt),
    ],
    make: |v| block_rq(v).map(Activity::BlockRqIssue),
};

const BLOCK_RQ_COMPLETE: Tracepoint = Tracepoint {
    name: "block_rq_complete",
    system: "block",
    fields: &[
        field("dev", FieldType::UnsignedInt),
        field("sector", FieldType::U64),
        field("nr_sector", FieldType::UnsignedInt),
        field("rwbs", FieldType::Letters),
    ],
    make: |v| block_rq(v).map(Activity::BlockRqComplete),
};

const DELAY_FIELDS: &[Field] =
    &[field("comm", FieldType::Comm), field("pid", FieldType::Int), field("delay", FieldType::U64)];

fn delay(v: &Values) -> Option<SchedStatDelay> {
    Some(SchedStatDelay { comm: v.text(0)?, pid: Pid(v.i32(1)?), delay_ns: v.u64(2)? })
}

const SCHED_STAT_WAIT: Tracepoint = Tracepoint {
    name: "sched_stat_wait",
    system: "sched",
    fields: DELAY_FIELDS,
    make: |v| delay(v).map(Activity::SchedStatWait),
};

const SCHED_STAT_SLEEP: Tracepoint = Tracepoint {
    name: "sched_stat_sleep",
    system: "sched",
    fields: DELAY_FIELDS,
    make: |v| delay(v).map(Activity::SchedStatSleep),
};

const SCHED_STAT_BLOCKED: Tracepoint = Tracepoint {
    name: "sched_stat_blocked",
    system: "sched",
    fields: DELAY_FIELDS,
    make: |v| delay(v).map(Activity::SchedStatBlocked),
};

const SCHED_STAT_IOWAIT: Tracepoint = Tracepoint {
    name: "sched_stat_iowait",
    system: "sched",
    fields: DELAY_FIELDS,
    make: |v| delay(v).map(Activity::SchedStatIowait),
};

/// A negative number stands for no call: the task returns from a signal's handler.
fn numbered(number: Option<i64>) -> Syscall {
    Syscall { number: number.and_then(|number| u16::try_from(number).ok()), name: None }
}

const SYS_ENTER: Tracepoint = Tracepoint {
    name: "sys_enter",
    system: "raw_syscalls",
    fields: &[
        field("id", FieldType::S64),
        Field { name: "args", printed: "args", of: FieldType::Element(0), optional: true },
        Field { name: "args", printed: "args", of: FieldType::Element(1), optional: true },
    ],
    make: |v| {
        let args = [1, 2].map(|n| v.u64(n).unwrap_or(0));
        Some(Activity::SysEnter(SysEnter { call: numbered(Some(v.number(0)?)), args }))
    },
};

const SYS_EXIT: Tracepoint = Tracepoint {
    name: "sys_exit",
    system: "raw_syscalls",
    fields: &[field("id", FieldType::S64), field("ret", FieldType::S64)],
    make: |v| {
        let call = numbered(Some(v.number(0)?));
        Some(Activity::SysExit(SysExit { call, ret: v.number(1)? }))
    },
};

const PACKET_FIELDS: &[Field] = &[
    Field { name: "name", printed: "dev", of: FieldType::Text, optional: false },
    field("len", FieldType::UnsignedInt),
];

fn packet(v: &Values) -> Option<Packet> {
    Some(Packet { dev: v.text(0)?, len: v.u32(1)? })
}

const NET_DEV_XMIT: Tracepoint = Tracepoint {
    name: "net_dev_xmit",
    system: "net",
    fields: PACKET_FIELDS,
    make: |v| packet(v).map(Activity::NetDevXmit),
};

const NETIF_RECEIVE_SKB: Tracepoint = Tracepoint {
    name: "netif_receive_skb",
    system: "net",
    fields: PACKET_FIELDS,
    make: |v| packet(v).map(Activity::NetifReceiveSkb),
};

const SCHED_WAKE_IDLE_WITHOUT_IPI: Tracepoint = Tracepoint {
    name: "sched_wake_idle_without_ipi",
    system: "sched",
    fields: &[field("cpu", FieldType::Int)],
    make: |v| v.u32(0).map(|cpu| Activity::SchedWakeIdleWithoutIpi(Cpu(cpu))),
};

const CPU_IDLE: Tracepoint = Tracepoint {
    name: "cpu_idle",
    system: "power",
    fields: &[field("state", FieldType::UnsignedInt), field("cpu_id", FieldType::UnsignedInt)],
    make: |v| Some(Activity::CpuIdle(CpuIdle { state: v.u32(0)?, cpu: Cpu(v.u32(1)?) })),
};

const SCHEDLAB_PROGRAM: Tracepoint = Tracepoint {
    name: "schedlab_program",
    system: "schedlab",
    fields: &[field("text", FieldType::Text)],
    make: |v| v.text(0).map(Activity::SchedlabProgram),
};

impl Activity {
    /// Its tracepoint.
    pub(crate) fn tracepoint(&self) -> &'static Tracepoint {
        match self {
            Activity::IrqHandlerEntry(_) => &IRQ_HANDLER_ENTRY,
            Activity::IrqHandlerExit(_) => &IRQ_HANDLER_EXIT,
            Activity::IrqVectorEntry(v) => match v.kind {
                IrqVectorKind::LocalTimer => &LOCAL_TIMER_ENTRY,
                IrqVectorKind::Reschedule => &RESCHEDULE_ENTRY,
                IrqVectorKind::CallFunction => &CALL_FUNCTION_ENTRY,
                IrqVectorKind::CallFunctionSingle => &CALL_FUNCTION_SINGLE_ENTRY,
                IrqVectorKind::IrqWork => &IRQ_WORK_ENTRY,
            },
            Activity::IrqVectorExit(v) => match v.kind {
                IrqVectorKind::LocalTimer => &LOCAL_TIMER_EXIT,
                IrqVectorKind::Reschedule => &RESCHEDULE_EXIT,
                IrqVectorKind::CallFunction => &CALL_FUNCTION_EXIT,
                IrqVectorKind::CallFunctionSingle => &CALL_FUNCTION_SINGLE_EXIT,
                IrqVectorKind::IrqWork => &IRQ_WORK_EXIT,
            },
            Activity::SoftirqRaise(_) => &SOFTIRQ_RAISE,
            Activity::SoftirqEntry(_) => &SOFTIRQ_ENTRY,
            Activity::SoftirqExit(_) => &SOFTIRQ_EXIT,
            Activity::HrtimerStart { .. } => &HRTIMER_START,
            Activity::HrtimerCancel(_) => &HRTIMER_CANCEL,
            Activity::HrtimerExpireEntry(_) => &HRTIMER_EXPIRE_ENTRY,
            Activity::HrtimerExpireExit(_) => &HRTIMER_EXPIRE_EXIT,
            Activity::TimerExpireEntry(_) => &TIMER_EXPIRE_ENTRY,
            Activity::TimerExpireExit(_) => &TIMER_EXPIRE_EXIT,
            Activity::WorkqueueExecuteStart(_) => &WORKQUEUE_EXECUTE_START,
            Activity::WorkqueueExecuteEnd(_) => &WORKQUEUE_EXECUTE_END,
            Activity::BlockRqIssue(_) => &BLOCK_RQ_ISSUE,
            Activity::BlockRqComplete(_) => &BLOCK_RQ_COMPLETE,
            Activity::SchedStatWait(_) => &SCHED_STAT_WAIT,
            Activity::SchedStatSleep(_) => &SCHED_STAT_SLEEP,
            Activity::SchedStatBlocked(_) => &SCHED_STAT_BLOCKED,
            Activity::SchedStatIowait(_) => &SCHED_STAT_IOWAIT,
            Activity::SysEnter(_) => &SYS_ENTER,
            Activity::SysExit(_) => &SYS_EXIT,
            Activity::NetDevXmit(_) => &NET_DEV_XMIT,
            Activity::NetifReceiveSkb(_) => &NETIF_RECEIVE_SKB,
            Activity::SchedWakeIdleWithoutIpi(_) => &SCHED_WAKE_IDLE_WITHOUT_IPI,
            Activity::CpuIdle(_) => &CPU_IDLE,
            Activity::SchedlabProgram(_) => &SCHEDLAB_PROGRAM,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::Value;
    use super::*;
    use crate::strings::Strings;

    /// Values for all fields of a tracepoint, each another one.
    fn some_values(of: &Tracepoint, strings: &mut Strings) -> Values {
        let mut values = Values::default();
        for (n, field) in of.fields.iter().enumerate() {
            values.0[n] = Some(match field.of {
                FieldType::Function | FieldType::Text | FieldType::Comm | FieldType::Letters => {
                    Value::Text(strings.intern(&format!("text{n}")))
                }
                // The bytes of a block request are those of its sectors.
                _ if field.name == "bytes" => Value::Number(3 * 512),
                _ => Value::Number(n as i64 + 1),
            });
        }
        values
    }

    #[test]
    fn every_tracepoint_makes_an_event_of_its_own_with_the_same_values() {
        let mut strings = Strings::new();
        for tracepoint in TRACEPOINTS {
            let values = some_values(tracepoint, &mut strings);
            let made = (tracepoint.make)(&values).unwrap_or_else(|| panic!("{}", tracepoint.name));
            assert_eq!(made.name(), tracepoint.name);
            let mut back = made.values();
            back.0[tracepoint.fields.len()..].fill(None);
            if tracepoint.name == "irq_handler_exit" {
                back.0[1] = values.0[1];
            }
            assert_eq!(back, values, "{}", tracepoint.name);
        }
    }

    #[test]
    fn an_event_needs_all_fields_but_the_optional_ones() {
        let mut strings = Strings::new();
        for tracepoint in TRACEPOINTS {
            let values = some_values(tracepoint, &mut strings);
            for (n, field) in tracepoint.fields.iter().enumerate() {
                let mut without = values;
                without.0[n] = None;
                let made = (tracepoint.make)(&without).is_some();
                // The length in sectors is not asked for where there is one in bytes.
                let spare = tracepoint.name == "block_rq_issue" && field.name == "nr_sector";
                assert_eq!(made, field.optional || spare, "{} without {}", tracepoint.name, field.name);
            }
        }
    }
}
