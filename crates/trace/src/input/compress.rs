//! Decompression of the blocks of a version 7 file, within limits.
//!
//! A block says how long it is when decompressed. The promise is believed only within reason: trace pages
//! shrink to about a tenth, a page of zeros to a thousandth, so a file that asks for far more is damaged or
//! made to fill the memory.

use ruzstd::decoding::FrameDecoder;

/// A block may grow to this many times its compressed size, plus [`BLOCK_FREE`].
const BLOCK_RATIO: u64 = 256;
/// What a block may decompress to however short it is: ten sub-buffers of 64 KiB, all zero, take some fifty
/// bytes.
const BLOCK_FREE: u64 = 1 << 20;
/// What a zstd frame may ask for as its window: what RFC 8878 expects of every decoder.
const ZSTD_WINDOW: u64 = 8 << 20;
/// All blocks together may grow to this many times the file, plus [`TOTAL_FREE`].
const TOTAL_RATIO: u64 = 100;
/// What a file may decompress to however short it is.
const TOTAL_FREE: u64 = 64 << 20;

/// How much a file of `file_len` bytes may decompress to.
pub(crate) fn unpacked_limit(file_len: u64) -> u64 {
    file_len.saturating_mul(TOTAL_RATIO).saturating_add(TOTAL_FREE)
}

/// The compressions that trace-cmd 3 knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Algorithm {
    None,
    Zlib,
    Zstd,
}

/// Why a block was not decompressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// It is damaged, or not as long as it says.
    Damaged,
    /// It would grow beyond the limits.
    TooLarge,
}

/// Decompresses the blocks of one file.
pub(crate) struct Decompressor {
    algorithm: Algorithm,
    zstd: FrameDecoder,
    budget: u64,
}

impl Decompressor {
    /// For a file of `file_len` bytes.
    pub(crate) fn new(algorithm: Algorithm, file_len: u64) -> Self {
        Decompressor { algorithm, zstd: FrameDecoder::new(), budget: unpacked_limit(file_len) }
    }

    /// Decompresses `block` into `out`, which is cleared first and then holds exactly `len` bytes, or is
    /// empty on failure.
    pub(crate) fn block(&mut self, block: &[u8], len: u32, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.clear();
        let len64 = u64::from(len);
        let most = (block.len() as u64).saturating_mul(BLOCK_RATIO).saturating_add(BLOCK_FREE);
        if len64 > most || len64 > self.budget {
            return Err(Failure::TooLarge);
        }
        self.budget -= len64;
        let len = len as usize;
        let written = match self.algorithm {
            Algorithm::None => {
                out.extend_from_slice(block);
                Some(block.len())
            }
            Algorithm::Zlib => {
                out.resize(len, 0);
                miniz_oxide::inflate::decompress_slice_iter_to_slice(out, std::iter::once(block), true, false)
                    .ok()
            }
            Algorithm::Zstd => {
                out.resize(len, 0);
                self.zstd.set_max_window_size(len64.max(ZSTD_WINDOW));
                self.zstd.decode_all(block, out).ok()
            }
        };
        if written == Some(len) {
            return Ok(());
        }
        out.clear();
        Err(Failure::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4096 zero bytes by `zstd -19`.
    const ZSTD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x00, 0x0f, 0x45, 0x00, 0x00, 0x08, 0x00, 0x01, 0x00, 0xfc, 0xf7, 0x81,
        0x10,
    ];

    #[test]
    fn zlib_and_zstd_blocks_decompress_to_the_promised_length_or_not_at_all() {
        let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&[0; 4096], 6);
        for (algorithm, block) in [(Algorithm::Zlib, &zlib[..]), (Algorithm::Zstd, ZSTD)] {
            let mut decompressor = Decompressor::new(algorithm, block.len() as u64);
            let mut out = Vec::new();
            assert_eq!(decompressor.block(block, 4096, &mut out), Ok(()));
            assert_eq!(out, [0; 4096]);
            assert_eq!(decompressor.block(block, 4095, &mut out), Err(Failure::Damaged));
            assert_eq!(decompressor.block(block, 4097, &mut out), Err(Failure::Damaged));
            assert_eq!(decompressor.block(&block[..block.len() - 4], 4096, &mut out), Err(Failure::Damaged));
            assert!(out.is_empty());
        }
    }

    #[test]
    fn a_block_that_promises_too_much_is_refused_before_it_is_allocated() {
        let mut decompressor = Decompressor::new(Algorithm::Zstd, ZSTD.len() as u64);
        let mut out = Vec::new();
        assert_eq!(decompressor.block(ZSTD, u32::MAX, &mut out), Err(Failure::TooLarge));
        assert_eq!(out.capacity(), 0);
    }

    #[test]
    fn all_blocks_together_have_a_limit() {
        let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; 1 << 20], 9);
        let mut decompressor = Decompressor::new(Algorithm::Zlib, zlib.len() as u64);
        let mut out = Vec::new();
        let refused =
            (0..200).find(|_| decompressor.block(&zlib, 1 << 20, &mut out) == Err(Failure::TooLarge));
        assert_eq!(refused, Some(64));
    }
}
