//! What a fit found: parameters, the figures by which they were chosen, and those that were not looked at.

use super::paragraph::wrap;
use super::reproduction::with_unit;
use super::table::{Align, Table};
use crate::numbers::digits3;
use schema::fit::{Fit, FitFigure, FittedParameter, FittedPlace};

/// Columns for names.
const NAME_COLUMNS: u16 = 30;

/// The section about a fit.
pub fn fit(fit: &Fit) -> String {
    let mut out = wrap(&head(fit), "fit: ", "     ");
    out += &wrap(&fit.about, "     ", "     ");
    out += &parameters(&fit.parameters);
    out += "\n";
    out += &figures("fitted to", &fit.figures);
    if !fit.predicted.is_empty() {
        out += "\n";
        out += &figures("predicted", &fit.predicted);
    }
    out += "\n";
    out += &losses(fit);
    for line in [fit.outcome.clone(), Some(standing(fit))].into_iter().flatten() {
        out += &wrap(&line, "", "  ");
    }
    out
}

fn head(fit: &Fit) -> String {
    let (figures, parameters) = (fit.figures.len(), fit.parameters.len());
    let [figures, parameters, tried] =
        [(figures as u64, "figure"), (parameters as u64, "parameter"), (fit.tried, "set")].map(counted);
    let runs = counted((fit.seeds, "run"));
    let length = digits3(fit.simulated_ns as f64 / 1e9);
    format!(
        "{parameters} by {figures}; {tried} of values tried, {runs} of {length} s for each variant and set"
    )
}

fn counted((number, what): (u64, &str)) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn parameters(parameters: &[FittedParameter]) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("parameter", Left),
        ("from", Right),
        ("to", Right),
        ("values", Right),
        ("start", Right),
        ("fitted", Right),
        ("in the file", Right),
    ]);
    table.limit(0, NAME_COLUMNS);
    let number = |number: Option<&f64>| number.map_or(String::new(), |number| digits3(*number));
    for parameter in parameters {
        let FittedParameter { name, values, start, fitted, places, .. } = parameter;
        let ends = [values.first(), values.last()].map(number);
        let [from, to] = ends;
        let (start, count) = (digits3(*start), values.len().to_string());
        table.row([name.clone(), from, to, count, start, digits3(*fitted), String::new()]);
        for FittedPlace { place, in_file, fitted } in places {
            let empty = String::new;
            let (fitted, in_file) = (digits3(*fitted), digits3(*in_file));
            table.row([format!("  {place}"), empty(), empty(), empty(), empty(), fitted, in_file]);
        }
    }
    table.render()
}

fn figures(heading: &str, figures: &[FitFigure]) -> String {
    use Align::{Left, Right};
    let with_start = figures.iter().any(|figure| figure.at_start.is_some());
    let mut columns = vec![(heading, Left), ("published", Right)];
    columns.extend(with_start.then_some(("start", Right)));
    columns.extend([("fitted", Right), ("ratio", Right), ("as in the files", Right)]);
    let mut table = Table::new(&columns);
    table.limit(0, NAME_COLUMNS);
    for figure in figures {
        let at = figure.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
        let text = |value: f64| with_unit(value, figure.unit);
        let mut line = vec![format!("{}, {}{at}", figure.variant, figure.what), text(figure.published)];
        line.extend(with_start.then(|| figure.at_start.map_or(String::new(), text)));
        line.extend([text(figure.fitted), digits3(figure.fitted / figure.published), text(figure.in_files)]);
        table.row(line);
    }
    table.render()
}

/// How far the figures are off: a mean of logarithms, told as the factor that it is.
fn losses(fit: &Fit) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("off by a factor of, in the mean", Left),
        ("start", Right),
        ("fitted", Right),
        ("as in the files", Right),
    ]);
    let factor = |loss: f64| format!("{:.3}", loss.exp());
    table.row([
        "figures fitted to".to_owned(),
        factor(fit.loss_at_start),
        factor(fit.loss_fitted),
        factor(fit.loss_in_files),
    ]);
    if let (Some(fitted), Some(in_files)) = (fit.predicted_loss_fitted, fit.predicted_loss_in_files) {
        table.row(["figures predicted".to_owned(), String::new(), factor(fitted), factor(in_files)]);
    }
    table.render()
}

fn standing(fit: &Fit) -> String {
    let is = if fit.is_in_files() { "hold what was found" } else { "hold other values than were found" };
    format!("The files {is}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Fit {
        let mut experiments = schema::example::reproduction::reproduction().experiments;
        experiments.remove(0).fit.expect("the example has one")
    }

    #[test]
    fn it_says_what_was_chosen_by_what_and_how_far_off_both_are() {
        insta::assert_snapshot!(fit(&example()));
    }

    #[test]
    fn it_says_whether_the_files_hold_it() {
        let mut same = example();
        for place in same.parameters.iter_mut().flat_map(|parameter| &mut parameter.places) {
            place.in_file = place.fitted;
        }
        assert!(fit(&same).ends_with("The files hold what was found.\n"));
        assert!(fit(&example()).ends_with("The files hold other values than were found.\n"));
    }
}
