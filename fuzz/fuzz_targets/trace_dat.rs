#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| schedlab_fuzz::read_with_magic(b"\x17\x08\x44tracing", data));
