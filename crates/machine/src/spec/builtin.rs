//! The machines that come with the program.
//!
//! Their files are the workspace's `machines/` folder, so that users find them; a package built for a
//! registry cannot reach outside its own folder and would have to carry a copy.

use super::MachineSpec;
use super::error::SpecError;
use suggest::suggest;

/// A machine file that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Builtin {
    /// Its name, as given to `--machine`.
    pub name: &'static str,
    /// The content of its file.
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal)+) => {
        /// Every machine that comes with the program.
        pub const BUILTIN: &[Builtin] = &[$(
            Builtin { name: $name, text: include_str!(concat!("../../../../machines/", $name, ".toml")) },
        )+];
    };
}

builtin! {
    "laptop" "hybrid" "phone" "vm2" "nested" "seed000" "seed001" "seed002" "seed003" "seed004" "ideal"
}

impl MachineSpec {
    /// A machine that comes with the program, by its name. The error for an unknown name suggests the
    /// nearest.
    pub fn builtin(name: &str) -> Result<MachineSpec, SpecError> {
        match BUILTIN.iter().find(|b| b.name == name) {
            Some(builtin) => MachineSpec::parse(builtin.text, &format!("machines/{name}.toml")),
            None => {
                let known: Vec<&str> = BUILTIN.iter().map(|b| b.name).collect();
                Err(SpecError::Unknown {
                    name: name.into(),
                    nearest: suggest(name, &known).map(|near| (*near).to_owned()),
                    known: known.join(", "),
                })
            }
        }
    }
}
