//! Decompression of what `perf record -z` writes: one stream of zstd, cut into records wherever one was full,
//! and not ended.
//!
//! The decoder wants whole blocks, so bytes are kept until a block is complete; the lengths in front of
//! frames and blocks are those of RFC 8878, sections 3.1.1.1 and 3.1.1.2.

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::input::Failure;

/// What a frame may ask for as its window: what RFC 8878 expects of every decoder, and more than perf's
/// default level uses.
const WINDOW: u64 = 8 << 20;
/// A block decompresses to at most this.
const MAX_BLOCK: usize = 128 << 10;
/// A last block without content: ends a frame that its writer left open. The checksum that may follow is not
/// looked at.
const END: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

/// A stream of zstd that comes in pieces.
pub(super) struct Zstd {
    decoder: FrameDecoder,
    in_frame: bool,
    checksum: bool,
    /// Compressed bytes of a block that is not complete.
    pending: Vec<u8>,
    /// How much more may come out.
    budget: u64,
}

impl Zstd {
    /// For a stream that decompresses to at most `budget` bytes.
    pub(super) fn new(budget: u64) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Zstd { decoder, in_frame: false, checksum: false, pending: Vec::new(), budget }
    }

    /// Takes the next bytes, and appends to `out` what has become certain.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        self.pending.extend_from_slice(bytes);
        let mut used = 0;
        loop {
            let rest = &self.pending[used..];
            let len = if self.in_frame { block_len(rest, self.checksum)? } else { frame_header_len(rest)? };
            let Some(piece) = len.and_then(|len| rest.get(..len)) else { break };
            if self.in_frame {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                let last = self.decoder.decode_blocks(piece, block).map_err(|_| Failure::Damaged)?;
                self.in_frame = !last;
            } else {
                self.checksum = piece[4] & 4 != 0;
                self.decoder.reset(piece).map_err(|_| Failure::Damaged)?;
                self.in_frame = true;
            }
            used += piece.len();
            Self::collect(&mut self.decoder, &mut self.budget, out)?;
        }
        self.pending.drain(..used);
        Ok(())
    }

    /// Appends the rest of what was decompressed. False if a block was cut.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<bool, Failure> {
        if self.in_frame {
            self.decoder
                .decode_blocks(END, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|_| Failure::Damaged)?;
            Self::collect(&mut self.decoder, &mut self.budget, out)?;
        }
        Ok(self.pending.is_empty())
    }

    fn collect(decoder: &mut FrameDecoder, budget: &mut u64, out: &mut Vec<u8>) -> Result<(), Failure> {
        let ready = decoder.can_collect() as u64;
        *budget = budget.checked_sub(ready).ok_or(Failure::TooLarge)?;
        decoder.collect_to_writer(out).map_err(|_| Failure::Damaged)?;
        Ok(())
    }
}

/// Length of the frame header at the start of `bytes`; `None` if they are too few to tell.
fn frame_header_len(bytes: &[u8]) -> Result<Option<usize>, Failure> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let Some([magic @ .., descriptor]) = bytes.first_chunk::<5>() else { return Ok(None) };
    if *magic != MAGIC {
        return Err(Failure::Damaged);
    }
    let single_segment = descriptor >> 5 & 1 == 1;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        code => 1 << code,
    };
    Ok(Some(5 + usize::from(!single_segment) + dictionary + content_size))
}

/// Length of the block at the start of `bytes`, its header and the checksum behind a last one included.
fn block_len(bytes: &[u8], checksum: bool) -> Result<Option<usize>, Failure> {
    let Some([a, b, c]) = bytes.first_chunk::<3>() else { return Ok(None) };
    let header = u32::from_le_bytes([*a, *b, *c, 0]);
    let (last, size) = (header & 1 == 1, (header >> 3) as usize);
    let content = match header >> 1 & 3 {
        1 => 1,
        0 | 2 => size,
        _ => return Err(Failure::Damaged),
    };
    if size > MAX_BLOCK {
        return Err(Failure::Damaged);
    }
    Ok(Some(3 + content + if last && checksum { 4 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame header for a window of 1 KiB, then two blocks without compression, the frame left open.
    fn stream() -> Vec<u8> {
        let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0];
        for text in [&b"hello "[..], b"world"] {
            stream.extend([(text.len() as u8) << 3, 0, 0]);
            stream.extend(text);
        }
        stream
    }

    /// What comes out if the stream comes in pieces of `len` bytes.
    fn unpack(stream: &[u8], len: usize) -> Result<(Vec<u8>, bool), Failure> {
        let (mut zstd, mut out) = (Zstd::new(1000), Vec::new());
        for piece in stream.chunks(len) {
            zstd.push(piece, &mut out)?;
        }
        let whole = zstd.finish(&mut out)?;
        Ok((out, whole))
    }

    #[test]
    fn a_stream_in_pieces_of_any_length_that_does_not_end() {
        for len in 1..30 {
            assert_eq!(unpack(&stream(), len), Ok((b"hello world".to_vec(), true)), "pieces of {len}");
        }
        let two = [stream(), vec![1, 0, 0], stream()].concat();
        assert_eq!(unpack(&two, 5), Ok((b"hello worldhello world".to_vec(), true)), "a frame that ends");
    }

    #[test]
    fn a_cut_block_is_told_and_damage_is_refused() {
        let stream = stream();
        assert_eq!(unpack(&stream[..stream.len() - 1], 4), Ok((b"hello ".to_vec(), false)));
        let mut damaged = stream.clone();
        damaged[6] |= 6;
        assert_eq!(unpack(&damaged, 4), Err(Failure::Damaged), "a kind of block that does not exist");
        assert_eq!(unpack(b"not zstd at all", 4), Err(Failure::Damaged));
    }

    #[test]
    fn what_comes_out_is_limited() {
        // A block of one repeated byte, 128 KiB long.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
        bomb.extend([2, 0, 16, b'x'].repeat(5));
        assert_eq!(unpack(&bomb, 100), Err(Failure::TooLarge));
    }
}
