//! The examples of the README print what it says. To accept new output: `TRYCMD=overwrite cargo test -p
//! schedlab`.

#[test]
fn examples_of_the_readme() {
    // The only test of this binary, so nobody else minds where it is.
    std::env::set_current_dir("../..").expect("the workspace");
    trycmd::TestCases::new().case("README.md");
}
