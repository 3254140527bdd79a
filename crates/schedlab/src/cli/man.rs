//! `schedlab man`: manual pages.

use super::exit;
use super::output::{Failure, print};
use clap::{Arg, Command};
use clap_mangen::Man;
use roff::{Inline, Roff, bold, italic, roman};
use schedlab::Error;

/// The footer's left, as of other pages: the program and its version.
const SOURCE: &str = concat!("schedlab ", env!("CARGO_PKG_VERSION"));

/// Print a manual page: `schedlab man | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of this command [default: of schedlab itself].
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub fn execute(args: &Args, mut whole: Command) -> Result<(), Failure> {
    whole.build();
    let page = match &args.command {
        None => whole.clone(),
        Some(name) => page_of(&whole, name)?,
    };
    let text = page_text(page, args.command.is_some()).map_err(Failure::Output)?;
    print(&text)
}

/// The page of one command. Its title is as those of git's commands are: schedlab-run.
fn page_of(whole: &Command, name: &str) -> Result<Command, Error> {
    let found = whole.get_subcommands().find(|command| command.get_name() == name);
    let command = found.ok_or_else(|| Error::UnknownCommand {
        name: name.to_owned(),
        known: whole.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
    })?;
    Ok(command.clone())
}

/// The sections in the order of man-pages(7).
fn page_text(page: Command, is_of_command: bool) -> std::io::Result<String> {
    let man = Man::new(page.clone()).source(SOURCE).manual("schedlab manual");
    let mut roff = Vec::new();
    man.render_title(&mut roff)?;
    man.render_name_section(&mut roff)?;
    synopsis(&page).to_writer(&mut roff)?;
    man.render_description_section(&mut roff)?;
    man.render_options_section(&mut roff)?;
    if page.has_subcommands() {
        man.render_subcommands_section(&mut roff)?;
    }
    let mut end = Roff::new();
    end.control("SH", ["EXIT STATUS"]).text([roman(exit::MEANING)]);
    if is_of_command {
        end.control("SH", ["SEE ALSO"]).text([bold("schedlab"), roman("(1)")]);
    }
    end.to_writer(&mut roff)?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}

/// `schedlab run [OPTION]... LOAD...`
fn synopsis(page: &Command) -> Roff {
    let name = page.get_bin_name().unwrap_or(page.get_name());
    let mut line = vec![bold(name), roman(" ["), italic("OPTION"), roman("]...")];
    for argument in page.get_positionals() {
        line.extend(positional(argument));
    }
    if page.has_subcommands() {
        line.extend([roman(" "), italic("COMMAND")]);
    }
    let mut section = Roff::new();
    section.control("SH", ["SYNOPSIS"]).text(line);
    section
}

/// ` LOAD...`, ` [OTHER]`, ` [-- COMMAND...]`
fn positional(argument: &Arg) -> Vec<Inline> {
    let name = argument.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let several = argument.get_num_args().is_some_and(|range| range.max_values() > 1)
        || matches!(argument.get_action(), clap::ArgAction::Append);
    let (open, close) = if argument.is_required_set() { (" ", "") } else { (" [", "]") };
    let dashes = if argument.is_last_set() { "-- " } else { "" };
    let more = if several { "..." } else { "" };
    vec![roman(open), roman(dashes), italic(name), roman(more), roman(close)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn page(name: Option<&str>) -> String {
        let mut whole = super::super::Cli::command();
        whole.build();
        let page = name.map_or(whole.clone(), |name| page_of(&whole, name).expect("a command"));
        page_text(page, name.is_some()).expect("memory")
    }

    fn synopsis_of(name: Option<&str>) -> String {
        let text = page(name);
        let (_, rest) = text.split_once(".SH SYNOPSIS\n").expect("a synopsis");
        let line = rest.lines().next().expect("a line").replace("\\-", "-");
        ["\\fB", "\\fI", "\\fR"].iter().fold(line, |line, font| line.replace(font, ""))
    }

    #[test]
    fn a_synopsis_is_short_and_shows_what_is_to_be_given() {
        assert_eq!(synopsis_of(None), "schedlab [OPTION]... COMMAND");
        assert_eq!(synopsis_of(Some("run")), "schedlab run [OPTION]... LOAD...");
        assert_eq!(synopsis_of(Some("inspect")), "schedlab inspect [OPTION]... TRACE [OTHER]");
        assert_eq!(synopsis_of(Some("record")), "schedlab record [OPTION]... [-- COMMAND...]");
    }

    #[test]
    fn every_page_has_the_version_in_its_footer_and_the_exit_codes() {
        for name in [None, Some("run"), Some("calibrate")] {
            let text = page(name);
            let title = text.lines().find(|line| line.starts_with(".TH")).expect("a title");
            assert!(title.contains(&format!("\"{SOURCE}\" \"schedlab manual\"")), "{title}");
            assert!(text.contains(".SH \"EXIT STATUS\"") && !text.contains(".SH EXTRA"), "{text}");
        }
        assert!(page(Some("run")).ends_with("\\fBschedlab\\fR(1)\n"));
    }
}
