//! [`Activity`] as records, and the descriptions of those that occur.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::DatSystem;
use super::formats::{ARGUMENTS, COMM_SIZE, COMMON_SIZE, Field, LETTERS_SIZE, Type, describe};
use crate::activity::{Activity, FieldType, SysEnter, SysExit, TRACEPOINTS, Tracepoint, Value};
use crate::strings::{StrId, Strings};

/// Numbers of the tracepoints of the table begin here, in its order.
const FIRST_ID: u16 = 400;
/// Numbers of the tracepoints of single system calls.
const FIRST_CALL_ID: u16 = 1000;
/// Where the functions of timers and work items seem to be; behind the one from which markers come.
const FIRST_FUNCTION: u64 = 0xffff_ffff_8110_0000;
const FUNCTION_SIZE: u64 = 16;

/// One of the two tracepoints of a single system call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Call {
    Enter(StrId),
    Exit(StrId),
}

/// What records stand for that were made.
#[derive(Debug, Default)]
pub(super) struct ActivityRecords {
    /// Positions in the table.
    used: BTreeSet<u16>,
    /// In the order of their numbers.
    calls: Vec<Call>,
    ids: BTreeMap<Call, u16>,
    /// In the order of their addresses.
    functions: Vec<StrId>,
    addresses: BTreeMap<StrId, u64>,
}

impl ActivityRecords {
    /// The number that stands for the event's description.
    pub(super) fn id(&mut self, activity: &Activity) -> u16 {
        if let Some(call) = call(activity) {
            let next = FIRST_CALL_ID.saturating_add(self.calls.len() as u16);
            return *self.ids.entry(call).or_insert_with(|| {
                self.calls.push(call);
                next
            });
        }
        let name = activity.name();
        let place = TRACEPOINTS.iter().position(|tracepoint| tracepoint.name == name).unwrap_or(0) as u16;
        self.used.insert(place);
        FIRST_ID + place
    }

    /// Appends the event's own fields to the common ones.
    pub(super) fn put(&mut self, record: &mut Vec<u8>, activity: &Activity, strings: &Strings) {
        match *activity {
            Activity::SysEnter(SysEnter { call, args: [first, second] }) if call.name.is_some() => {
                put(record, call.number.map_or(-1, i64::from), Type::Int);
                put(record, first as i64, Type::U64);
                put(record, second as i64, Type::U64);
            }
            Activity::SysExit(SysExit { call, ret }) if call.name.is_some() => {
                put(record, call.number.map_or(-1, i64::from), Type::Int);
                put(record, ret, Type::Long);
            }
            _ => self.put_fields(record, activity, strings),
        }
    }

    fn put_fields(&mut self, record: &mut Vec<u8>, activity: &Activity, strings: &Strings) {
        let mut texts: Vec<(usize, StrId)> = Vec::new();
        for (field, value) in activity.tracepoint().fields.iter().zip(activity.values().0) {
            match (field.of, value) {
                (FieldType::Text, Some(Value::Text(text))) => {
                    put(record, 0, Type::DataLoc);
                    texts.push((record.len() - 4, text));
                }
                (FieldType::Comm, Some(Value::Text(text))) => put_text(record, &strings[text], COMM_SIZE),
                (FieldType::Letters, Some(Value::Text(text))) => {
                    put_text(record, &strings[text], LETTERS_SIZE)
                }
                (FieldType::Function, Some(Value::Text(text))) => {
                    let address = self.address(text, strings);
                    put(record, address as i64, Type::Address);
                }
                (FieldType::Element(0), value) => {
                    put(record, 0, Type::Arguments);
                    let start = record.len() - Type::Arguments.size();
                    if let Some(Value::Number(number)) = value {
                        record[start..start + 8].copy_from_slice(&number.to_le_bytes());
                    }
                }
                (FieldType::Element(n), Some(Value::Number(number))) => {
                    let start = record.len() - 8 * (ARGUMENTS - n);
                    record[start..start + 8].copy_from_slice(&number.to_le_bytes());
                }
                (of, Some(Value::Number(number))) => put(record, number, dat_type(of)),
                (of, _) => put(record, 0, dat_type(of)),
            }
        }
        for (at, text) in texts {
            let (start, text) = (record.len(), &strings[text]);
            let text = &text[..text.floor_char_boundary(MAX_TEXT)];
            // The length, in the upper half, counts the final NUL.
            let place = ((text.len() + 1) << 16 | start) as u32;
            record[at..at + 4].copy_from_slice(&place.to_le_bytes());
            record.extend_from_slice(text.as_bytes());
            record.push(0);
        }
    }

    /// Where a function seems to be. A text that is an address is that.
    fn address(&mut self, function: StrId, strings: &Strings) -> u64 {
        if let Some(address) =
            strings[function].strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok())
        {
            return address;
        }
        let next = FIRST_FUNCTION + FUNCTION_SIZE * self.functions.len() as u64;
        *self.addresses.entry(function).or_insert_with(|| {
            self.functions.push(function);
            next
        })
    }

    /// The names of the functions, as /proc/kallsyms has them.
    pub(super) fn symbols(&self, strings: &Strings) -> String {
        let mut text = String::new();
        for (n, function) in self.functions.iter().enumerate() {
            let address = FIRST_FUNCTION + FUNCTION_SIZE * n as u64;
            // Writing into a text cannot fail.
            let _ = writeln!(text, "{address:x} T {}", &strings[*function]);
        }
        text
    }

    /// The descriptions of all that occurred, by their systems.
    pub(super) fn systems(&self, strings: &Strings) -> Vec<DatSystem> {
        let mut systems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for place in &self.used {
            let tracepoint = TRACEPOINTS[usize::from(*place)];
            let fields = fields(tracepoint);
            let text = describe(tracepoint.name, FIRST_ID + place, &fields, &print(&fields));
            systems.entry(tracepoint.system).or_default().push(text);
        }
        for call in &self.calls {
            let number = Field { name: "__syscall_nr", of: Type::Int };
            let (name, fields) = match call {
                Call::Enter(name) => {
                    let args = ["arg0", "arg1"].map(|name| Field { name, of: Type::U64 });
                    (format!("sys_enter_{}", &strings[*name]), [&[number][..], &args].concat())
                }
                Call::Exit(name) => {
                    let ret = Field { name: "ret", of: Type::Long };
                    (format!("sys_exit_{}", &strings[*name]), vec![number, ret])
                }
            };
            let text = describe(&name, self.ids[call], &fields, &print(&fields));
            systems.entry("syscalls").or_default().push(text);
        }
        systems.into_iter().map(|(name, formats)| DatSystem { name: name.to_owned(), formats }).collect()
    }
}

/// Names of devices are short; this keeps a record within a page.
const MAX_TEXT: usize = 256;

fn call(activity: &Activity) -> Option<Call> {
    match activity {
        Activity::SysEnter(enter) => enter.call.name.map(Call::Enter),
        Activity::SysExit(exit) => exit.call.name.map(Call::Exit),
        _ => None,
    }
}

fn dat_type(of: FieldType) -> Type {
    match of {
        FieldType::Int => Type::Int,
        FieldType::UnsignedInt => Type::UnsignedInt,
        FieldType::S64 => Type::Long,
        FieldType::U64 => Type::U64,
        FieldType::Address | FieldType::Function => Type::Address,
        FieldType::Text => Type::DataLoc,
        FieldType::Comm => Type::Comm,
        FieldType::Letters => Type::Letters,
        FieldType::Element(_) => Type::Arguments,
    }
}

/// The fields of a record; the elements of an array are one.
fn fields(of: &Tracepoint) -> Vec<Field> {
    let mut fields = of.fields.to_vec();
    fields.dedup_by_key(|field| field.name);
    fields.iter().map(|field| Field { name: field.name, of: dat_type(field.of) }).collect()
}

/// How readers are to print them.
fn print(fields: &[Field]) -> String {
    let (mut format, mut values) = (Vec::new(), String::new());
    for Field { name, of } in fields {
        let (conversion, value) = match of {
            Type::DataLoc => ("%s", format!("__get_str({name})")),
            Type::Comm | Type::Letters => ("%s", format!("REC->{name}")),
            Type::Address => ("%ps", format!("(void *)REC->{name}")),
            Type::Arguments => ("%lx", format!("REC->{name}[0]")),
            Type::UnsignedInt => ("%u", format!("REC->{name}")),
            Type::U64 | Type::UnsignedLong => ("%llu", format!("(unsigned long long)REC->{name}")),
            Type::Long => ("%lld", format!("(long long)REC->{name}")),
            Type::Int | Type::Pid | Type::Rest => ("%d", format!("REC->{name}")),
        };
        format.push(format!("{name}={conversion}"));
        values.push_str(", ");
        values.push_str(&value);
    }
    format!("\"{}\"{values}", format.join(" "))
}

/// Appends a number where its type is aligned.
fn put(record: &mut Vec<u8>, number: i64, of: Type) {
    let start = record.len().next_multiple_of(of.align());
    record.resize(start + of.size(), 0);
    let bytes = number.to_le_bytes();
    let len = of.size().min(bytes.len());
    record[start..start + len].copy_from_slice(&bytes[..len]);
}

/// Appends a text in place, cut so that a NUL follows.
fn put_text(record: &mut Vec<u8>, text: &str, size: usize) {
    let end = text.floor_char_boundary(size - 1);
    let start = record.len();
    record.extend_from_slice(&text.as_bytes()[..end]);
    record.resize(start + size, 0);
}

const _: () = assert!(COMMON_SIZE.is_multiple_of(8), "fields of eight bytes are aligned from there on");
