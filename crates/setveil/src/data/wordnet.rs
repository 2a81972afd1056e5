//! The nouns of WordNet as a hierarchy (partition-2009, section 6).
//!
//! WordNet is a graph: a noun has several senses and a sense may have several
//! hypernyms. A hierarchy needs one of each. A noun stands below its first
//! sense, which is the most frequent one, and a sense below its first
//! hypernym, be it of a kind (`@`) or of an instance (`@i`). Words of the
//! same sense are siblings. This module parses text; files are read in
//! [`io`](crate::io).

use rustc_hash::FxHashMap;

use super::Hierarchy;
use super::hierarchy::{HierarchyBuilder, ROOT};
use crate::{Error, Result};

/// The nouns with their first senses, and the senses with their first hypernyms.
#[derive(Clone, Debug, Default)]
pub struct Nouns {
    /// The offset of a noun's first sense.
    senses: FxHashMap<String, u32>,
    synsets: FxHashMap<u32, Synset>,
}

#[derive(Clone, Debug)]
struct Synset {
    /// The first word and the offset: unique, and never a noun.
    label: String,
    hypernym: Option<u32>,
}

/// A line that is not as it should be: its number, counted from 1, and what is wrong.
pub type BadLine = (u64, String);

impl Nouns {
    /// Parses the contents of `index.noun`: the nouns.
    pub fn add_index(&mut self, text: &str) -> Result<(), BadLine> {
        for (line, fields) in lines(text) {
            let bad = || (line, "expected `lemma n senses pointers ... offset`".to_owned());
            let senses: usize = number(&fields, 2, 10).ok_or_else(bad)? as usize;
            let at = fields.len().checked_sub(senses).filter(|_| senses > 0).ok_or_else(bad)?;
            let offset = number(&fields, at, 10).ok_or_else(bad)?;
            self.senses.insert(fields[0].replace('_', " "), offset);
        }
        Ok(())
    }

    /// Parses the contents of `data.noun`: the senses.
    pub fn add_data(&mut self, text: &str) -> Result<(), BadLine> {
        for (line, fields) in lines(text) {
            let bad = |what: &str| (line, format!("expected {what}"));
            let offset = number(&fields, 0, 10).ok_or_else(|| bad("an offset first"))?;
            let words = number(&fields, 3, 16).ok_or_else(|| bad("the number of words"))? as usize;
            let word = fields.get(4).filter(|_| words > 0).ok_or_else(|| bad("a word"))?;
            let first = 5 + 2 * words;
            let pointers = number(&fields, first - 1, 10)
                .ok_or_else(|| bad("the number of pointers after the words"))?;
            let hypernym = (0..pointers as usize)
                .map(|p| first + 4 * p)
                .find(|&p| matches!(fields.get(p), Some(&("@" | "@i"))))
                .map(|p| number(&fields, p + 1, 10).ok_or_else(|| bad("an offset after `@`")))
                .transpose()?;
            let label = format!("{}#{offset:08}", word.replace('_', " "));
            self.synsets.insert(offset, Synset { label, hypernym });
        }
        Ok(())
    }

    /// How many nouns there are.
    pub fn len(&self) -> usize {
        self.senses.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.senses.is_empty()
    }

    /// The noun that `word` is, in small letters: as it stands, or without the
    /// ending of a plural.
    pub fn noun(&self, word: &str) -> Option<&str> {
        // WordNet's rules of detachment for nouns; irregular plurals are not known.
        const ENDINGS: [(&str, &str); 8] = [
            ("s", ""),
            ("ses", "s"),
            ("xes", "x"),
            ("zes", "z"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("men", "man"),
            ("ies", "y"),
        ];
        let known = |word: &str| self.senses.get_key_value(word).map(|(noun, _)| noun.as_str());
        known(word).or_else(|| {
            ENDINGS.iter().find_map(|(plural, singular)| {
                let stem = word.strip_suffix(plural).filter(|stem| !stem.is_empty())?;
                known(&format!("{stem}{singular}"))
            })
        })
    }

    /// The nouns of `text`, which is in small letters: the longest run of up
    /// to four words that is a noun, then on after it.
    pub fn nouns_of<'a>(&'a self, text: &str, mut each: impl FnMut(&'a str)) {
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-' | '.'))
            .filter(|word| !word.is_empty())
            .collect();
        let mut at = 0;
        while at < words.len() {
            let longest = (1..=4.min(words.len() - at)).rev();
            let found = longest
                .filter_map(|n| self.noun(&words[at..at + n].join(" ")).map(|noun| (n, noun)))
                .next();
            at += found.map_or(1, |(n, noun)| {
                each(noun);
                n
            });
        }
    }

    /// The hierarchy over the nouns that `keep` says.
    pub fn hierarchy(&self, keep: impl Fn(&str) -> bool) -> Result<Hierarchy> {
        let fail = |what: String| Error::Infeasible {
            what: format!("WordNet's nouns are no tree: {what}"),
            hint: "use index.noun and data.noun of the same version".into(),
        };
        let mut nouns: Vec<(&str, u32)> =
            self.senses.iter().map(|(n, &s)| (n.as_str(), s)).filter(|(n, _)| keep(n)).collect();
        nouns.sort_unstable();
        let mut builder = HierarchyBuilder::default();
        let mut path = Vec::new();
        for (noun, sense) in nouns {
            path.clear();
            path.push(noun);
            let mut next = Some(sense);
            while let Some(offset) = next {
                let synset = self
                    .synsets
                    .get(&offset)
                    .ok_or_else(|| fail(format!("`{noun}` has no sense at {offset:08}")))?;
                if path.len() > self.synsets.len() {
                    return Err(fail(format!("`{noun}` is its own hypernym")));
                }
                path.push(&synset.label);
                next = synset.hypernym;
            }
            path.push(ROOT);
            builder.push(&path).map_err(fail)?;
        }
        builder.finish().ok_or_else(|| Error::Unknown {
            what: "no item of the data is a noun".into(),
            hint: "read a query log by its nouns".into(),
        })
    }
}

/// The fields of the lines that are not part of the notice at the beginning.
fn lines(text: &str) -> impl Iterator<Item = (u64, Vec<&str>)> {
    let numbered = text.lines().enumerate().map(|(i, line)| (i as u64 + 1, line));
    numbered
        .filter(|(_, line)| !line.starts_with(' ') && !line.trim().is_empty())
        .map(|(number, line)| (number, line.split_ascii_whitespace().collect()))
}

fn number(fields: &[&str], at: usize, radix: u32) -> Option<u32> {
    u32::from_str_radix(fields.get(at)?, radix).ok()
}
