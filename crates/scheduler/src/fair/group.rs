//! What is known about a group of CPUs, and what that makes of it (fair-placement 4.5). Choosing a CPU for a
//! new task and balancing compare groups by it.

/// How much a group has to do; the higher, the more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum GroupType {
    /// It has CPU time left.
    HasSpare,
    /// It has none left, and nobody waits for long.
    FullyBusy,
    /// A fair task is alone on a CPU that others take from it.
    Misfit,
    /// A core whose hardware threads take from each other, as several fair tasks run there (eevdf-class 4.5).
    SmtBalance,
    /// Its tasks are for an idle CPU that is preferred to its own (deadline-groups C9).
    AsymPacking,
    /// Tasks that may not leave it kept its balancing from evening it out.
    Imbalanced,
    /// More tasks than CPUs, and they wait.
    Overloaded,
}

/// Sums over the CPUs of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Figures {
    /// Loads.
    pub load: u64,
    /// Utilisations, in 1024ths of a CPU.
    pub util: u64,
    /// Runnable fair tasks on average, in 1024ths.
    pub runnable: u64,
    /// Runnable tasks of all classes.
    pub nr_running: u64,
    /// Runnable fair tasks.
    pub nr_fair: u64,
    /// Some CPU has more than one task.
    pub somebody_waits: bool,
    /// Idle CPUs.
    pub idle: u64,
    /// All CPUs.
    pub weight: u64,
    /// What they are worth to fair tasks, in 1024ths of a CPU.
    pub capacity: u64,
    /// Largest load of a CPU whose only fair task deserves a better one; zero: there is none.
    pub misfit_load: u64,
    /// See [`GroupType::SmtBalance`].
    pub threads_compete: bool,
    /// See [`GroupType::AsymPacking`].
    pub is_drained: bool,
    /// How much its most preferred CPU is preferred; zero where none is.
    pub priority: u64,
    /// See [`GroupType::Imbalanced`].
    pub imbalanced: bool,
}

impl Figures {
    /// What the group is, where balancing tolerates so many percent.
    pub fn group_type(&self, pct: u64) -> GroupType {
        if self.is_overloaded(pct) {
            GroupType::Overloaded
        } else if self.imbalanced {
            GroupType::Imbalanced
        } else if self.is_drained {
            GroupType::AsymPacking
        } else if self.threads_compete {
            GroupType::SmtBalance
        } else if self.misfit_load > 0 {
            GroupType::Misfit
        } else if !self.has_capacity(pct) {
            GroupType::FullyBusy
        } else {
            GroupType::HasSpare
        }
    }

    fn is_overloaded(&self, pct: u64) -> bool {
        self.nr_running > self.weight && (100 * self.capacity < pct * self.util || self.tasks_wait(pct))
    }

    fn has_capacity(&self, pct: u64) -> bool {
        self.nr_running < self.weight || (!self.tasks_wait(pct) && 100 * self.capacity > pct * self.util)
    }

    fn tasks_wait(&self, pct: u64) -> bool {
        pct * self.capacity < 100 * self.runnable
    }

    /// Load of each CPU's worth.
    pub fn average_load(&self) -> u64 {
        (self.load * 1024).checked_div(self.capacity).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four_cpus(nr_running: u64, util: u64, runnable: u64) -> GroupType {
        let figures = Figures {
            nr_running,
            util,
            runnable,
            nr_fair: nr_running,
            weight: 4,
            capacity: 4096,
            ..Figures::default()
        };
        figures.group_type(117)
    }

    /// fair-placement 4.5 and its example: four tasks fill four CPUs only if they run all the time.
    #[test]
    fn types_of_a_group_of_four() {
        assert_eq!(four_cpus(3, 4096, 3072), GroupType::HasSpare, "a CPU is free");
        assert_eq!(four_cpus(4, 4096, 4096), GroupType::FullyBusy);
        assert_eq!(four_cpus(4, 2400, 4096), GroupType::HasSpare);
        assert_eq!(four_cpus(4, 2400, 4793), GroupType::FullyBusy, "they wait");
        assert_eq!(four_cpus(5, 4096, 4096), GroupType::Overloaded);
        assert_eq!(four_cpus(5, 2400, 4792), GroupType::HasSpare, "more tasks, but short ones");
        assert_eq!(four_cpus(5, 2400, 4793), GroupType::Overloaded);
    }

    /// The tolerance decides at one unit of utilisation: 117 × 3500 = 409,500 of 409,600.
    #[test]
    fn spare_capacity_ends_at_the_tolerance() {
        assert_eq!(
            [four_cpus(4, 3500, 0), four_cpus(4, 3501, 0)],
            [GroupType::HasSpare, GroupType::FullyBusy]
        );
        let at = |pct| {
            Figures { nr_running: 4, weight: 4, capacity: 4096, util: 3600, ..Figures::default() }
                .group_type(pct)
        };
        assert_eq!([at(110), at(117)], [GroupType::HasSpare, GroupType::FullyBusy]);
    }

    /// Who has exactly what the tolerance asks for has neither too little nor some to spare: 128 × 3200 and
    /// 125 × 5120 are a hundred times what four CPUs have.
    #[test]
    fn exactly_the_tolerance_is_neither_too_little_nor_spare() {
        let at = |nr_running, util, runnable, pct| {
            Figures { nr_running, weight: 4, capacity: 4096, util, runnable, ..Figures::default() }
                .group_type(pct)
        };
        assert_eq!(at(5, 3200, 0, 128), GroupType::FullyBusy);
        assert_eq!(at(4, 3200, 0, 128), GroupType::FullyBusy);
        assert_eq!(at(5, 0, 5120, 125), GroupType::HasSpare);
    }

    #[test]
    fn what_outranks_what() {
        use GroupType::*;
        let ranks = [HasSpare, FullyBusy, Misfit, SmtBalance, AsymPacking, Imbalanced, Overloaded];
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]));
        let pinned =
            Figures { weight: 1, capacity: 1024, imbalanced: true, misfit_load: 9, ..Figures::default() };
        assert_eq!(pinned.group_type(117), Imbalanced);
        let drained = Figures { imbalanced: false, is_drained: true, threads_compete: true, ..pinned };
        assert_eq!(drained.group_type(117), AsymPacking);
        let core = Figures { is_drained: false, ..drained };
        assert_eq!(core.group_type(117), SmtBalance);
        assert_eq!(Figures { threads_compete: false, ..core }.group_type(117), Misfit);
    }
}
