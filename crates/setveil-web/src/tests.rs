//! Handlers without a browser.
