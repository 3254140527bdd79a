//! The fields of an event, in the two ways in which text has them.
//!
//! The kernel (and `report -R`, nearly) writes `key=value` pairs; `trace-cmd report` writes sched_switch and
//! the wakeups in a form of its own, `comm:pid [prio]`. Either is read from the right, where the numbers are:
//! a comm may hold anything.

use super::line::digits;
use crate::model::{Cpu, Pid};
use crate::state::{PrevState, StateBits};
use memchr::memrchr_iter;

/// A task as text names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task<'a> {
    pub(super) comm: &'a [u8],
    pub(super) pid: Pid,
    pub(super) prio: i32,
}

/// How a `sched_switch` was written, which tells the dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `prev_state=S ==> next_comm=`
    Kernel,
    /// `prev_state=1 next_comm=`
    Raw,
    /// `comm:pid [prio] S ==> comm:pid [prio]`
    Plugin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Switch<'a> {
    pub(super) prev: Task<'a>,
    pub(super) prev_state: PrevState,
    pub(super) next: Task<'a>,
    pub(super) style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wakeup<'a> {
    pub(super) task: Task<'a>,
    pub(super) target_cpu: Cpu,
    /// False for `success=0`: the task was awake already (kernels up to 4.2).
    pub(super) success: bool,
}

/// A body from which fields are taken, the last one first.
#[derive(Clone, Copy, Debug)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The value of the last ` key=` in the text, up to its end; the text before it remains. `key` has its
    /// `=` with it.
    fn take(&mut self, key: &[u8]) -> Option<&'a [u8]> {
        let at = self.find_last(key)?;
        let value = &self.0[at + key.len()..];
        // Exactly one blank is the separator; others belong to a comm that ends in blanks.
        self.0 = self.0[..at].strip_suffix(b" ").unwrap_or(&self.0[..at]);
        Some(value)
    }

    /// Where the last `key` begins that stands at the start or behind a blank.
    fn find_last(&self, key: &[u8]) -> Option<usize> {
        let (equals, name) = key.split_last()?;
        memrchr_iter(*equals, self.0).find_map(|at| {
            let before = self.0[..at].strip_suffix(name)?;
            before.last().is_none_or(|byte| *byte == b' ').then_some(before.len())
        })
    }

    /// As [`take`](Self::take), for a number; fields that newer kernels add behind it do not disturb.
    fn number(&mut self, key: &[u8]) -> Option<i64> {
        leading_number(self.take(key)?)
    }

    fn i32(&mut self, key: &[u8]) -> Option<i32> {
        i32::try_from(self.number(key)?).ok()
    }

    fn pid(&mut self, key: &[u8]) -> Option<Pid> {
        self.i32(key).map(Pid)
    }

    fn cpu(&mut self, key: &[u8]) -> Option<Cpu> {
        Some(cpu(self.number(key)?))
    }

    /// The fields `comm=… pid=… prio=…` at the end of what is left.
    fn task(&mut self, comm: &[u8], pid: &[u8], prio: &[u8]) -> Option<Task<'a>> {
        let prio = self.i32(prio)?;
        let pid = self.pid(pid)?;
        Some(Task { comm: self.take(comm)?, pid, prio })
    }
}

/// Out of range becomes the largest number, which is refused where all CPU numbers are checked.
fn cpu(number: i64) -> Cpu {
    Cpu(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A decimal number, perhaps negative, followed by nothing, a blank or a bracket.
fn leading_number(text: &[u8]) -> Option<i64> {
    let (magnitude, rest) = digits(text.strip_prefix(b"-").unwrap_or(text))?;
    if !matches!(rest.first(), None | Some(b' ' | b']')) {
        return None;
    }
    let value = i64::try_from(magnitude).ok()?;
    Some(if text.starts_with(b"-") { -value } else { value })
}

pub(super) fn sched_switch(body: &[u8]) -> Option<Switch<'_>> {
    if !body.starts_with(b"prev_comm=") {
        return plugin_switch(body);
    }
    let mut fields = Fields(body);
    let next = fields.task(b"next_comm=", b"next_pid=", b"next_prio=")?;
    fields.0 = fields.0.strip_suffix(b" ==>").unwrap_or(fields.0);
    let state = fields.take(b"prev_state=")?;
    let (prev_state, style) = match raw_state(state) {
        Some(bits) => (StateBits::modern().decode(bits), Style::Raw),
        None => (PrevState::from_letters(state), Style::Kernel),
    };
    let prev = fields.task(b"prev_comm=", b"prev_pid=", b"prev_prio=")?;
    Some(Switch { prev, prev_state, next, style })
}

/// The number in `prev_state=256` or `prev_state=0x100`.
fn raw_state(state: &[u8]) -> Option<i64> {
    match state.strip_prefix(b"0x") {
        Some(hex) => i64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok(),
        None => leading_number(state),
    }
}

/// `comm:pid [prio] S ==> comm:pid [prio]`
fn plugin_switch(body: &[u8]) -> Option<Switch<'_>> {
    const ARROW: &[u8] = b" ==> ";
    let arrow = body.windows(ARROW.len()).rposition(|window| window == ARROW)?;
    let next = plugin_task(&body[arrow + ARROW.len()..])?;
    let left = &body[..arrow];
    let blank = left.iter().rposition(|byte| *byte == b' ')?;
    let prev_state = PrevState::from_plugin_letters(&left[blank + 1..]);
    Some(Switch { prev: plugin_task(&left[..blank])?, prev_state, next, style: Style::Plugin })
}

/// `comm:pid [prio]`
fn plugin_task(text: &[u8]) -> Option<Task<'_>> {
    let text = text.trim_ascii_end().strip_suffix(b"]")?;
    let open = text.iter().rposition(|byte| *byte == b'[')?;
    let prio = i32::try_from(leading_number(&text[open + 1..])?).ok()?;
    let name = text[..open].trim_ascii_end();
    let colon = name.iter().rposition(|byte| *byte == b':')?;
    let pid = i32::try_from(leading_number(&name[colon + 1..])?).ok()?;
    Some(Task { comm: &name[..colon], pid: Pid(pid), prio })
}

pub(super) fn wakeup(body: &[u8]) -> Option<Wakeup<'_>> {
    if !body.starts_with(b"comm=") {
        return plugin_wakeup(body);
    }
    let mut fields = Fields(body);
    let target_cpu = fields.cpu(b"target_cpu=")?;
    // A comm may hold " success=0" itself: the field stands behind the priority or not at all.
    let mut old = fields;
    let success = old.take(b"success=").filter(|_| old.find_last(b"prio=") == fields.find_last(b"prio="));
    if success.is_some() {
        fields = old;
    }
    let task = fields.task(b"comm=", b"pid=", b"prio=")?;
    Some(Wakeup { task, target_cpu, success: success != Some(b"0") })
}

/// `comm:pid [prio] CPU:001`, in old kernels with `success=1` before the CPU.
fn plugin_wakeup(body: &[u8]) -> Option<Wakeup<'_>> {
    const CPU: &[u8] = b" CPU:";
    let at = body.windows(CPU.len()).rposition(|window| window == CPU)?;
    let target_cpu = cpu(leading_number(&body[at + CPU.len()..])?);
    let task = &body[..at];
    let end = task.iter().rposition(|byte| *byte == b']')?;
    let success = task[end + 1..].trim_ascii() != b"success=0";
    Some(Wakeup { task: plugin_task(&task[..=end])?, target_cpu, success })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Migrate<'a> {
    pub(super) task: Task<'a>,
    pub(super) orig_cpu: Cpu,
    pub(super) dest_cpu: Cpu,
}

pub(super) fn migrate_task(body: &[u8]) -> Option<Migrate<'_>> {
    let mut fields = Fields(body);
    let dest_cpu = fields.cpu(b"dest_cpu=")?;
    let orig_cpu = fields.cpu(b"orig_cpu=")?;
    Some(Migrate { task: fields.task(b"comm=", b"pid=", b"prio=")?, orig_cpu, dest_cpu })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fork<'a> {
    pub(super) parent_comm: &'a [u8],
    pub(super) parent_pid: Pid,
    pub(super) child_comm: &'a [u8],
    pub(super) child_pid: Pid,
}

/// The kernel prints the parent as `comm=… pid=…`, `report -R` as `parent_comm=… parent_pid=…`.
pub(super) fn process_fork(body: &[u8]) -> Option<Fork<'_>> {
    let mut fields = Fields(body);
    let child_pid = fields.pid(b"child_pid=")?;
    let child_comm = fields.take(b"child_comm=")?;
    let raw = body.starts_with(b"parent_comm=");
    let parent_pid = fields.pid(if raw { b"parent_pid=" } else { b"pid=" })?;
    let parent_comm = fields.take(if raw { b"parent_comm=" } else { b"comm=" })?;
    Some(Fork { parent_comm, parent_pid, child_comm, child_pid })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exec<'a> {
    pub(super) filename: &'a [u8],
    pub(super) pid: Pid,
    pub(super) old_pid: Pid,
}

pub(super) fn process_exec(body: &[u8]) -> Option<Exec<'_>> {
    let mut fields = Fields(body);
    let old_pid = fields.pid(b"old_pid=")?;
    let pid = fields.pid(b"pid=")?;
    Some(Exec { filename: fields.take(b"filename=")?, pid, old_pid })
}

pub(super) fn process_exit(body: &[u8]) -> Option<Task<'_>> {
    Fields(body).task(b"comm=", b"pid=", b"prio=")
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PiSetprio<'a> {
    pub(super) comm: &'a [u8],
    pub(super) pid: Pid,
    pub(super) oldprio: i32,
    pub(super) newprio: i32,
}

pub(super) fn pi_setprio(body: &[u8]) -> Option<PiSetprio<'_>> {
    let mut fields = Fields(body);
    let newprio = fields.i32(b"newprio=")?;
    let oldprio = fields.i32(b"oldprio=")?;
    let pid = fields.pid(b"pid=")?;
    Some(PiSetprio { comm: fields.take(b"comm=")?, pid, oldprio, newprio })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StatRuntime<'a> {
    pub(super) comm: &'a [u8],
    pub(super) pid: Pid,
    pub(super) runtime_ns: u64,
    pub(super) vruntime_ns: Option<u64>,
}

/// `comm=… pid=… runtime=123 [ns] vruntime=456 [ns]`; newer kernels have no vruntime.
pub(super) fn stat_runtime(body: &[u8]) -> Option<StatRuntime<'_>> {
    let mut fields = Fields(body);
    let mut with = fields;
    let vruntime = with.number(b"vruntime=");
    if vruntime.is_some() {
        fields = with;
    }
    let runtime = fields.number(b"runtime=")?;
    let pid = fields.pid(b"pid=")?;
    Some(StatRuntime {
        comm: fields.take(b"comm=")?,
        pid,
        runtime_ns: u64::try_from(runtime).ok()?,
        vruntime_ns: vruntime.and_then(|ns| u64::try_from(ns).ok()),
    })
}

/// The text of a `print` event of `trace-cmd report`: an address or a function's name stands before it, or
/// with `-R` `ip=… buf=`.
pub(super) fn print_text(body: &[u8]) -> &[u8] {
    if body.starts_with(b"ip=")
        && let Some(at) = body.windows(5).position(|window| window == b" buf=")
    {
        return &body[at + 5..];
    }
    match body.windows(2).position(|window| window == b": ") {
        Some(at) if !body[..at].contains(&b' ') => &body[at + 2..],
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(comm: &str, pid: i32, prio: i32) -> Task<'_> {
        Task { comm: comm.as_bytes(), pid: Pid(pid), prio }
    }

    fn check_switch(body: &str, prev: Task<'_>, prev_state: PrevState, next: Task<'_>, style: Style) {
        assert_eq!(sched_switch(body.as_bytes()), Some(Switch { prev, prev_state, next, style }), "{body}");
    }

    #[test]
    fn a_switch_in_all_three_dialects() {
        let (prev, next) = (task("rr1", 7, 89), task("swapper/1", 0, 120));
        let kernel = "prev_comm=rr1 prev_pid=7 prev_prio=89 prev_state=R+ ==> next_comm=swapper/1 next_pid=0 \
                      next_prio=120";
        check_switch(kernel, prev, PrevState::Preempted, next, Style::Kernel);
        let raw = "prev_comm=rr1 prev_pid=7 prev_prio=89 prev_state=256 next_comm=swapper/1 next_pid=0 \
                   next_prio=120";
        check_switch(raw, prev, PrevState::Preempted, next, Style::Raw);
        check_switch(&raw.replace("256", "0x80"), prev, PrevState::Idle, next, Style::Raw);
        check_switch(
            "rr1:7 [89] S ==> swapper/1:0 [120]",
            prev,
            PrevState::Interruptible,
            next,
            Style::Plugin,
        );
        check_switch("rr1:7 [89] W ==> swapper/1:0 [120]", prev, PrevState::Idle, next, Style::Plugin);
    }

    #[test]
    fn names_that_look_like_fields() {
        let (prev, next) = (task("a prev_pid=3 b", 7, -1), task("x:y [1] z", 9, 120));
        let kernel = "prev_comm=a prev_pid=3 b prev_pid=7 prev_prio=-1 prev_state=D|K ==> \
                      next_comm=x:y [1] z next_pid=9 next_prio=120 added=5";
        check_switch(kernel, prev, PrevState::Uninterruptible, next, Style::Kernel);
        let plugin = "a prev_pid=3 b:7 [-1] D ==> x:y [1] z:9 [120]";
        check_switch(plugin, prev, PrevState::Uninterruptible, next, Style::Plugin);
        let arrow = task(" ==> b:1 [2]", 7, 120);
        check_switch(
            " ==> b:1 [2]:7 [120] S ==> z:9 [1]",
            arrow,
            PrevState::Interruptible,
            task("z", 9, 1),
            Style::Plugin,
        );
    }

    #[test]
    fn wakeups_old_and_new() {
        let woken = |success| Some(Wakeup { task: task("a pid=1", 7, 120), target_cpu: Cpu(3), success });
        assert_eq!(wakeup(b"comm=a pid=1 pid=7 prio=120 target_cpu=003"), woken(true));
        assert_eq!(wakeup(b"comm=a pid=1 pid=7 prio=120 success=1 target_cpu=003"), woken(true));
        assert_eq!(wakeup(b"comm=a pid=1 pid=7 prio=120 success=0 target_cpu=003"), woken(false));
        assert_eq!(wakeup(b"a pid=1:7 [120] CPU:003"), woken(true));
        assert_eq!(wakeup(b"a pid=1:7 [120] success=0 CPU:003"), woken(false));
        let odd = wakeup(b"comm=x success=0 pid=7 prio=120 target_cpu=003");
        assert_eq!(odd.map(|w| (w.task.comm, w.success)), Some((&b"x success=0"[..], true)));
    }

    #[test]
    fn the_other_events() {
        let moved = migrate_task(b"comm=a pid=7 prio=120 orig_cpu=0 dest_cpu=1 running=1");
        assert_eq!(moved, Some(Migrate { task: task("a", 7, 120), orig_cpu: Cpu(0), dest_cpu: Cpu(1) }));
        let fork = Fork { parent_comm: b"p", parent_pid: Pid(1), child_comm: b"c", child_pid: Pid(2) };
        assert_eq!(process_fork(b"comm=p pid=1 child_comm=c child_pid=2"), Some(fork));
        assert_eq!(process_fork(b"parent_comm=p parent_pid=1 child_comm=c child_pid=2"), Some(fork));
        let exec = process_exec(b"filename=/a b/c pid=1 old_pid=2");
        assert_eq!(exec, Some(Exec { filename: b"/a b/c", pid: Pid(1), old_pid: Pid(2) }));
        assert_eq!(process_exit(b"comm=a pid=7 prio=120 group_dead=true"), Some(task("a", 7, 120)));
        let pi = pi_setprio(b"comm=a pid=7 oldprio=97 newprio=94");
        assert_eq!(pi, Some(PiSetprio { comm: b"a", pid: Pid(7), oldprio: 97, newprio: 94 }));
        let stat = |vruntime_ns| Some(StatRuntime { comm: b"a", pid: Pid(7), runtime_ns: 12, vruntime_ns });
        assert_eq!(stat_runtime(b"comm=a pid=7 runtime=12 [ns]"), stat(None));
        assert_eq!(stat_runtime(b"comm=a pid=7 runtime=12 [ns] vruntime=34 [ns]"), stat(Some(34)));
    }

    #[test]
    fn the_text_of_a_marker() {
        assert_eq!(print_text(b"0xffffffff81498b1a: mix_lab start"), b"mix_lab start");
        assert_eq!(print_text(b"tracing_mark_write: a: b"), b"a: b");
        assert_eq!(print_text(b"ip=0xffffffff81498b1a buf=mix_lab start"), b"mix_lab start");
        assert_eq!(print_text(b"no prefix: here"), b"no prefix: here");
    }

    #[test]
    fn incomplete_bodies_are_refused() {
        let whole = "prev_comm=a prev_pid=7 prev_prio=89 prev_state=R ==> next_comm=b next_pid=0 next_prio=";
        for len in 0..whole.len() {
            assert_eq!(sched_switch(&whole.as_bytes()[..len]), None, "{}", &whole[..len]);
        }
        let plugin = "a:7 [89] S ==> b:0 [120";
        for len in 0..plugin.len() {
            assert_eq!(sched_switch(&plugin.as_bytes()[..len]), None, "{}", &plugin[..len]);
        }
        assert_eq!(wakeup(b"comm=a pid=x prio=1 target_cpu=1"), None);
        assert_eq!(wakeup(b"comm=a pid=1 prio=1 target_cpu=1x"), None);
        assert_eq!(process_exit(b"comm=a pid=99999999999 prio=1"), None);
    }
}
