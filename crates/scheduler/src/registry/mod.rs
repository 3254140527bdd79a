//! The one registry of everything that differs between kernels: features, rules, tunables, and the profiles
//! that are named sets of them.

mod aliases;
mod disciplines;
mod features;
mod lifetimes;
mod profiles;
mod rules;
mod settings;
mod tunables;
mod written;

pub use aliases::{ALIASES, Alias, NOT_MODELLED, NotModelled};
pub use disciplines::{BELONGINGS, Belonging};
pub use features::Feature;
pub use lifetimes::{LIFETIMES, Lifetime, ReleaseNumbers};
pub use profiles::{PROFILES, Profile};
pub use rules::*;
pub use settings::{Config, FROM_THE_START, SettingError};

use aliases::GONE;
pub use tunables::{TUNABLES, TunableInfo, TunableSetting, Tunables};
pub use written::{Scaled, Written};
