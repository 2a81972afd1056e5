//! Secrets of one run of the server: the link, the cookie, the path, and the
//! token of forms. They live in memory and end with the process.

use std::sync::Mutex;

use rand::RngExt;

/// 32 random bytes as text.
pub(crate) fn token() -> String {
    // Seeded by the system and cryptographically secure.
    let bytes: [u8; 32] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are equal, in a time that does not tell where they differ.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// What a visitor must know.
#[derive(Debug)]
pub(crate) struct Secrets {
    /// For the link; none once it was used.
    link: Mutex<Option<String>>,
    /// The value of the cookie.
    pub(crate) cookie: String,
    /// The first part of every path. Browsers send cookies to every port of a
    /// host, but only below the cookie's path: a server of somebody else on this
    /// machine does not get it.
    pub(crate) path: String,
    /// Stands in every form.
    pub(crate) form: String,
}

impl Secrets {
    pub(crate) fn new() -> Self {
        let (cookie, path, form) = (token(), token(), token());
        Self { link: Mutex::new(Some(token())), cookie, path, form }
    }

    /// The token of the link, while it was not used.
    pub(crate) fn link(&self) -> Option<String> {
        self.link.lock().expect("no panic while holding it").clone()
    }

    /// Whether `given` opens the page: once.
    pub(crate) fn open(&self, given: &str) -> bool {
        let mut link = self.link.lock().expect("no panic while holding it");
        let right = link.as_deref().is_some_and(|link| same(link, given));
        if right {
            *link = None;
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_once() {
        let secrets = Secrets::new();
        let link = secrets.link().unwrap();
        assert_eq!(link.len(), 64);
        assert!(!secrets.open("") && !secrets.open(&link[1..]) && !secrets.open(&token()));
        assert!(secrets.open(&link) && !secrets.open(&link));
        assert_eq!(secrets.link(), None);
    }

    #[test]
    fn tokens_differ() {
        let all: std::collections::BTreeSet<String> = (0..100).map(|_| token()).collect();
        assert_eq!(all.len(), 100);
        assert!(same("ab", "ab") && !same("ab", "ac") && !same("ab", "abc"));
    }
}
