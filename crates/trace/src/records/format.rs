//! The kernel's descriptions of its events: tracefs `events/*/*/format`, which trace.dat and perf.data embed.
//!
//! Offsets and sizes of fields differ from kernel to kernel, and so do some fields themselves (a comm may be
//! an array in place or text elsewhere in the record), so nothing about a record is known but what its
//! description says.

/// Where the value of a field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    /// At the field's offset.
    InPlace,
    /// The field holds an offset from the record's start and, above 16 bits, a length (`__data_loc`).
    DataLoc,
    /// The same, but the offset counts from the field's own end (`__rel_loc`).
    RelLoc,
    /// From the field's offset to the end of the record (`buf[]`).
    ToEnd,
}

/// A field of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) offset: usize,
    /// Bytes at `offset`.
    pub(crate) size: usize,
    pub(crate) signed: bool,
    pub(crate) storage: Storage,
}

/// The description of one event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EventFormat {
    pub(crate) name: String,
    /// The number in `common_type` of each record.
    pub(crate) id: u16,
    pub(crate) fields: Vec<Field>,
    /// The C expression by which the kernel prints the event.
    pub(crate) print_fmt: String,
}

impl EventFormat {
    /// Reads a `format` file; `None` if it has no name or number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut name, mut id, mut fields, mut print_fmt) = (None, None, Vec::new(), String::new());
        for line in text.lines() {
            if let Some(value) = line.strip_prefix("name:") {
                name = Some(value.trim().to_owned());
            } else if let Some(value) = line.strip_prefix("ID:") {
                id = value.trim().parse().ok();
            } else if let Some(value) = line.strip_prefix("print fmt:") {
                print_fmt = value.trim().to_owned();
            } else {
                fields.extend(parse_field(line));
            }
        }
        Some(EventFormat { name: name?, id: id?, fields, print_fmt })
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Offset and size of a field of `header_page`.
pub(crate) fn header_page_field(text: &str, name: &str) -> Option<(usize, usize)> {
    let field = text.lines().filter_map(parse_field).find(|field| field.name == name)?;
    Some((field.offset, field.size))
}

/// Reads a line such as `field:char prev_comm[16]; offset:8; size:16; signed:0;`; its separators are tabs.
fn parse_field(line: &str) -> Option<Field> {
    let (mut declaration, mut offset, mut size, mut signed) = (None, None, None, false);
    for part in line.split(';') {
        let (key, value) = part.split_once(':').unwrap_or((part, ""));
        match key.trim() {
            "field" | "field special" => declaration = Some(value.trim()),
            "offset" => offset = value.trim().parse().ok(),
            "size" => size = value.trim().parse().ok(),
            "signed" => signed = value.trim() == "1",
            _ => {}
        }
    }
    let declaration: &str = declaration?;
    let (declarator, _) =
        declaration.split_once('[').filter(|(d, _)| !d.is_empty()).unwrap_or((declaration, ""));
    let to_end = declaration.ends_with("[]");
    let storage = match declaration {
        d if d.starts_with("__data_loc") => Storage::DataLoc,
        d if d.starts_with("__rel_loc") => Storage::RelLoc,
        _ if to_end => Storage::ToEnd,
        _ => Storage::InPlace,
    };
    // `__data_loc char[] comm` has its brackets before the name, `char comm[16]` behind it.
    let name_in =
        if storage == Storage::InPlace || storage == Storage::ToEnd { declarator } else { declaration };
    let name = name_in.rsplit([' ', '\t', '*']).next().filter(|name| !name.is_empty())?;
    // Records are shorter than a page; this also keeps every later sum of offsets small.
    let (offset, size): (u32, u32) = (offset?, size?);
    if offset > 1 << 24 || size > 1 << 24 {
        return None;
    }
    Some(Field { name: name.to_owned(), offset: offset as usize, size: size as usize, signed, storage })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, offset, size, signedness and storage of the field in `line`.
    fn check(line: &str, expected: (&str, usize, usize, bool, Storage)) {
        let field = parse_field(line).expect("a field");
        assert_eq!((&*field.name, field.offset, field.size, field.signed, field.storage), expected);
    }

    #[test]
    fn every_way_of_declaring_a_field_gives_its_name() {
        check(
            "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;",
            ("prev_pid", 24, 4, true, Storage::InPlace),
        );
        check(
            "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;",
            ("comm", 8, 16, false, Storage::InPlace),
        );
        check(
            "\tfield:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;",
            ("comm", 8, 16, false, Storage::InPlace),
        );
        check(
            "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;",
            ("filename", 8, 4, false, Storage::DataLoc),
        );
        check("\tfield:__rel_loc char[] name;\toffset:12;\tsize:4;", ("name", 12, 4, false, Storage::RelLoc));
        check("\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;", ("buf", 16, 0, false, Storage::ToEnd));
        check(
            "\tfield:const char *name;\toffset:16;\tsize:8;\tsigned:0;",
            ("name", 16, 8, false, Storage::InPlace),
        );
        check(
            "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;",
            ("ip", 8, 8, false, Storage::InPlace),
        );
    }

    #[test]
    fn a_description_needs_a_name_and_a_number() {
        let text = "name: sched_waking\nID: 375\nformat:\n\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n\n\
                    print fmt: \"pid=%d\", REC->pid\n";
        let format = EventFormat::parse(text).expect("complete");
        assert_eq!((&*format.name, format.id), ("sched_waking", 375));
        assert_eq!(format.field("pid").map(|f| f.offset), Some(8));
        assert_eq!(format.print_fmt, "\"pid=%d\", REC->pid");
        assert_eq!(EventFormat::parse("name: x\nformat:\n"), None);
        assert_eq!(EventFormat::parse("ID: 70000\nname: x"), None);
    }

    #[test]
    fn absurd_offsets_are_not_fields() {
        assert_eq!(parse_field("\tfield:int pid;\toffset:99999999;\tsize:4;"), None);
        assert_eq!(parse_field("\tfield:int pid;\toffset:-1;\tsize:4;"), None);
        assert_eq!(parse_field("format:"), None);
    }
}
