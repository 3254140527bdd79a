//! Several configurations of one experiment, over several seeds, on all cores.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::groups::Groups;
use crate::kernel::KernelConfig;
use crate::limits;
use crate::loads::LoadSpec;
use crate::machines::NamedMachine;
use crate::parallel;
use crate::reference;
use report::compare;
use report::numbers::duration_ns;
use schema::RunResult;
use schema::comparison::Comparison;

/// One configuration of a comparison.
#[derive(Clone, Debug)]
pub struct Arm {
    /// What to call it.
    pub name: String,
    /// Its machine.
    pub machine: NamedMachine,
    /// Its kernel.
    pub kernel: KernelConfig,
    /// Its task groups.
    pub groups: Groups,
    /// What runs.
    pub loads: Vec<LoadSpec>,
}

/// A comparison to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Length and first seed; its loads, machine, kernel and groups are replaced by those of each arm.
    pub experiment: Experiment,
    /// What the variants are compared with.
    pub base: Arm,
    /// At least one.
    pub variants: Vec<Arm>,
    /// Number of seeds, at least one: the experiment's and those after it.
    pub repeat: u32,
}

impl Plan {
    /// How many runs it takes.
    #[must_use]
    pub fn runs(&self) -> u64 {
        (1 + self.variants.len() as u64) * u64::from(self.repeat)
    }

    /// The plan's experiment in a configuration, with the first seed.
    #[must_use]
    pub fn of_arm(&self, arm: &Arm) -> Experiment {
        Experiment {
            loads: arm.loads.clone(),
            machine: arm.machine.clone(),
            kernel: arm.kernel.clone(),
            groups: arm.groups.clone(),
            record: false,
            dumps: Vec::new(),
            ..self.experiment.clone()
        }
    }

    /// Its seeds.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        (0..u64::from(self.repeat)).map(|n| self.experiment.seed.wrapping_add(n)).collect()
    }

    /// One run: of the base or of one of its variants, `arm`, with one of its seeds.
    ///
    /// # Errors
    /// Those of [`Experiment::run`], with configuration and seed.
    pub fn run(&self, arm: &Arm, seed: u64) -> Result<RunResult, Error> {
        let decides = self.experiment.fidelity && std::ptr::eq(arm, &self.base);
        let experiment = Experiment {
            seed,
            // What is said of the base's first run is said once.
            fidelity: decides && seed == self.experiment.seed,
            ..self.of_arm(arm)
        };
        let mut run = experiment.run().map_err(|source| Error::OfRun {
            configuration: arm.name.clone(),
            seed,
            source: Box::new(source),
        })?;
        if decides && !experiment.fidelity {
            let found = experiment.loads.iter().filter_map(|load| reference::fidelity(&experiment, load));
            run.result.replay = found.filter_map(Result::ok).collect();
        }
        Ok(run.result)
    }
}

/// Runs each configuration with each seed and compares the variants with the base. `finished` is called after
/// each run, from any thread. The answer does not depend on the number of threads or on which run ends first.
///
/// # Errors
/// Those of [`Experiment::run`], of the first run in the order of configurations and seeds that has one; no
/// variant.
pub fn compare(plan: &Plan, finished: &(dyn Fn() + Sync)) -> Result<Comparison, Error> {
    let seeds = plan.seeds();
    let arms = std::iter::once(&plan.base).chain(&plan.variants);
    let pairs: Vec<(&Arm, u64)> = arms.flat_map(|arm| seeds.iter().map(move |seed| (arm, *seed))).collect();
    let runs: Vec<Result<RunResult, Error>> = parallel::map(&pairs, |(arm, seed)| {
        let result = plan.run(arm, *seed);
        finished();
        result
    });
    let runs: Vec<RunResult> = runs.into_iter().collect::<Result<_, _>>()?;
    compare_runs(plan, &runs)
}

/// Compares the runs of a plan, made by [`Plan::run`]: those of the base, then those of each variant, in the
/// order of the seeds.
///
/// # Errors
/// No variant.
pub fn compare_runs(plan: &Plan, runs: &[RunResult]) -> Result<Comparison, Error> {
    let seeds = plan.seeds();
    let arms: Vec<&Arm> = std::iter::once(&plan.base).chain(&plan.variants).collect();
    let mut of_arms = arms.iter().zip(runs.chunks(seeds.len().max(1)));
    let mut next = || of_arms.next().map(|(arm, runs)| compare::Arm { name: arm.name.clone(), runs });
    let base = next().unwrap_or(compare::Arm { name: plan.base.name.clone(), runs: &[] });
    let variants: Vec<compare::Arm<'_>> = std::iter::from_fn(next).collect();
    let mut comparison = compare::compare(&base, &variants)?;
    comparison.warnings.extend(variants.iter().filter_map(|variant| length_differs(plan, &base, variant)));
    comparison.notes.extend(plan.base.loads.iter().filter_map(LoadSpec::note_on_endlessness));
    let plain_base = plan.of_arm(&plan.base);
    for (arm, compared) in plan.variants.iter().zip(&mut comparison.variants) {
        compared.same_as_base = plan.of_arm(arm).is_same_simulation(&plain_base);
        let of_base = |load: &LoadSpec| plan.base.loads.iter().any(|base| base.text() == load.text());
        for other in arm.loads.iter().filter(|load| load.recorded().is_some() && !of_base(load)) {
            comparison.notes.push(format!(
                "{}: verdict and distances are those of the base's recording; `schedlab run {}` \
                 gives its own",
                arm.name,
                other.text()
            ));
        }
        comparison.warnings.extend(ticks_differ(&plan.base.kernel, arm));
        if let Some(note) = limits::costs_of_preempt_rt(plan.base.kernel.profile(), arm.kernel.profile()) {
            comparison.notes.push(format!("{}: {note}", arm.name));
        }
        // The runs themselves say so where fair tasks have a choice.
        let has_choice = comparison.notes.iter().any(|note| note.ends_with(limits::PLACED_AS_BEFORE));
        if let Some(warning) = limits::no_difference(plan.base.kernel.profile(), arm.kernel.profile())
            && has_choice
        {
            comparison.warnings.push(format!("{}: {warning}", arm.name));
        }
    }
    if !plan.experiment.tasks.is_empty() {
        comparison.leave_out_machine();
    }
    Ok(comparison)
}

/// That another kernel brings another HZ along without anybody having said so: that alone changes figures.
fn ticks_differ(base: &KernelConfig, arm: &Arm) -> Option<String> {
    let hz = |kernel: &KernelConfig| kernel.at_start().ok().map(|config| config.tunables.hz.get());
    let (of_base, own) = (hz(base)?, hz(&arm.kernel)?);
    let is_said = arm.kernel.says("hz") || (base.says("hz") && arm.kernel.named() == base.named());
    (of_base != own && !is_said).then(|| {
        format!(
            "{}: {} ticks {own} times a second here, {} {of_base} times, and a part of what differs is \
             that; for the kernel alone set hz={of_base} with it, too",
            arm.name,
            arm.kernel.named().asked,
            base.named().asked
        )
    })
}

/// That runs of several loads ended at different times, with the load that ends: what the others did until
/// then is more or less for that reason alone.
fn length_differs(plan: &Plan, base: &compare::Arm<'_>, variant: &compare::Arm<'_>) -> Option<String> {
    const WORTH_A_WORD_PERCENT: u64 = 2;
    let mean = |arm: &compare::Arm<'_>| {
        let sum: u64 = arm.runs.iter().map(|run| run.engine.simulated_ns).sum();
        sum / (arm.runs.len() as u64).max(1)
    };
    let (of_base, of_variant) = (mean(base), mean(variant));
    let differs = of_base.abs_diff(of_variant) * 100 > of_base * WORTH_A_WORD_PERCENT;
    (differs && plan.base.loads.len() > 1 && plan.experiment.window.is_none()).then(|| {
        format!(
            "{}: its runs lasted {}, those of the base {}, so all that adds up (cycles, waits, switches, \
             throttled periods) differs for that reason, too; a length for both (for) keeps them alike",
            variant.name,
            duration_ns(of_variant),
            duration_ns(of_base)
        )
    })
}
