//! The procedure on made-up runs whose truth is known, and the whole on loads whose answer documents give.

mod kept;
mod known;
mod made_up;
mod procedure;
mod search;
