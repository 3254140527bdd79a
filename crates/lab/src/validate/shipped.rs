//! The references that come with the program: the workspace's `validation/` folder.

use crate::sources::Files;

/// A file that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShippedFile {
    /// Its path below `validation/`.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// How recordings without a reference are replayed.
pub(super) const RECORDINGS: &str = include_str!("../../../../validation/recordings.toml");

macro_rules! shipped {
    ($($path:literal)+) => {
        /// Every file of a reference that comes with the program.
        pub const SHIPPED: &[ShippedFile] = &[$(
            ShippedFile {
                path: $path,
                bytes: include_bytes!(concat!("../../../../validation/", $path)),
            },
        )+];
    };
}

shipped! {
    "bounds.toml"
    "eevdf-6.18/reference.toml"
    "eevdf-6.18/rtover.json"
    "guest-6.1/debit-smp1/storm-NO_START_DEBIT/reference.toml"
    "guest-6.1/debit-smp1/storm-NO_START_DEBIT/trace.dat"
    "guest-6.1/debit-smp1/storm-START_DEBIT/reference.toml"
    "guest-6.1/debit-smp1/storm-START_DEBIT/trace.dat"
    "guest-6.1/debit-smp2/storm-NO_START_DEBIT/reference.toml"
    "guest-6.1/debit-smp2/storm-NO_START_DEBIT/trace.dat"
    "guest-6.1/debit-smp2/storm-START_DEBIT/reference.toml"
    "guest-6.1/debit-smp2/storm-START_DEBIT/trace.dat"
    "guest-6.1/mix-smp1/balance/reference.toml"
    "guest-6.1/mix-smp1/balance/result.json"
    "guest-6.1/mix-smp1/balance/trace.dat"
    "guest-6.1/mix-smp1/nice/reference.toml"
    "guest-6.1/mix-smp1/nice/result.json"
    "guest-6.1/mix-smp1/nice/trace.dat"
    "guest-6.1/mix-smp1/rr/reference.toml"
    "guest-6.1/mix-smp1/rr/result.json"
    "guest-6.1/mix-smp1/rr/trace.dat"
    "guest-6.1/mix-smp1/rtover/reference.toml"
    "guest-6.1/mix-smp1/rtover/result.json"
    "guest-6.1/mix-smp1/rtover/trace.dat"
    "guest-6.1/mix-smp1/sleeper/reference.toml"
    "guest-6.1/mix-smp1/sleeper/result.json"
    "guest-6.1/mix-smp1/sleeper/trace.dat"
    "guest-6.1/mix-smp2/balance/reference.toml"
    "guest-6.1/mix-smp2/balance/result.json"
    "guest-6.1/mix-smp2/balance/trace.dat"
    "guest-6.1/mix-smp2/nice/reference.toml"
    "guest-6.1/mix-smp2/nice/result.json"
    "guest-6.1/mix-smp2/nice/trace.dat"
    "guest-6.1/mix-smp2/rr/reference.toml"
    "guest-6.1/mix-smp2/rr/result.json"
    "guest-6.1/mix-smp2/rr/trace.dat"
    "guest-6.1/mix-smp2/rtover/reference.toml"
    "guest-6.1/mix-smp2/rtover/result.json"
    "guest-6.1/mix-smp2/rtover/trace.dat"
    "guest-6.1/mix-smp2/sleeper/reference.toml"
    "guest-6.1/mix-smp2/sleeper/result.json"
    "guest-6.1/mix-smp2/sleeper/trace.dat"
    "native-6.18-groups/autogroup-nice.json"
    "native-6.18-groups/bw-2hog.json"
    "native-6.18-groups/bw-jobs.json"
    "native-6.18-groups/bw-nested.json"
    "native-6.18-groups/bw-tick.json"
    "native-6.18-groups/dl-constrained.json"
    "native-6.18-groups/dl-fair.json"
    "native-6.18-groups/dl-hog.json"
    "native-6.18-groups/dl-pi-deadline.json"
    "native-6.18-groups/dl-pi-fifo.json"
    "native-6.18-groups/dl-pi-plain.json"
    "native-6.18-groups/dl-yield.json"
    "native-6.18-groups/fair-server.json"
    "native-6.18-groups/idle-group.json"
    "native-6.18-groups/reference.toml"
    "native-6.18-groups/shares-3.json"
    "native-6.18-groups/shares-nice-1.json"
    "native-6.18-groups/shares-nice-2.json"
    "native-6.18-groups/shares-nice-3.json"
    "native-6.18-groups/shares-smp-pinned.json"
    "native-6.18-groups/shares-smp.json"
    "native-6.18-io/io-a-cpu1.dat.gz"
    "native-6.18-io/io-a-cpu1.dat.gz.machine.toml"
    "native-6.18-io/io-a-cpu2.dat.gz"
    "native-6.18-io/io-a-cpu2.dat.gz.machine.toml"
    "native-6.18-io/reference.toml"
    "native-6.18-machine/reference.toml"
    "native-6.18-machine/result.json"
    "native-6.18-nested/mutex-pi.json"
    "native-6.18-nested/mutex-pi2.json"
    "native-6.18-nested/mutex-pisleep.json"
    "native-6.18-nested/mutex-plain.json"
    "native-6.18-nested/reference.toml"
    "native-6.18/cyc-smp-hackbench/reference.toml"
    "native-6.18/cyc-smp-hackbench/result.json"
    "native-6.18/cyc-smp-idle/reference.toml"
    "native-6.18/cyc-smp-idle/result.json"
    "native-6.18/cyc-smp-make/reference.toml"
    "native-6.18/cyc-smp-make/result.json"
    "native-6.18/cyc-t8-idle/reference.toml"
    "native-6.18/cyc-t8-idle/result.json"
    "native-6.18/cyc-t8-make128/reference.toml"
    "native-6.18/cyc-t8-make128/result.json"
    "native-6.18/mix-balance/mix-balance.dat"
    "native-6.18/mix-balance/mix-balance.reference.json"
    "native-6.18/mix-balance/mix.json"
    "native-6.18/mix-balance/reference.toml"
    "native-6.18/mix-balance/result.json"
    "native-6.18/mix-nice/mix-nice.dat"
    "native-6.18/mix-nice/mix-nice.reference.json"
    "native-6.18/mix-nice/mix.json"
    "native-6.18/mix-nice/reference.toml"
    "native-6.18/mix-nice/result.json"
    "native-6.18/mix-rr/mix-rr.dat"
    "native-6.18/mix-rr/mix-rr.reference.json"
    "native-6.18/mix-rr/mix.json"
    "native-6.18/mix-rr/reference.toml"
    "native-6.18/mix-rr/result.json"
    "native-6.18/mix-rtover/mix-rtover.dat"
    "native-6.18/mix-rtover/mix-rtover.reference.json"
    "native-6.18/mix-rtover/mix.json"
    "native-6.18/mix-rtover/reference.toml"
    "native-6.18/mix-rtover/result.json"
    "native-6.18/mix-sleeper/mix-sleeper.dat"
    "native-6.18/mix-sleeper/mix-sleeper.reference.json"
    "native-6.18/mix-sleeper/mix.json"
    "native-6.18/mix-sleeper/reference.toml"
    "native-6.18/mix-sleeper/result.json"
    "native-6.18/pgsql/reference.toml"
    "native-6.18/pistress/reference.toml"
    "native-6.18/rtlab-pi-1cpu/reference.toml"
    "native-6.18/rtlab-pi-1cpu/result.json"
    "native-6.18/rtlab-pi/reference.toml"
    "native-6.18/rtlab-pi/result.1.json"
    "native-6.18/rtlab-pi/result.2.json"
    "native-6.18/rtlab-pi/result.3.json"
    "native-6.18/rtlab-plain-cpuspin/reference.toml"
    "native-6.18/rtlab-plain-cpuspin/result.json"
    "native-6.18/rtlab-plain/reference.toml"
    "native-6.18/rtlab-plain/result.1.json"
    "native-6.18/rtlab-plain/result.2.json"
    "native-6.18/rtlab-plain/result.3.json"
    "native-6.18/rtmigrate/reference.toml"
    "native-6.18/wl-idle/reference.toml"
    "native-6.18/wl-idle/result.json"
    "native-6.18/wl-up-idle/reference.toml"
    "native-6.18/wl-up-idle/result.json"
    "placement-6.1/guest.toml"
    "placement-6.1/reference.toml"
    "placement-6.1/roam.json"
    "placement-6.1/rtover.json"
    "recordings.toml"
}

/// They, by their paths below `validation/`.
#[must_use]
pub fn shipped() -> Files {
    SHIPPED.iter().map(|file| (file.path.to_owned(), file.bytes.to_vec())).collect()
}
