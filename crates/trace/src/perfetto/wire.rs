//! The wire format of protocol buffers, read without allocating: a message is a sequence of fields, each a
//! number, a kind and a value.
//!
//! prost, with which we write, would build every message in memory, and an event of two bytes takes a hundred
//! there; a damaged or made-up file could so fill the memory.

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    /// A number, also a truth value.
    Number(u64),
    /// Text, bytes, a message, or numbers one after the other.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(number),
            Value::Bytes(_) => None,
        }
    }

    /// A number that the schema declares as int32: negative ones are written with 64 bits.
    pub(super) fn int32(self) -> Option<i32> {
        self.number().map(|number| number as i32)
    }

    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Number(_) => None,
            Value::Bytes(bytes) => Some(bytes),
        }
    }
}

/// A field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
}

/// The fields of a message. Ends at the message's end or at the first contradiction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    broken: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Fields { rest: message, broken: false }
    }

    /// Whether the message contradicts itself. To be asked when the fields are exhausted.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    #[inline]
    fn field(&mut self) -> Option<Field<'a>> {
        let tag = take_varint(&mut self.rest)?;
        let value = match tag & 7 {
            0 => Value::Number(take_varint(&mut self.rest)?),
            1 => Value::Number(u64::from_le_bytes(*self.rest.split_off(..8)?.first_chunk()?)),
            2 => {
                let len = usize::try_from(take_varint(&mut self.rest)?).ok()?;
                Value::Bytes(self.rest.split_off(..len)?)
            }
            5 => Value::Number(u32::from_le_bytes(*self.rest.split_off(..4)?.first_chunk()?).into()),
            _ => return None,
        };
        Some(Field { number: tag >> 3, value }).filter(|field| field.number > 0)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        if self.rest.is_empty() || self.broken {
            return None;
        }
        let field = self.field();
        self.broken = field.is_none();
        field
    }
}

/// Numbers one after the other (a packed field).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers<'a>(pub(super) &'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        take_varint(&mut self.0)
    }
}

/// Takes a number of seven bits a byte from the front; `None` if it does not end or is longer than 64 bits.
#[inline]
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    // Most numbers are small.
    match bytes {
        [byte, rest @ ..] if *byte < 0x80 => {
            let value = u64::from(*byte);
            *bytes = rest;
            Some(value)
        }
        _ => take_long_varint(bytes),
    }
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (n, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * n);
        if byte & 0x80 == 0 {
            *bytes = &bytes[n + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind() {
        let message = [
            0x08, 0x96, 0x01, // 1: 150
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x19, 1, 0, 0, 0, 0, 0, 0, 0, // 3: 64 bits
            0x25, 2, 0, 0, 0, // 4: 32 bits
            0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // 5: -1
        ];
        let mut fields = Fields::new(&message);
        let read: Vec<_> = fields.by_ref().map(|field| (field.number, field.value)).collect();
        assert_eq!(
            read,
            [
                (1, Value::Number(150)),
                (2, Value::Bytes(b"hi")),
                (3, Value::Number(1)),
                (4, Value::Number(2)),
                (5, Value::Number(u64::MAX)),
            ]
        );
        assert_eq!(read[4].1.int32(), Some(-1));
        assert!(!fields.is_broken());
    }

    #[test]
    fn what_is_cut_or_impossible_ends_the_message() {
        for message in
            [&[0x12, 5, b'h'][..], &[0x08], &[0x08, 0x80], &[0x0b], &[0x00, 1], &[0xff; 20], &[0x19, 1]]
        {
            let mut fields = Fields::new(message);
            assert_eq!(fields.by_ref().count(), 0, "{message:?}");
            assert!(fields.is_broken(), "{message:?}");
        }
        let huge = [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 2];
        assert_eq!(Fields::new(&huge).count(), 0);
    }

    #[test]
    fn packed_numbers() {
        assert_eq!(Numbers(&[1, 0x80, 1, 3]).collect::<Vec<_>>(), [1, 128, 3]);
        assert_eq!(Numbers(&[1, 0x80]).collect::<Vec<_>>(), [1]);
    }
}
