//! The words that the page uses.

use maud::html;

use super::html::Page;

const WORDS: &[(&str, &str)] = &[
    ("record", "what is known of one person: a set of items, such as a basket or diagnosis codes"),
    ("item", "one thing in a record: an article, a code, a query; also called term"),
    ("itemset, combination", "several items that stand together in a record"),
    ("support", "the number of records that have an item or a combination"),
    ("release", "what is published: the files that this page is about"),
    ("k", "how many candidates the promise leaves"),
    ("m", "how many items of a person an attacker may know for the promise to hold"),
    ("cluster", "similar records that are published together, so that they hide each other"),
    (
        "chunk",
        "parts of the records of a cluster; which part of one chunk belongs to which of another is \
         not said. A term chunk only names items",
    ),
    ("leaf", "a cluster in which each record keeps what is not rare, and the rest is counted"),
    ("class", "records that look the same after items were replaced by more general ones"),
    ("group", "records whose sensitive items are published apart from the others"),
    ("sensitive item", "one that nobody may be linked to, named by whoever made the release"),
    (
        "possible data set, reconstruction",
        "one from which the release could have been made; there are many, and that is what hides \
         people",
    ),
    (
        "differential privacy, epsilon",
        "noise that hides whether anybody's record is in the data; a smaller epsilon hides more",
    ),
    ("standard error", "how far a figure may be off because not everybody was tried"),
];

pub(super) fn glossary(page: &mut Page) {
    page.section("Glossary");
    page.add(html! {
        dl class="words" {
            @for (word, meaning) in WORDS { div { dt { (word) } dd { (meaning) "." } } }
        }
    });
}
