//! Counters that are declared once: from one line follow the field of the JSON with its documentation, the
//! metric of comparisons, the row of the text, and what happens to it in a stretch of a run.

use crate::{Better, Unit};

/// How the figures of several CPUs, or of a run and the part of it before a stretch, go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// A counter: CPUs are added up, and what was counted before a stretch is taken off.
    Sum,
    /// A maximum: of CPUs the largest counts; before a stretch it is forgotten.
    Max,
}

/// A figure as it is declared.
#[derive(Debug)]
pub struct Figure<T: 'static> {
    /// Its field in the JSON.
    pub name: &'static str,
    /// How several go together.
    pub fold: Fold,
    /// In which direction it improves.
    pub better: Better,
    /// Its name for people.
    pub label: &'static str,
    /// Its place among the metrics of its group; `None` for one that is no metric by itself.
    pub place: Option<u8>,
    /// Whether a change in it is worth a sentence.
    pub headline: bool,
    /// Its row in the table of counters; `None` for one that the table leaves out.
    pub row: Option<Row>,
    /// Its value.
    pub of: fn(&T) -> u64,
}

/// A field as it is declared, figure or not.
#[derive(Debug)]
pub struct Field {
    /// Its name in the JSON.
    pub name: &'static str,
    /// Its documentation.
    pub about: &'static str,
    /// Its name for people, if it has one.
    pub label: Option<&'static str>,
    /// Whether it counts or measures something by itself.
    pub counts: bool,
}

/// A row of the table of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Its place.
    pub place: u8,
    /// Whether it is left out where there is nothing to count, as in most loads.
    pub if_any: bool,
}

impl<T> Figure<T> {
    /// Its name in the key of a metric: the field without the unit.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.strip_suffix("_ns").unwrap_or(self.name)
    }

    /// Its unit, which the name of the field says.
    #[must_use]
    pub fn unit(&self) -> Unit {
        if self.name.ends_with("_ns") { Unit::Nanoseconds } else { Unit::Count }
    }
}

/// A struct of counters. Each line is a field with its documentation, preceded by what becomes of it in a
/// stretch of a run: `sum` and `max` as in [`Fold`], `same` is no figure, `parts` has figures of its own. A
/// direction and a name for people make a figure of it; then may come its place among the metrics, with
/// `headline`, and its row in the table of counters, with `if_any`.
macro_rules! figures {
    (
        $(#[$about:meta])*
        $type:ident:
        $(
            $(#[doc = $doc:literal])*
            $kind:ident $name:ident: $value:ty
            $(, $better:ident $label:literal
                $(, metric $place:literal $($headline:ident)?)?
                $(, row $row:literal $($if_any:ident)?)?
            )?;
        )*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $type {
            $($(#[doc = $doc])* pub $name: $value,)*
        }

        impl $type {
            /// Its figures, in the order of the fields.
            pub const FIGURES: &[Figure<$type>] = &[$($(Figure {
                name: stringify!($name),
                fold: figures!(fold $kind),
                better: Better::$better,
                label: $label,
                place: figures!(option $($place)?),
                headline: figures!(said $($($headline)?)?),
                row: figures!(row $($row $($if_any)?)?),
                of: |counted| counted.$name.into(),
            },)?)*];

            /// Its fields, in order.
            pub const FIELDS: &[Field] = &[$(Field {
                name: stringify!($name),
                about: concat!($($doc),*).trim_ascii(),
                label: figures!(option $($label)?),
                counts: figures!(counts $kind),
            },)*];

            /// What was counted since `before`, at which the maxima were forgotten.
            #[must_use]
            pub fn since(&self, before: &$type) -> $type {
                $type { $($name: figures!($kind self.$name, before.$name),)* }
            }
        }
    };
    (fold sum) => { Fold::Sum };
    (fold max) => { Fold::Max };
    (option) => { None };
    (option $value:literal) => { Some($value) };
    (counts sum) => { true };
    (counts max) => { true };
    (counts same) => { false };
    (counts parts) => { false };
    (said) => { false };
    (said headline) => { true };
    (row) => { None };
    (row $place:literal) => { Some(Row { place: $place, if_any: false }) };
    (row $place:literal if_any) => { Some(Row { place: $place, if_any: true }) };
    (sum $now:expr, $before:expr) => { $now.saturating_sub($before) };
    (max $now:expr, $before:expr) => { $now };
    (same $now:expr, $before:expr) => { $now };
    (parts $now:expr, $before:expr) => { $now.since(&$before) };
}
pub(crate) use figures;
