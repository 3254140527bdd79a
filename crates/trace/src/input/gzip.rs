//! Files packed with gzip, unpacked into memory: most formats are read at more than one place.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use super::compress::{Failure, unpacked_limit};

/// The first bytes of a file packed with gzip.
pub(crate) const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// What a packed file holds.
pub(crate) struct Unpacked {
    pub(crate) bytes: Vec<u8>,
    /// Why that is not all.
    pub(crate) cut: Option<Cut>,
}

/// Why a packed file was not unpacked to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// It ends too early.
    Early,
    /// It is damaged, or too large.
    Failed(Failure),
}

/// Takes a file apart while it is being unpacked.
pub(crate) struct Gzip<R> {
    decoder: MultiGzDecoder<R>,
    /// How much more may come out.
    budget: u64,
    unpacked: Unpacked,
}

impl<R: Read> Gzip<R> {
    /// A packed file of `len` bytes.
    pub(crate) fn new(packed: R, len: u64) -> Self {
        let unpacked = Unpacked { bytes: Vec::new(), cut: None };
        Gzip { decoder: MultiGzDecoder::new(packed), budget: unpacked_limit(len), unpacked }
    }

    /// What has been unpacked.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.unpacked.bytes
    }

    /// Whether nothing more can be unpacked, although there should be more.
    pub(crate) fn is_cut(&self) -> bool {
        self.unpacked.cut.is_some()
    }

    /// All of it.
    pub(crate) fn unpack_all(mut self) -> io::Result<Unpacked> {
        self.unpack(self.budget)?;
        if self.unpacked.cut.is_none() && !matches!(self.decoder.read(&mut [0]), Ok(0)) {
            self.unpacked.cut = Some(Cut::Failed(Failure::TooLarge));
        }
        Ok(self.unpacked)
    }

    /// Unpacks up to `len` bytes more. Damage ends it; only the operating system's errors are errors.
    pub(crate) fn unpack(&mut self, len: u64) -> io::Result<()> {
        if self.unpacked.cut.is_some() {
            return Ok(());
        }
        let before = self.unpacked.bytes.len();
        let result = (&mut self.decoder).take(len.min(self.budget)).read_to_end(&mut self.unpacked.bytes);
        self.budget -= (self.unpacked.bytes.len() - before) as u64;
        self.unpacked.cut = match result {
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Some(Cut::Early),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) =>
            {
                Some(Cut::Failed(Failure::Damaged))
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn unpack(packed: &[u8]) -> Unpacked {
        Gzip::new(packed, packed.len() as u64).unpack_all().expect("memory has no errors")
    }

    #[test]
    fn what_was_packed_comes_back_also_from_several_parts() {
        let text = b"a line of text\n".repeat(1000);
        let whole = packed(&text);
        let mut gzip = Gzip::new(&whole[..], 100);
        gzip.unpack(100).expect("memory");
        assert_eq!(gzip.bytes(), &text[..100]);
        let parts = [packed(&text), packed(b"more")].concat();
        let unpacked = unpack(&parts);
        assert_eq!((unpacked.bytes, unpacked.cut), ([&text[..], b"more"].concat(), None));
    }

    #[test]
    fn a_cut_and_a_damaged_file_give_what_they_can() {
        let text: Vec<u8> = (0..20_000u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let whole = packed(&text);
        let cut = unpack(&whole[..whole.len() / 2]);
        assert_eq!(cut.cut, Some(Cut::Early));
        assert!(!cut.bytes.is_empty() && text.starts_with(&cut.bytes));
        let mut damaged = whole.clone();
        let checksum = damaged.len() - 6;
        damaged[checksum] ^= 1;
        assert_eq!(unpack(&damaged).cut, Some(Cut::Failed(Failure::Damaged)));
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = packed(&vec![b' '; 80 << 20]);
        let unpacked = unpack(&bomb);
        assert_eq!(unpacked.cut, Some(Cut::Failed(Failure::TooLarge)));
        assert_eq!(unpacked.bytes.len() as u64, unpacked_limit(bomb.len() as u64));
    }
}
