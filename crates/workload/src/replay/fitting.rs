//! A recording on a machine with fewer or more CPUs than the one on which it was made.
//!
//! Kernel threads of a CPU that is not there are left out, as far as nobody waits for them; those of new CPUs
//! are the machine file's. Affinities are cut to the CPUs that exist; where nothing is left of one, the
//! nearest CPU takes its place.

use super::affinity::per_cpu_thread;
use super::reading::KnownAffinity;
use super::recording::{RecordedTask, ReplayStep};
use machine::{ChannelId, ToldStep};
use scheduler::{CpuId, CpuMask};
use std::collections::BTreeSet;

/// What a machine of another size made necessary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Fitted {
    recorded_cpus: usize,
    cpus: usize,
    /// Kernel threads of missing CPUs that are left out.
    left_out: usize,
    /// Kernel threads of missing CPUs for which others wait, so that they run on another one.
    kept: usize,
    /// Tasks whose affinity lost some CPUs.
    cut: usize,
    /// Tasks whose affinity has no CPU left.
    moved: usize,
    /// Affinities that the user gave with CPUs that are missing, as he wrote them.
    known_cut: BTreeSet<String>,
}

/// What is lost of an affinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Loss {
    None,
    Some,
    All,
}

impl Fitted {
    /// For a recording of `recorded_cpus` CPUs on a machine with `cpus`, both above 0. Simulated machines
    /// have up to 512.
    pub fn new(recorded_cpus: usize, cpus: usize) -> Fitted {
        Fitted { recorded_cpus: recorded_cpus.min(CpuId::LIMIT), cpus, ..Fitted::default() }
    }

    /// Which tasks are left out: kernel threads of missing CPUs whose work no replayed task waits for.
    pub fn leave_out(&mut self, tasks: &[RecordedTask]) -> Vec<bool> {
        let of_missing_cpu = |task: &RecordedTask| {
            per_cpu_thread(&task.comm).is_some_and(|cpu| cpu as usize >= self.cpus) && !task.is_stopper()
        };
        let mut out: Vec<bool> = tasks.iter().map(of_missing_cpu).collect();
        let threads = out.iter().filter(|out| **out).count();
        if threads == 0 {
            return out;
        }
        let readers = Readers::of(tasks);
        // Whoever is kept may in turn wait for another one.
        let mut settled = false;
        while !settled {
            settled = true;
            for n in 0..tasks.len() {
                if out[n] && tasks[n].steps.iter().any(|step| readers.served(step).any(|whom| !out[whom])) {
                    (out[n], settled) = (false, false);
                }
            }
        }
        self.left_out = out.iter().filter(|out| **out).count();
        self.kept = threads - self.left_out;
        out
    }

    /// An affinity on this machine.
    pub fn affinity(&mut self, recorded: &CpuMask) -> CpuMask {
        let (cpus, loss) = self.fit(recorded);
        self.count(loss);
        cpus
    }

    fn fit(&self, recorded: &CpuMask) -> (CpuMask, Loss) {
        let there = recorded.and(&CpuMask::first_n(self.cpus));
        if there.is_empty() {
            return (CpuMask::single(CpuId(self.cpus.saturating_sub(1) as u16)), Loss::All);
        }
        // What may use all CPUs may use all of any machine.
        let lost = *recorded != CpuMask::ALL && recorded.and(&CpuMask::first_n(self.recorded_cpus)) != there;
        let cut = lost && self.cpus < self.recorded_cpus;
        (there, if cut { Loss::Some } else { Loss::None })
    }

    /// One more task that has lost so much.
    fn count(&mut self, loss: Loss) {
        self.cut += usize::from(loss == Loss::Some);
        self.moved += usize::from(loss == Loss::All);
    }

    /// An affinity that the user gave, on this machine; `None` if none of its CPUs is there.
    pub fn known(&mut self, known: &KnownAffinity) -> Option<CpuMask> {
        let there = known.cpus.and(&CpuMask::first_n(self.cpus));
        if there.is_empty() {
            return None;
        }
        if known.cpus != CpuMask::ALL && known.cpus != there {
            self.known_cut
                .insert(format!("--affinity {known}: cut to {there}, because {}", there_are(self.cpus)));
        }
        Some(there)
    }

    /// The same where a task binds itself.
    pub fn bind(&mut self, steps: &mut [ReplayStep]) {
        let last = self.cpus.saturating_sub(1) as u32;
        let mut most = Loss::None;
        for step in steps {
            match step {
                ReplayStep::Bind(cpu) if *cpu > last => (*cpu, most) = (last, Loss::All),
                ReplayStep::Told(ToldStep::SetAffinity { cpus, .. }) => {
                    let (there, loss) = self.fit(cpus);
                    (**cpus, most) = (there, most.max(loss));
                }
                _ => {}
            }
        }
        self.count(most);
    }

    /// What was done, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let Fitted { recorded_cpus, cpus, left_out, kept, cut, moved, ref known_cut } = *self;
        let sentence = |count: usize, name: &str, rest: &str| {
            let ending = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {name}{ending} {rest}"))
        };
        let mut notes: Vec<String> = [
            sentence(left_out, "kernel thread", "of CPUs that this machine does not have: left out"),
            sentence(
                kept,
                "kernel thread",
                "of CPUs that this machine does not have: put on its last CPU, because others wait for the \
                 work",
            ),
            sentence(
                cut,
                "task",
                "with an affinity to CPUs that this machine does not have: left to the \
                                   others",
            ),
            sentence(
                moved,
                "task",
                "bound to CPUs that this machine does not have: put on the nearest one (--affinity TASK=all \
                 frees them)",
            ),
        ]
        .into_iter()
        .flatten()
        .chain(known_cut.iter().cloned())
        .collect();
        if cpus > recorded_cpus {
            notes.push(format!(
                "the recording has {recorded_cpus} CPUs: kernel threads of CPUs {recorded_cpus} to {} are \
                 those of the machine file",
                cpus - 1
            ));
        }
        notes
    }
}

/// Which CPUs a machine of this size has, in words.
pub(super) fn there_are(cpus: usize) -> String {
    match cpus {
        0 | 1 => "the machine has CPU 0 only".to_owned(),
        _ => format!("the machine has CPUs 0 to {}", cpus - 1),
    }
}

/// Which tasks read told channels.
struct Readers(BTreeSet<(ChannelId, usize)>);

impl Readers {
    fn of(tasks: &[RecordedTask]) -> Readers {
        let read = |step: &ReplayStep| match step {
            ReplayStep::Told(ToldStep::Receive(channel)) => Some(*channel),
            _ => None,
        };
        let of = |(n, task)| {
            let task: &RecordedTask = task;
            task.steps.iter().filter_map(read).map(move |channel| (channel, n))
        };
        Readers(tasks.iter().enumerate().flat_map(of).collect())
    }

    /// The tasks that may wait for this step of another one.
    fn served(&self, step: &ReplayStep) -> impl Iterator<Item = usize> {
        let task = match step {
            ReplayStep::Wake { task, .. } | ReplayStep::Submit { task, .. } => Some(task.index()),
            ReplayStep::Fork { child, .. } => Some(child.index()),
            _ => None,
        };
        let channels = if let ReplayStep::Told(step) = step { messages(step) } else { &[] };
        let readers =
            channels.iter().flat_map(|channel| self.0.range((*channel, 0)..=(*channel, usize::MAX)));
        task.into_iter().chain(readers.map(|(_, reader)| *reader))
    }
}

/// Where a told step sends something.
fn messages(step: &ToldStep) -> &[ChannelId] {
    match step {
        ToldStep::Send(channel) | ToldStep::TrySend(channel) | ToldStep::Submit { done: channel, .. } => {
            std::slice::from_ref(channel)
        }
        ToldStep::TrySendAll(channels) | ToldStep::GiveBack { wakes: channels, .. } => channels,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(cpus: &[u16]) -> CpuMask {
        let mut mask = CpuMask::EMPTY;
        for cpu in cpus {
            mask.insert(CpuId(*cpu));
        }
        mask
    }

    #[test]
    fn affinities_are_cut_and_never_empty() {
        let mut fitted = Fitted::new(4, 2);
        assert_eq!(fitted.affinity(&mask(&[0, 1])), mask(&[0, 1]));
        assert_eq!(fitted.affinity(&mask(&[1, 2])), mask(&[1]));
        assert_eq!(fitted.affinity(&mask(&[2, 3])), mask(&[1]));
        assert_eq!(fitted.affinity(&CpuMask::ALL), mask(&[0, 1]));
        assert_eq!((fitted.cut, fitted.moved), (1, 1));
        let mut steps = [ReplayStep::Bind(3), ReplayStep::Bind(0), ReplayStep::Bind(2)];
        fitted.bind(&mut steps);
        assert_eq!(steps, [ReplayStep::Bind(1), ReplayStep::Bind(0), ReplayStep::Bind(1)]);
        assert_eq!((fitted.cut, fitted.moved), (1, 2));
        // A task counts once, by the most that it loses.
        let told = |cpus| ReplayStep::Told(ToldStep::SetAffinity { target: None, cpus: Box::new(cpus) });
        let mut steps = [told(mask(&[3])), told(mask(&[0, 3])), told(CpuMask::ALL)];
        fitted.bind(&mut steps);
        assert_eq!(steps, [told(mask(&[1])), told(mask(&[0])), told(mask(&[0, 1]))]);
        assert_eq!((fitted.cut, fitted.moved), (1, 3));
        assert_eq!(Fitted::new(2, 4).affinity(&CpuMask::ALL), CpuMask::first_n(4));
    }

    #[test]
    fn what_the_user_names_is_cut_and_said_once() {
        let known = |cpus| KnownAffinity { whom: "cc*".parse().expect("a pattern"), cpus };
        let mut fitted = Fitted::new(4, 2);
        assert_eq!(fitted.known(&known(CpuMask::ALL)), Some(CpuMask::first_n(2)));
        assert_eq!(fitted.known(&known(mask(&[1]))), Some(mask(&[1])));
        assert_eq!(fitted.notes(), [""; 0]);
        for _ in 0..2 {
            assert_eq!(fitted.known(&known(mask(&[1, 5]))), Some(mask(&[1])));
        }
        assert_eq!(fitted.notes(), ["--affinity cc*=1,5: cut to 1, because the machine has CPUs 0 to 1"]);
        assert_eq!(fitted.known(&known(mask(&[5]))), None);
    }
}
