//! Style, script and mark, as they are in the program.

use axum::http::header::{CONTENT_TYPE, HeaderName};

/// The mark without its frame: a veil over a set of dots.
pub(crate) const MARK_SHAPES: &str = r#"<rect x="1" y="1" width="22" height="22" rx="6" fill="currentColor"/><g fill="none" stroke="var(--paper,#fff)" stroke-width="2" stroke-linecap="round"><path d="M5 9c4.5-4.5 9.5-4.5 14 0"/><path d="M5 14c4.5-4.5 9.5-4.5 14 0" opacity=".65"/></g><g fill="var(--paper,#fff)"><circle cx="7.5" cy="18" r="1.3"/><circle cx="12" cy="18" r="1.3"/><circle cx="16.5" cy="18" r="1.3"/></g>"#;

type Asset = ([(HeaderName, &'static str); 1], String);

/// The style sheet.
pub(crate) async fn style() -> Asset {
    let text = include_str!("../../assets/style.css");
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], text.to_owned())
}

/// For browsers without a script.
pub(crate) async fn plain() -> Asset {
    let text =
        ".js { display: none !important; }\n[data-field][hidden] { display: block !important; }\n";
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], text.to_owned())
}

/// The script.
pub(crate) async fn script() -> Asset {
    let text = include_str!("../../assets/page.js");
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], text.to_owned())
}

/// The mark as a picture.
pub(crate) async fn mark() -> Asset {
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" color=\"#1f4e8c\">{MARK_SHAPES}</svg>"
    );
    ([(CONTENT_TYPE, "image/svg+xml")], text)
}
