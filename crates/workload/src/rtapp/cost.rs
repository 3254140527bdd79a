//! What events cost that rt-app leaves to the machine it runs on. The figures are of one machine; a load file
//! that needs others says `run` instead.

use scheduler::Nanos;

/// A speed of copying or writing memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BytesPerMicro(pub u64);

impl BytesPerMicro {
    /// Time for so many bytes, rounded up.
    pub const fn time(self, bytes: u64) -> Nanos {
        Nanos((bytes as u128 * 1_000).div_ceil(self.0 as u128) as u64)
    }
}

/// `mem`: memset into a buffer that is warm in the cache. Measured: glibc's memset of 4 MiB, median of 201
/// calls 35.0 µs, on a virtual machine with an AMD EPYC (64 KiB are as fast).
pub const MEMSET: BytesPerMicro = BytesPerMicro(120_000);

/// `iorun`: one write call without the copying. Measured: write to /dev/null, median of 201 × 100 calls 156
/// to 182 ns, same machine.
pub const WRITE_CALL: Nanos = Nanos(170);

/// `iorun` to anything but /dev/null: copying into the page cache. Measured: write of 4 MiB to a tmpfs file
/// that has its pages, median of 201 calls 294 µs, same machine.
pub const PAGE_CACHE_COPY: BytesPerMicro = BytesPerMicro(14_300);

/// What a loop costs besides its events: two readings of the clock and a line of the log. Measured: rt-app
/// 1.0, gap between the end of a loop and the start of the next in its log, 22 700 loops: 0 or 1 µs in 97 of
/// 100, same machine.
pub const LOOP: Nanos = Nanos(500);

/// `runtime` looks at the clock after this much work (rt-app's source).
pub const RUNTIME_LOOP: Nanos = Nanos::from_micros(32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_mebibytes_take_what_was_measured() {
        assert_eq!(MEMSET.time(4 << 20), Nanos(34_953));
        assert_eq!(PAGE_CACHE_COPY.time(4 << 20), Nanos(293_308));
        assert_eq!(MEMSET.time(0), Nanos::ZERO);
    }
}
