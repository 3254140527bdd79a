//! The topology of this machine, as sysfs has it.

use super::idle_states::IdleTable;
use machine::Distance;
use rustix::thread::sched_getaffinity;
use scheduler::{CpuId, CpuMask};
use std::fs;
use std::path::Path;
use workload::units;

/// What the scheduler's levels derive from. CPUs are numbered without gaps, in the order of the kernel's
/// numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// The kernel's numbers of the CPUs that are online.
    pub online: Vec<u16>,
    /// Hardware threads of a core.
    pub cores: Vec<CpuMask>,
    /// CPUs that share their largest cache.
    pub caches: Vec<CpuMask>,
    /// Packages, or the nodes within them where memory is divided further.
    pub packages: Vec<CpuMask>,
    /// SLIT distance between the farthest of these.
    pub slit: u32,
    /// CPUs that are online, and that this process may not use, by the kernel's numbers.
    pub left_out: Vec<u16>,
}

/// Where the kernel describes the machine.
const SYSTEM: &str = "/sys/devices/system";

impl Host {
    /// This machine, whoever may use it.
    pub fn whole() -> Host {
        Host::read(Path::new(SYSTEM))
    }

    /// This machine, as far as this process may use it (taskset, a cpuset).
    pub fn here() -> Host {
        let all = Host::whole();
        match sched_getaffinity(None) {
            Ok(allowed) => all.among(&|cpu| allowed.is_set(cpu.into())),
            Err(_) => all,
        }
    }

    /// The same without the CPUs that may not be used; with all of them, if none of these may.
    fn among(&self, allowed: &dyn Fn(u16) -> bool) -> Host {
        let kept: Vec<usize> = (0..self.online.len()).filter(|n| allowed(self.online[*n])).collect();
        if kept.is_empty() {
            return self.clone();
        }
        let number = |cpu: CpuId| kept.iter().position(|n| *n == cpu.index()).map(|n| CpuId(n as u16));
        let among = |groups: &[CpuMask]| {
            let groups = groups.iter().map(|group| group.iter().filter_map(number).collect::<CpuMask>());
            groups.filter(|group| !group.is_empty()).collect()
        };
        Host {
            online: kept.iter().map(|n| self.online[*n]).collect(),
            cores: among(&self.cores),
            caches: among(&self.caches),
            packages: among(&self.packages),
            slit: self.slit,
            left_out: self.online.iter().copied().filter(|cpu| !allowed(*cpu)).collect(),
        }
    }

    /// What there is to be said of CPUs that this process may not use; `None` if it may use them all.
    pub fn left_out(&self) -> Option<String> {
        let list = |cpus: &[u16]| cpus.iter().map(|cpu| CpuId(*cpu)).collect::<CpuMask>().to_string();
        (!self.left_out.is_empty()).then(|| {
            let (used, all) = (list(&self.online), self.online.len() + self.left_out.len());
            format!(
                "this process may use CPU {used} only, of {all} that are online: nothing is said of the others \
                 (taskset, cpuset)"
            )
        })
    }

    /// Reads `/sys/devices/system`, or a tree that looks like it. What a machine does not say is assumed to
    /// be the simplest.
    pub fn read(system: &Path) -> Host {
        let text = |name: String| fs::read_to_string(system.join(name)).unwrap_or_default();
        let list = |name: String| units::cpu_list(text(name).trim()).unwrap_or(CpuMask::EMPTY);
        let online = list("cpu/online".to_owned());
        let online = if online.is_empty() { CpuMask::single(CpuId(0)) } else { online };
        let order: Vec<u16> = online.iter().map(|cpu| cpu.0).collect();
        let number = |mask: &CpuMask| -> CpuMask {
            let known = |cpu: CpuId| order.iter().position(|number| *number == cpu.0);
            mask.iter().filter_map(known).map(|n| CpuId(n as u16)).collect()
        };
        let groups = |of: &dyn Fn(u16) -> CpuMask| {
            let mut groups: Vec<CpuMask> = Vec::new();
            for (n, cpu) in order.iter().enumerate() {
                let n = CpuId(n as u16);
                if !groups.iter().any(|group| group.contains(n)) {
                    let mut group = number(&of(*cpu));
                    group.insert(n);
                    // A CPU is in one group, whatever a confused machine says.
                    groups.push(groups.iter().fold(group, |group, other| group.without(other)));
                }
            }
            groups
        };
        let topology = |cpu: u16, name: &str| list(format!("cpu/cpu{cpu}/topology/{name}"));
        let cores = groups(&|cpu| topology(cpu, "thread_siblings_list"));
        let caches = groups(&|cpu| {
            let index = (0..8).rfind(|n| !text(format!("cpu/cpu{cpu}/cache/index{n}/level")).is_empty());
            index.map_or(CpuMask::EMPTY, |n| list(format!("cpu/cpu{cpu}/cache/index{n}/shared_cpu_list")))
        });
        let packages = groups(&|cpu| topology(cpu, "core_siblings_list"));
        let nodes: Vec<u32> = (0..64).filter(|n| system.join(format!("node/node{n}")).is_dir()).collect();
        let of_node = |cpu: u16| {
            let lists = nodes.iter().map(|n| list(format!("node/node{n}/cpulist")));
            lists.into_iter().find(|list| list.contains(CpuId(cpu))).unwrap_or(CpuMask::EMPTY)
        };
        let memory = groups(&|cpu| of_node(cpu));
        let farthest = nodes.iter().flat_map(|n| {
            let distances = text(format!("node/node{n}/distance"));
            distances.split_whitespace().filter_map(|d| d.parse().ok()).collect::<Vec<u32>>()
        });
        let slit = farthest.max().unwrap_or(20).clamp(11, 254);
        let packages = if memory.len() > packages.len() { memory } else { packages };
        Host { online: order, cores, caches, packages, slit, left_out: Vec::new() }
    }

    /// What the kernel says of the idle states of its CPUs.
    pub(super) fn idle_states(&self) -> IdleTable {
        IdleTable::read(Path::new(SYSTEM), &self.online)
    }

    /// Number of CPUs.
    pub fn cpus(&self) -> usize {
        self.online.len()
    }

    /// Whether cores have more than one hardware thread.
    pub fn has_smt(&self) -> bool {
        self.cores.iter().any(|core| core.weight() > 1)
    }

    /// How far apart two CPUs are.
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        let together = |groups: &[CpuMask]| groups.iter().any(|group| group.contains(a) && group.contains(b));
        match () {
            () if a == b => Distance::Own,
            () if together(&self.cores) => Distance::Smt,
            () if together(&self.caches) => Distance::SharedCache,
            () if together(&self.packages) => Distance::SameNode,
            () => Distance::OtherNode,
        }
    }

    /// The nearest pair of CPUs that are so far apart.
    pub fn pair(&self, distance: Distance) -> Option<Pair> {
        let cpus = || (0..self.cpus() as u16).map(CpuId);
        let pairs = cpus().flat_map(|a| cpus().map(move |b| Pair { a, b }));
        pairs.into_iter().find(|pair| self.distance(pair.a, pair.b) == distance)
    }
}

/// Two CPUs, by their numbers here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// One.
    pub a: CpuId,
    /// The other.
    pub b: CpuId,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, content: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(path, content).expect("a temporary file");
    }

    #[test]
    fn two_packages_of_two_cores_with_two_threads_one_of_them_offline() {
        let root = std::env::temp_dir().join(format!("schedlab-host-{}", std::process::id()));
        put(&root, "cpu/online", "0-6\n");
        for cpu in 0..7u32 {
            let package = if cpu < 4 { "0-3" } else { "4-7" };
            let core = cpu / 2 * 2;
            put(
                &root,
                &format!("cpu/cpu{cpu}/topology/thread_siblings_list"),
                &format!("{core}-{}\n", core + 1),
            );
            put(&root, &format!("cpu/cpu{cpu}/topology/core_siblings_list"), package);
            put(&root, &format!("cpu/cpu{cpu}/cache/index0/level"), "1\n");
            put(
                &root,
                &format!("cpu/cpu{cpu}/cache/index0/shared_cpu_list"),
                &format!("{core}-{}\n", core + 1),
            );
            put(&root, &format!("cpu/cpu{cpu}/cache/index3/level"), "3\n");
            put(&root, &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), package);
        }
        for (node, cpus, distance) in [(0, "0-3", "10 21"), (1, "4-7", "21 10")] {
            put(&root, &format!("node/node{node}/cpulist"), cpus);
            put(&root, &format!("node/node{node}/distance"), distance);
        }
        let host = Host::read(&root);
        fs::remove_dir_all(root).expect("our own folder");
        let lists = |groups: &[CpuMask]| groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!((host.cpus(), host.slit), (7, 21));
        assert_eq!(lists(&host.cores), "0-1 2-3 4-5 6");
        assert_eq!((lists(&host.caches), lists(&host.packages)), ("0-3 4-6".into(), "0-3 4-6".into()));
        let far = |a, b| host.distance(CpuId(a), CpuId(b));
        assert_eq!(
            [far(0, 0), far(0, 1), far(0, 2), far(0, 4)],
            [Distance::Own, Distance::Smt, Distance::SharedCache, Distance::OtherNode]
        );
        assert!(host.has_smt());
        assert_eq!(host.pair(Distance::Smt), Some(Pair { a: CpuId(0), b: CpuId(1) }));
        assert_eq!(host.pair(Distance::SameNode), None);
        assert_eq!(host.pair(Distance::OtherNode), Some(Pair { a: CpuId(0), b: CpuId(4) }));
    }

    #[test]
    fn a_machine_that_says_nothing_has_one_cpu() {
        let host = Host::read(Path::new("/nonexistent"));
        assert_eq!((host.cpus(), host.has_smt(), host.packages.len()), (1, false, 1));
    }

    /// Under `taskset -c 2,3`: two CPUs of four, which are siblings there.
    #[test]
    fn cpus_that_this_process_may_not_use_are_not_there() {
        let first = CpuMask::first_n(2);
        let pairs: Vec<CpuMask> = vec![first, CpuMask::first_n(4).without(&first)];
        let all = Host {
            online: vec![0, 1, 2, 3],
            cores: pairs,
            caches: vec![CpuMask::first_n(4)],
            packages: vec![CpuMask::first_n(4)],
            slit: 20,
            left_out: Vec::new(),
        };
        let two = all.among(&|cpu| cpu >= 2);
        assert_eq!((two.online.clone(), two.left_out.clone()), (vec![2, 3], vec![0, 1]));
        assert_eq!(two.cores, vec![CpuMask::first_n(2)]);
        assert_eq!(two.pair(Distance::Smt), Some(Pair { a: CpuId(0), b: CpuId(1) }));
        let told = two.left_out().expect("two are left out");
        assert!(told.starts_with("this process may use CPU 2-3 only, of 4 "), "{told}");
        assert_eq!(all.among(&|_| true), all);
        assert_eq!(all.left_out(), None);
        assert_eq!(all.among(&|_| false).cpus(), 4, "a mask that names none of them says nothing");
    }
}
