//! What cgroups get of the CPUs: limits (`cpu.max`, `cpu.cfs_quota_us`) and weights, as their files say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use trace::{CgroupCpu, CpuQuota, CpuRtRuntime};

/// What the kernel gives a group by itself.
const DEFAULT_WEIGHT: u64 = 100;
const DEFAULT_SHARES: u64 = 1024;

/// The hierarchy of cgroups that has the controller `cpu`, where it is mounted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    root: PathBuf,
    /// The cgroup that is mounted there: in a container, maybe not the first one.
    mounted: String,
}

impl Hierarchy {
    /// By `/proc/self/mountinfo`; one of version 1, else the one of version 2, as for the groups of tasks.
    pub fn find(mountinfo: &str) -> Option<Hierarchy> {
        let mounts = || mountinfo.lines().filter_map(Mount::of);
        let first = |wanted: fn(&Mount<'_>) -> bool| mounts().find(wanted);
        let found = first(|mount| mount.kind == "cgroup" && mount.options.split(',').any(|one| one == "cpu"))
            .or_else(|| first(|mount| mount.kind == "cgroup2"))?;
        let mounted = found.root.trim_end_matches('/').to_owned();
        Some(Hierarchy { root: PathBuf::from(found.point), mounted })
    }

    /// What these cgroups and all above them get, those left out that have only what the kernel gives by
    /// itself. A group whose files cannot be read has nothing.
    pub fn cpu_of<'a>(&self, paths: impl Iterator<Item = &'a str>) -> BTreeMap<String, CgroupCpu> {
        let mut found = BTreeMap::new();
        for path in paths {
            let mut at = path;
            while !at.is_empty() && at != "/" && !found.contains_key(at) {
                found.insert(at.to_owned(), self.cpu(at));
                at = at.rsplit_once('/').map_or("", |(above, _)| above);
            }
        }
        found.retain(|_, cpu| *cpu != CgroupCpu::default());
        found
    }

    fn cpu(&self, path: &str) -> CgroupCpu {
        let below = path.strip_prefix(&self.mounted).unwrap_or(path).trim_start_matches('/');
        let folder = self.root.join(below);
        let number = |name: &str, usual: u64| number(&folder, name).filter(|value| *value != usual);
        CgroupCpu {
            quota: quota_v2(&folder).or_else(|| quota_v1(&folder)),
            weight: number("cpu.weight", DEFAULT_WEIGHT),
            shares: number("cpu.shares", DEFAULT_SHARES),
            burst_us: number("cpu.max.burst", 0).or_else(|| number("cpu.cfs_burst_us", 0)),
            idle: number("cpu.idle", 0) == Some(1),
            rt: rt_runtime(&folder),
            clamps: None,
        }
    }
}

/// A line of mountinfo, as far as it is wanted here.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    /// Of the file system: for cgroups of version 1, the controllers.
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// Its fields are numbered in proc(5); how many optional ones there are, a lone `-` ends.
    fn of(line: &'a str) -> Option<Mount<'a>> {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let mut filesystem = filesystem.split(' ');
        let (root, point) = (mount.next()?, mount.next()?);
        Some(Mount { root, point, kind: filesystem.next()?, options: filesystem.nth(1)? })
    }
}

fn text(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

fn number(folder: &Path, name: &str) -> Option<u64> {
    text(folder, name)?.trim().parse().ok()
}

/// `20000 100000`, or `max 100000`.
fn quota_v2(folder: &Path) -> Option<CpuQuota> {
    let text = text(folder, "cpu.max")?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some(CpuQuota { quota_us: quota.parse().ok()?, period_us: period.parse().ok()? })
}

/// Without a limit, the quota is -1.
fn quota_v1(folder: &Path) -> Option<CpuQuota> {
    let (quota_us, period_us) = (number(folder, "cpu.cfs_quota_us")?, number(folder, "cpu.cfs_period_us")?);
    Some(CpuQuota { quota_us, period_us })
}

/// Of version 1, where the kernel has groups of real-time tasks; a group has nothing by itself.
fn rt_runtime(folder: &Path) -> Option<CpuRtRuntime> {
    let runtime_us: i64 = text(folder, "cpu.rt_runtime_us")?.trim().parse().ok()?;
    let period_us = number(folder, "cpu.rt_period_us")?;
    (runtime_us != 0).then_some(CpuRtRuntime { runtime_us, period_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "30 25 0:26 / /sys/fs/cgroup/cpuset rw,nosuid shared:9 - cgroup cgroup rw,cpuset\n\
        31 25 0:27 / /sys/fs/cgroup/cpu rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct\n";
    const V2: &str = "28 25 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_hierarchy_is_that_of_the_cpu_controller() {
        let at = |mountinfo: &str| Hierarchy::find(mountinfo).map(|found| found.root);
        assert_eq!(at(&format!("{V2}{V1}")), Some("/sys/fs/cgroup/cpu".into()));
        assert_eq!(at(V2), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(at("22 1 0:20 / /proc rw - proc proc rw\n"), None);
    }

    /// The limits of what is in `path`, in a hierarchy that has these files; `mounted` is mounted at its
    /// root.
    fn cpu_of(name: &str, mounted: &str, files: &[(&str, &str)], path: &str) -> BTreeMap<String, CgroupCpu> {
        let root = std::env::temp_dir().join(format!("schedlab-{name}-{}", std::process::id()));
        for (file, content) in files {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a temporary folder");
            fs::write(file, content).expect("a temporary file");
        }
        let hierarchy = Hierarchy { root: root.clone(), mounted: mounted.to_owned() };
        let found = hierarchy.cpu_of([path].into_iter());
        fs::remove_dir_all(root).expect("our own folder");
        found
    }

    #[test]
    fn limits_and_weights_of_both_versions_are_read_and_usual_ones_left_out() {
        let quota = Some(CpuQuota { quota_us: 20_000, period_us: 100_000 });
        let v2 =
            [("a/cpu.max", "max 100000\n"), ("a/cpu.weight", "100\n"), ("a/b/cpu.max", "20000 100000\n")];
        let limited = CgroupCpu { quota, ..CgroupCpu::default() };
        assert_eq!(cpu_of("v2", "", &v2, "/a/b"), BTreeMap::from([("/a/b".to_owned(), limited)]));
        let v1 = [
            ("a/cpu.cfs_quota_us", "20000\n"),
            ("a/cpu.cfs_period_us", "100000\n"),
            ("a/cpu.shares", "512\n"),
            ("a/cpu.rt_runtime_us", "100000\n"),
            ("a/cpu.rt_period_us", "1000000\n"),
            ("a/b/cpu.cfs_quota_us", "-1\n"),
            ("a/b/cpu.cfs_period_us", "100000\n"),
            ("a/b/cpu.shares", "1024\n"),
            ("a/b/cpu.rt_runtime_us", "0\n"),
            ("a/b/cpu.rt_period_us", "1000000\n"),
        ];
        let rt = Some(CpuRtRuntime { runtime_us: 100_000, period_us: 1_000_000 });
        let above = CgroupCpu { shares: Some(512), rt, ..limited };
        assert_eq!(cpu_of("v1", "", &v1, "/a/b"), BTreeMap::from([("/a".to_owned(), above)]));
        let inside = cpu_of("inside", "/docker/x", &v2, "/docker/x/a/b");
        assert_eq!(inside, BTreeMap::from([("/docker/x/a/b".to_owned(), limited)]));
    }
}
