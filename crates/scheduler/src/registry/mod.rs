//! The one registry of everything that differs between kernels: features, rules, tunables, and the profiles
//! that are named sets of them.

mod features;
mod profiles;
mod rules;
mod settings;
mod tunables;

pub use features::Feature;
pub use profiles::{PROFILES, Profile};
pub use rules::*;
pub use settings::{ALIASES, Alias, Config, SettingError};
pub use tunables::{TUNABLES, TunableInfo, TunableSetting, Tunables};
