mod builtins;
mod composites;
mod errors;
mod frequencies;
mod idle_states;
mod resizing;
mod speeds;
mod stretches;

use super::MachineSpec;
use scheduler::{CpuId, domains_of};

fn builtin(name: &str) -> MachineSpec {
    MachineSpec::builtin(name).unwrap_or_else(|e| panic!("{e}"))
}

/// The spans of a CPU's sched domains, smallest first, as `mc 0-1, package 0-7`.
fn domains(spec: &MachineSpec, cpu: u16) -> String {
    let chain = &domains_of(&spec.topology)[usize::from(cpu)];
    let words = chain.iter().map(|d| format!("{:?} {}", d.kind, d.span).to_lowercase());
    words.collect::<Vec<_>>().join(", ")
}

fn distance(spec: &MachineSpec, a: u16, b: u16) -> &'static str {
    spec.distance(CpuId(a), CpuId(b)).name()
}
