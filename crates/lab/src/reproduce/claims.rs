//! What an experiment file says of itself: what was fitted, assumed and predicted.

use super::builtin::BY_PATH;
use super::file::{ByHandTable, ExperimentFile, VariantFile};
use super::fit::FitTable;
use super::parameters::Free;
use super::{Length, PUBLISHED, PublishedExperiment, plan};
use crate::error::Error;
use report::reproduce::{ByHand, Claims, FiguresOfVariant, Published, RowSpec};
use schema::reproduction::Role;

/// What each experiment claims that comes with the program, in their order.
///
/// # Errors
/// None: the tests have read their files.
pub fn claims() -> Result<Vec<Claims>, Error> {
    PUBLISHED.iter().chain(BY_PATH).map(|file| PublishedExperiment::builtin(file)?.claims()).collect()
}

impl PublishedExperiment {
    /// What was fitted, by what, what is assumed, and how much is predicted.
    ///
    /// # Errors
    /// A published table that is none.
    pub fn claims(&self) -> Result<Claims, Error> {
        let file = &self.file;
        let fit = file.fit.as_ref();
        let is_chosen = |free: &Free| {
            file.by_hand.iter().any(|of| of.name == free.name) || fit.is_some_and(|fit| fit.chooses(free))
        };
        // Of a fit that was not taken over, the files hold what was chosen by hand.
        let is_by_hand = |name: &String| file.by_hand.iter().any(|of| of.name == *name);
        let fitted: Vec<String> =
            fit.iter().flat_map(|fit| &fit.parameters).map(|of| of.name.clone()).collect();
        let fitted: Vec<String> = fitted.into_iter().filter(|name| !is_by_hand(name)).collect();
        let chosen_by = fit.filter(|_| !fitted.is_empty());
        let by_hand = |of: &ByHandTable| ByHand { parameter: of.name.clone(), to: of.to.clone() };
        let mut claims = Claims {
            name: self.name.clone(),
            fitted,
            as_fitted_in: file.fitted_in.clone(),
            outcome: fit.and_then(|fit| fit.outcome.clone()),
            by_hand: file.by_hand.iter().map(by_hand).collect(),
            assumed: file.free.iter().filter(|free| !is_chosen(free)).map(|free| free.name.clone()).collect(),
            missed: file.requirement.iter().filter_map(|of| of.unreached.clone()).collect(),
            ..Claims::default()
        };
        for figures in chosen_by.iter().flat_map(|fit| &fit.figures) {
            let of_it = file.variant.iter().find(|variant| variant.name == figures.variant);
            let rows = of_it.map(|variant| plan::rows(file, variant, Length::Full)).transpose()?;
            let chosen = rows.iter().flatten().filter(|row| figures.has(&row.what));
            claims.by.push(FiguresOfVariant {
                variant: figures.variant.clone(),
                figures: chosen.map(published).sum(),
            });
        }
        for variant in &file.variant {
            let rows = plan::rows(file, variant, Length::Full)?;
            claims.missed.extend(rows.iter().filter_map(|row| row.unreached.clone()));
            claims.predicted += predicted(file, variant, &rows);
        }
        Ok(claims)
    }
}

impl FitTable {
    /// Whether it chooses this parameter, or some figure of it.
    fn chooses(&self, free: &Free) -> bool {
        self.parameters.iter().any(|parameter| match &free.machine {
            Some(place) => {
                let is_below =
                    |key: &String| key.strip_prefix(place).is_some_and(|rest| rest.starts_with('.'));
                parameter.machine.keys().any(|key| key == place || is_below(key))
            }
            None => parameter.name == free.name,
        })
    }
}

/// Figures that a document has of a row.
fn published(row: &RowSpec) -> usize {
    match &row.published {
        None => 0,
        Some(Published::One(_)) => 1,
        Some(Published::Sweep(figures)) => figures.iter().filter(|figure| !figure.is_nan()).count(),
    }
}

/// Figures of a variant of which something is wanted, if nothing was chosen by them.
fn predicted(file: &ExperimentFile, variant: &VariantFile, rows: &[RowSpec]) -> usize {
    if variant.role == Role::Fitted {
        return 0;
    }
    let places = file.places(Length::Full).len();
    let of_row = |row: &RowSpec| match &row.published {
        _ if row.at.is_some() || row.passes.is_some() => 1,
        Some(Published::Sweep(_)) => published(row),
        _ => places,
    };
    rows.iter().filter(|row| row.expects()).map(of_row).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Claims {
        claims().expect("our own files").into_iter().find(|claims| claims.name == name).expect(name)
    }

    /// As somebody counts who reads the file.
    #[test]
    fn they_are_those_of_the_file() {
        let fitted = of("002");
        assert_eq!(
            (fitted.by[0].figures, fitted.by.len(), fitted.fitted.len()),
            (16, 1, 3),
            "8 means, 8 maxima"
        );
        assert_eq!(fitted.assumed, ["nr_cpus", "interrupts off", "softirq-timer"]);
        // A table of 24, and three rows with bounds.
        assert_eq!((fitted.predicted, fitted.missed.len()), (27, 3));
        let swept = of("bw-fibtest");
        assert_eq!(
            (swept.by_hand.len(), swept.fitted, swept.assumed),
            (0, vec!["hz".to_owned()], vec!["work".to_owned()])
        );
        // Its fit was not taken over.
        let by_hand = of("000");
        let names: Vec<&str> = by_hand.by_hand.iter().map(|of| of.parameter.as_str()).collect();
        assert_eq!(
            (names, by_hand.fitted.len(), by_hand.by.len()),
            (vec!["spin overshoot", "timer jitter"], 0, 0)
        );
        assert!(by_hand.outcome.is_some_and(|outcome| outcome.starts_with("not taken over")));
    }

    #[test]
    fn what_was_fitted_elsewhere_was_fitted_there() {
        for later in claims().expect("our own files") {
            let Some(other) = later.as_fitted_in.as_deref().map(of) else { continue };
            assert!(
                !other.fitted.is_empty() || !other.by_hand.is_empty(),
                "{} names {}",
                later.name,
                other.name
            );
        }
    }
}
