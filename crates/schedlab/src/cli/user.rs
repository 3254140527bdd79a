//! Another user, whose command this program runs as root.

use nix::unistd::{self, getgrouplist};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use schedlab::Error;
use std::ffi::CString;
use std::io;
use std::process::{Child, Command};
use std::thread;

/// Who there is of this name.
#[derive(Clone, Debug)]
pub struct User {
    entry: unistd::User,
    groups: Vec<rustix::process::Gid>,
}

impl User {
    /// Looks the name up.
    ///
    /// # Errors
    /// Nobody is called so.
    pub fn find(name: &str) -> Result<User, Error> {
        let unknown = || Error::UnknownUser { name: name.to_owned() };
        let entry = unistd::User::from_name(name).ok().flatten().ok_or_else(unknown)?;
        let name = CString::new(name).map_err(|_| unknown())?;
        let groups = getgrouplist(&name, entry.gid).map_err(|_| unknown())?;
        let groups = groups.into_iter().map(|group| rustix::process::Gid::from_raw(group.as_raw())).collect();
        Ok(User { entry, groups })
    }

    /// Starts the command with the rights, the groups and the home of this user.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let unistd::User { name, uid, gid, dir, shell, .. } = &self.entry;
        command.env("USER", name).env("LOGNAME", name).env("HOME", dir).env("SHELL", shell);
        if unistd::geteuid() == *uid {
            return command.spawn();
        }
        let (uid, gid) =
            (rustix::process::Uid::from_raw(uid.as_raw()), rustix::process::Gid::from_raw(gid.as_raw()));
        // The rights of a thread are its own, and a child gets those of the thread that starts it. (The
        // standard library's way to start a command as another user takes its groups away.)
        let start = || -> io::Result<Child> {
            set_thread_groups(&self.groups)?;
            set_thread_res_gid(gid, gid, gid)?;
            set_thread_res_uid(uid, uid, uid)?;
            command.spawn()
        };
        thread::scope(|scope| scope.spawn(start).join())
            .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up() {
        assert!(User::find("root").is_ok_and(|root| root.entry.uid.is_root()));
        let error = User::find("no\u{1b}body's name").expect_err("no such user").to_string();
        assert!(error.starts_with("no user is called `no\u{1b}body's name`"), "{error}");
    }
}
