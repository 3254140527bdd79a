//! The descriptions of our events, in the form of tracefs `events/*/*/format`: names and fields are the
//! kernel's, with the sizes of a 64-bit machine. Readers take every offset from these texts, and so do we
//! when we make records.

use std::fmt::Write;

/// As `events/header_page`.
pub(super) const HEADER_PAGE: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

/// As `events/header_event`.
pub(super) const HEADER_EVENT: &str = "\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
";

/// What every record begins with; then come the event's own fields.
const COMMON: &str = "\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

";
/// Bytes of these.
pub(super) const COMMON_SIZE: usize = 8;
/// Bytes of a name.
pub(super) const COMM_SIZE: usize = 16;

/// Bytes of the letters of a block request.
pub(super) const LETTERS_SIZE: usize = 10;
/// Arguments of a system call.
pub(super) const ARGUMENTS: usize = 6;

/// Type of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Comm,
    /// `pid_t`.
    Pid,
    Int,
    Long,
    U64,
    UnsignedLong,
    UnsignedInt,
    /// `void *`.
    Address,
    /// `rwbs`.
    Letters,
    /// An array of `unsigned long`.
    Arguments,
    /// Text behind the fields.
    DataLoc,
    /// Text to the end.
    Rest,
}

impl Type {
    pub(super) fn size(self) -> usize {
        match self {
            Type::Comm => COMM_SIZE,
            Type::Letters => LETTERS_SIZE,
            Type::Arguments => ARGUMENTS * 8,
            Type::Pid | Type::Int | Type::UnsignedInt | Type::DataLoc => 4,
            Type::Long | Type::U64 | Type::UnsignedLong | Type::Address => 8,
            Type::Rest => 0,
        }
    }

    pub(super) fn align(self) -> usize {
        match self {
            Type::Comm | Type::Letters | Type::Rest => 1,
            Type::Arguments => 8,
            other => other.size(),
        }
    }

    fn declaration(self, name: &str) -> String {
        match self {
            Type::Comm => format!("char {name}[{COMM_SIZE}]"),
            Type::Pid => format!("pid_t {name}"),
            Type::Letters => format!("char {name}[{LETTERS_SIZE}]"),
            Type::Arguments => format!("unsigned long {name}[{ARGUMENTS}]"),
            Type::Address => format!("void * {name}"),
            Type::UnsignedInt => format!("unsigned int {name}"),
            Type::Int => format!("int {name}"),
            Type::Long => format!("long {name}"),
            Type::U64 => format!("u64 {name}"),
            Type::UnsignedLong => format!("unsigned long {name}"),
            Type::DataLoc => format!("__data_loc char[] {name}"),
            Type::Rest => format!("char {name}[]"),
        }
    }

    fn is_signed(self) -> bool {
        matches!(self, Type::Pid | Type::Int | Type::Long)
    }
}

/// A field of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) of: Type,
}

const fn comm(name: &'static str) -> Field {
    Field { name, of: Type::Comm }
}

const fn pid(name: &'static str) -> Field {
    Field { name, of: Type::Pid }
}

const fn int(name: &'static str) -> Field {
    Field { name, of: Type::Int }
}

/// An event: its number and its description.
pub(super) struct Description {
    name: &'static str,
    pub(super) id: u16,
    fields: &'static [Field],
    print: &'static str,
}

impl Description {
    /// As the event's `format`.
    pub(super) fn text(&self) -> String {
        describe(self.name, self.id, self.fields, self.print)
    }
}

/// A description as the event's `format`.
pub(super) fn describe(name: &str, id: u16, fields: &[Field], print: &str) -> String {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}");
    let mut offset = COMMON_SIZE;
    for Field { name, of } in fields {
        offset = offset.next_multiple_of(of.align());
        let (declaration, size, signed) = (of.declaration(name), of.size(), u8::from(of.is_signed()));
        // Writing into a text cannot fail.
        let _ = writeln!(text, "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};");
        offset += size;
    }
    let _ = writeln!(text, "\nprint fmt: {print}");
    text
}

/// `sched_switch`; the bits of `prev_state` are those of kernels since 4.14.
pub(super) const SWITCH: Description = Description {
    name: "sched_switch",
    id: 301,
    fields: &[
        comm("prev_comm"),
        pid("prev_pid"),
        int("prev_prio"),
        Field { name: "prev_state", of: Type::Long },
        comm("next_comm"),
        pid("next_pid"),
        int("next_prio"),
    ],
    print: "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", \
            REC->prev_comm, REC->prev_pid, REC->prev_prio, \
            (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", \
            { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, \
            { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", \
            REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio",
};

const WAKEUP_FIELDS: &[Field] = &[comm("comm"), pid("pid"), int("prio"), int("target_cpu")];
const WAKEUP_PRINT: &str = "\"comm=%s pid=%d prio=%d target_cpu=%03d\", \
                            REC->comm, REC->pid, REC->prio, REC->target_cpu";

pub(super) const WAKING: Description =
    Description { name: "sched_waking", id: 302, fields: WAKEUP_FIELDS, print: WAKEUP_PRINT };

pub(super) const WAKEUP: Description =
    Description { name: "sched_wakeup", id: 303, fields: WAKEUP_FIELDS, print: WAKEUP_PRINT };

pub(super) const WAKEUP_NEW: Description =
    Description { name: "sched_wakeup_new", id: 304, fields: WAKEUP_FIELDS, print: WAKEUP_PRINT };

pub(super) const MIGRATE: Description = Description {
    name: "sched_migrate_task",
    id: 305,
    fields: &[comm("comm"), pid("pid"), int("prio"), int("orig_cpu"), int("dest_cpu")],
    print: "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", \
            REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu",
};

pub(super) const FORK: Description = Description {
    name: "sched_process_fork",
    id: 306,
    fields: &[comm("parent_comm"), pid("parent_pid"), comm("child_comm"), pid("child_pid")],
    print: "\"comm=%s pid=%d child_comm=%s child_pid=%d\", \
            REC->parent_comm, REC->parent_pid, REC->child_comm, REC->child_pid",
};

pub(super) const EXEC: Description = Description {
    name: "sched_process_exec",
    id: 307,
    fields: &[Field { name: "filename", of: Type::DataLoc }, pid("pid"), pid("old_pid")],
    print: "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid",
};

pub(super) const EXIT: Description = Description {
    name: "sched_process_exit",
    id: 308,
    fields: &[comm("comm"), pid("pid"), int("prio")],
    print: "\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio",
};

pub(super) const PI_SETPRIO: Description = Description {
    name: "sched_pi_setprio",
    id: 309,
    fields: &[comm("comm"), pid("pid"), int("oldprio"), int("newprio")],
    print: "\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio",
};

/// `sched_stat_runtime` of kernels before 6.7.
pub(super) const STAT_RUNTIME: Description = Description {
    name: "sched_stat_runtime",
    id: 310,
    fields: &[
        comm("comm"),
        pid("pid"),
        Field { name: "runtime", of: Type::U64 },
        Field { name: "vruntime", of: Type::U64 },
    ],
    print: "\"comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]\", REC->comm, REC->pid, \
            (unsigned long long)REC->runtime, (unsigned long long)REC->vruntime",
};

/// The same without virtual run time, as newer kernels have it.
pub(super) const STAT_RUNTIME_ALONE: Description = Description {
    name: "sched_stat_runtime",
    id: 310,
    fields: &[comm("comm"), pid("pid"), Field { name: "runtime", of: Type::U64 }],
    print: "\"comm=%s pid=%d runtime=%Lu [ns]\", REC->comm, REC->pid, (unsigned long long)REC->runtime",
};

/// Text from `trace_marker`; an event of ftrace itself.
pub(super) const PRINT: Description = Description {
    name: "print",
    id: 5,
    fields: &[Field { name: "ip", of: Type::UnsignedLong }, Field { name: "buf", of: Type::Rest }],
    print: "\"%ps: %s\", (void *)REC->ip, REC->buf",
};

/// The address from which markers seem to come, and the only kernel symbol: readers print its name before the
/// text.
pub(super) const MARKER_ADDRESS: u64 = 0xffff_ffff_8100_0000;
/// As `/proc/kallsyms`.
pub(super) const SYMBOLS: &str = "ffffffff81000000 T tracing_mark_write\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_a_64_bit_kernel() {
        let text = STAT_RUNTIME.text();
        for line in [
            "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n",
            "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
            "\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(SWITCH.text().contains("next_comm[16];\toffset:40;"));
    }

    #[test]
    fn the_symbol_is_the_address_of_markers() {
        assert!(SYMBOLS.starts_with(&format!("{MARKER_ADDRESS:x} ")));
    }
}
