//! The experiment of a sweep, with places for values.

use crate::axis::{Axis, PARTS};
use crate::error::Error;
use lab::{ExperimentText, Settings, Sources, load_text};
use schema::{FileText, LoadText, MachineText};
use suggest::suggest;

/// An experiment in whose loads and settings `{name}` stands for the value of an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    /// What is to run; loads without a `file` are looked up when their places are filled.
    pub base: ExperimentText,
    /// Words on top of it, as those of a comparison: `machine=laptop cpus=4 NO_RT_PUSH_IPI`.
    pub settings: String,
}

impl Template {
    /// Of loads and settings as an experiment file has them; `duration_ns`: simulated time of a run,
    /// nanoseconds, above 0.
    #[must_use]
    pub fn of_words(loads: &[impl AsRef<str>], settings: &str, duration_ns: Option<u64>) -> Template {
        let load = |load: &str| LoadText { load: load.to_owned(), file: None };
        let loads = loads.iter().map(|word| load(word.as_ref())).collect();
        let base = ExperimentText { loads, duration_ns, ..ExperimentText::default() };
        Template { base, settings: settings.to_owned() }
    }

    /// The texts in which places for values may stand.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let loads = self.base.loads.iter().map(|load| load.load.as_str());
        let settings = self.base.settings.iter().map(|change| change.setting.as_str());
        loads.chain(settings).chain([self.settings.as_str()])
    }

    /// The names of all places.
    fn places(&self) -> Result<Vec<&str>, Error> {
        let mut names = Vec::new();
        for text in self.texts() {
            let mut rest = text;
            while let Some((_, after)) = rest.split_once('{') {
                let Some((name, behind)) = after.split_once('}') else {
                    return Err(Error::Unfilled { text: text.to_owned(), name: after.to_owned() });
                };
                names.push(name);
                rest = behind;
            }
        }
        Ok(names)
    }

    /// Makes sure that each place has an axis, and each axis that is no part of an experiment a place.
    pub(crate) fn check(&self, axes: &[Axis]) -> Result<(), Error> {
        let places = self.places()?;
        if let Some(axis) = axes.iter().find(|axis| !axis.is_part() && !places.contains(&axis.name())) {
            let known = PARTS.iter().chain(&places).copied();
            let nearest = suggest(&axis.name, known).map(str::to_owned);
            return Err(Error::UnknownAxis { name: axis.name.clone(), nearest });
        }
        let is_filled = |name: &str| axes.iter().any(|axis| axis.name == name && !axis.is_part());
        match places.iter().find(|name| !is_filled(name)) {
            None => Ok(()),
            Some(name) => {
                let place = format!("{{{name}}}");
                let text = self.texts().find(|text| text.contains(&place)).unwrap_or_default();
                Err(Error::Unfilled { text: text.to_owned(), name: (*name).to_owned() })
            }
        }
    }

    /// The experiment with these values of the axes, which [`Template::check`] has seen.
    pub(crate) fn with(
        &self,
        values: &[(&Axis, &str)],
        files: &dyn Sources,
    ) -> Result<ExperimentText, Error> {
        let fill = |text: &str| {
            let parameters = values.iter().filter(|(axis, _)| !axis.is_part());
            parameters.fold(text.to_owned(), |text, (axis, value)| {
                text.replace(&format!("{{{}}}", axis.name), value)
            })
        };
        // A recording is taken for one of the run's machine, as by `schedlab run`.
        let reading = FileText { recorded_on: Some(MachineText::default()), ..FileText::default() };
        let mut base = self.base.clone();
        for load in &mut base.loads {
            load.load = fill(&load.load);
            if load.file.is_none() {
                *load = load_text(&load.load, &reading, files);
            }
        }
        base.settings.iter_mut().for_each(|change| change.setting = fill(&change.setting));
        let mut text = Settings::parse(&fill(&self.settings))?.over(&base);
        for (axis, value) in values {
            match axis.name() {
                "kernel" => text.kernel = Some((*value).to_owned()),
                "cpus" => text.machine.cpus = value.parse().ok(),
                "machine" => (text.machine.name, text.machine.content) = (Some((*value).to_owned()), None),
                "settings" => text = Settings::parse(value)?.over(&text),
                "seed" => text.seed = value.parse().unwrap_or(text.seed),
                _ => {}
            }
        }
        // A replay is compared with its recording by who looks at that one.
        text.without_fidelity = true;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::Files;

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis::new(name, values.iter().map(|value| (*value).to_owned()).collect()).expect("an axis")
    }

    #[test]
    fn every_place_is_filled_and_every_part_set() {
        let template = Template::of_words(&["cyclictest -t{t} -i{i}"], "hz={hz} cpus=2 6.1", Some(5));
        let axes = [
            axis("t", &["8"]),
            axis("i", &["100"]),
            axis("hz", &["250"]),
            axis("kernel", &["4.4"]),
            axis("cpus", &["3"]),
            axis("machine", &["vm2"]),
            axis("settings", &["NO_RT_PUSH_IPI"]),
            axis("seed", &["9"]),
        ];
        template.check(&axes).expect("all have a place");
        let values: Vec<_> = axes.iter().map(|axis| (axis, axis.values[0].as_str())).collect();
        let text = template.with(&values, &Files::new()).expect("legal");
        assert_eq!(text.loads[0].load, "cyclictest -t8 -i100");
        assert_eq!((text.kernel.as_deref(), text.machine.name.as_deref()), (Some("4.4"), Some("vm2")));
        assert_eq!((text.machine.cpus, text.seed, text.duration_ns), (Some(3), 9, Some(5)));
        let settings: Vec<&str> = text.settings.iter().map(|change| change.setting.as_str()).collect();
        assert_eq!(settings, ["hz=250", "NO_RT_PUSH_IPI"]);
    }

    #[test]
    fn an_axis_that_changes_nothing_and_a_place_without_one_are_refused() {
        let template = Template::of_words(&["cyclictest -t{threads}"], "", None);
        let error = |axes: &[Axis]| template.check(axes).expect_err("does not fit").to_string();
        assert!(error(&[axis("kernal", &["6.1"])]).contains("did you mean `kernel`?"));
        assert!(error(&[axis("thread", &["1"])]).contains("did you mean `threads`?"));
        assert!(error(&[]).contains("no axis is called {threads}"));
    }
}
