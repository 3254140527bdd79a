//! Long recordings, made of a short one again and again; for the test of memory and the benchmark.

/// A perf.data in which the samples of `file` come `copies` times, one after the other in time.
pub fn perf_data(file: &[u8], copies: u64) -> Vec<u8> {
    /// A second and a half: more than the recordings last.
    const SPAN_NS: u64 = 1_500_000_000;
    const SAMPLE: u8 = 9;
    /// Behind the header, the id, the address and the ids of process and thread.
    const TIME_AT: usize = 8 + 8 + 8 + 8;
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
    let (data_at, data_len) = (word(40) as usize, word(48) as usize);
    let data = &file[data_at..data_at + data_len];
    let mut grown = file[..data_at].to_vec();
    for copy in 0..copies {
        let mut rest = data;
        while !rest.is_empty() {
            let len = usize::from(u16::from_le_bytes([rest[6], rest[7]]));
            let record = &rest[..len];
            rest = &rest[len..];
            if record[0] == SAMPLE {
                let at = grown.len() + TIME_AT;
                grown.extend_from_slice(record);
                let time = u64::from_le_bytes(grown[at..at + 8].try_into().expect("eight bytes"));
                grown[at..at + 8].copy_from_slice(&(time + copy * SPAN_NS).to_le_bytes());
            } else if copy == 0 {
                grown.extend_from_slice(record);
            }
        }
    }
    let grown_len = (grown.len() - data_at) as u64;
    grown[48..56].copy_from_slice(&grown_len.to_le_bytes());
    // The features: a table of places, which all move by the same distance.
    let features: u32 = (0..4).map(|n| word(72 + 8 * n).count_ones()).sum();
    let mut tail = file[data_at + data_len..].to_vec();
    for n in 0..features as usize {
        let place = u64::from_le_bytes(tail[16 * n..16 * n + 8].try_into().expect("eight bytes"));
        tail[16 * n..16 * n + 8].copy_from_slice(&(place + grown_len - data_len as u64).to_le_bytes());
    }
    grown.extend(tail);
    grown
}
