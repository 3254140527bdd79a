//! What a published experiment claims: which parameters were chosen by which figures, which are guesses, and
//! how much is left that nothing was chosen by.

/// Of one experiment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims {
    /// Its name.
    pub name: String,
    /// Names of the parameters that were chosen by published figures.
    pub fitted: Vec<String>,
    /// By which: the number of figures of each variant.
    pub by: Vec<FiguresOfVariant>,
    /// Parameters that were chosen by published figures, too, but by hand: nobody can do it again.
    pub by_hand: Vec<ByHand>,
    /// Name of the experiment whose fit chose values that this one uses, too.
    pub as_fitted_in: Option<String>,
    /// What came of the fit, in words.
    pub outcome: Option<String>,
    /// Names of the parameters that no document gives, and that no figure has chosen.
    pub assumed: Vec<String>,
    /// Figures of which something is wanted and by which nothing was chosen.
    pub predicted: usize,
    /// Why figures are known to be missed; as many as there are figures and groups that are.
    pub missed: Vec<String>,
}

/// Some figures of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiguresOfVariant {
    /// Its name.
    pub variant: String,
    /// How many.
    pub figures: usize,
}

/// A parameter that was chosen by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByHand {
    /// Its name.
    pub parameter: String,
    /// The published figures by which, in words.
    pub to: String,
}
