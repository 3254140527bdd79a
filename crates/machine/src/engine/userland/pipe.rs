//! The pages of a pipe: who may write, and whom that lets go on (fair-class 12.2).

use std::collections::VecDeque;

/// What a pipe holds. A page takes messages until it is full, and is given back once all of it is read.
#[derive(Debug)]
pub(super) struct Pages {
    /// Pages that there may be.
    most: u32,
    /// Messages of a page.
    per_page: u32,
    /// Unread messages of each page, in the order of writing.
    unread: VecDeque<u32>,
    /// Messages ever written to the last page.
    written: u32,
}

/// Who writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Writer {
    /// One that comes: it may add to the last page.
    Comes,
    /// One that has slept for a page: it takes a page of its own, and lets the next one go on.
    HasSlept,
}

impl Pages {
    pub fn new(most: u32, per_page: u32) -> Pages {
        Pages { most, per_page, unread: VecDeque::new(), written: 0 }
    }

    /// Nothing is left to read.
    pub fn is_empty(&self) -> bool {
        self.unread.is_empty()
    }

    /// No page is left, though there may be room in the last one.
    pub fn is_full(&self) -> bool {
        self.unread.len() == self.most as usize
    }

    /// Puts a message in, if there is room for this writer.
    pub fn put(&mut self, writer: Writer) -> bool {
        let full = self.is_full();
        match self.unread.back_mut() {
            Some(last) if writer == Writer::Comes && self.written < self.per_page => {
                *last += 1;
                self.written += 1;
            }
            _ if full => return false,
            _ => {
                self.unread.push_back(1);
                self.written = 1;
            }
        }
        true
    }

    /// Takes a message out, of which there is one. Whether a full pipe has a page again.
    pub fn take(&mut self) -> bool {
        let was_full = self.is_full();
        let Some(first) = self.unread.front_mut() else { return false };
        *first -= 1;
        let given_back = *first == 0;
        if given_back {
            self.unread.pop_front();
        }
        was_full && given_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pages: &mut Pages, writer: Writer) -> u32 {
        std::iter::repeat_with(|| pages.put(writer)).take_while(|stored| *stored).count() as u32
    }

    #[test]
    fn a_pipe_holds_sixteen_pages_of_whole_messages() {
        assert_eq!(filled(&mut Pages::new(16, 40), Writer::Comes), 640);
    }

    #[test]
    fn a_full_pipe_has_a_page_again_once_all_of_one_is_read() {
        let mut pages = Pages::new(16, 40);
        filled(&mut pages, Writer::Comes);
        let freed: Vec<bool> = (0..80).map(|_| pages.take()).collect();
        let first = freed.iter().position(|freed| *freed);
        assert_eq!((first, freed.iter().filter(|freed| **freed).count()), (Some(39), 1));
    }

    #[test]
    fn who_has_slept_takes_a_page_for_its_message_and_others_add_to_that() {
        let mut pages = Pages::new(16, 40);
        assert_eq!(filled(&mut pages, Writer::HasSlept), 16, "one message a page");
        assert_eq!(filled(&mut pages, Writer::Comes), 39, "the last page has room");
    }
}
