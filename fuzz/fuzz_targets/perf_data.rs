#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| schedlab_fuzz::read_with_magic(b"PERFILE2", data));
