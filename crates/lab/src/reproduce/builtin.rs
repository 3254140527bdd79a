//! The experiments that come with the program: the files of the workspace's `experiments/` folder.

/// An experiment file that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublishedFile {
    /// Its name on the command line.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

macro_rules! published {
    ($(#[$doc:meta])+ $which:ident: $($name:literal)+) => {
        $(#[$doc])+
        pub const $which: &[PublishedFile] = &[$(
            PublishedFile {
                name: $name,
                text: include_str!(concat!("../../../../experiments/", $name, ".toml")),
            },
        )+];
    };
}

published! {
    /// Every experiment that comes with the program, in the order of `all`.
    PUBLISHED:
    "000"
    "001" "001-long" "001-many-queues" "001-seconds"
    "002" "002-ablation" "002-scaling"
    "003"
    "004" "004-ablation" "004-idle" "004-keyrepeat" "004-tick" "004-vmark"
    "eevdf-base-slice" "eevdf-newidle" "eevdf-parity" "eevdf-protection" "eevdf-short" "eevdf-slices"
    "rt-push-ipi" "rt-push-ipi-targets" "rt-push-ipi-remedies" "rt-push-ipi-poisson" "rt-push-ipi-rt"
    "rt-push-ipi-herd" "rt-push-ipi-boost" "rt-push-ipi-audio" "rt-push-ipi-audio-cpus"
    "rt-push-ipi-audio-seeds" "rt-push-ipi-psimon" "rt-push-ipi-variations"
    "bw-fibtest" "bw-burst"
    "dl-server-wakeup" "dl-affinity"
    "preempt-rt"
    "upgrade"
}

published! {
    /// Those that are run by the path of their file, in the root of the source: their loads or machines are
    /// files there, or they take too long for `all`. What they claim is told with that of the others.
    BY_PATH:
    "001-recorded"
    "rt-push-ipi-sockets"
    "rt-push-ipi-lockup"
    "rt-push-ipi-long"
}
