//! What comes with a request: fields of forms, with the token that only our own
//! pages know, and the query of an address.

use std::str::FromStr;

use axum::RequestExt;
use axum::extract::{FromRequest, FromRequestParts, Query, RawForm, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::app::{Ctx, Fault};
use crate::secret::same;

/// The field with the token.
pub(crate) const TOKEN: &str = "token";

/// Names and values, as often as they were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// The value, if there is more than blanks.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).map(str::trim).find(|value| !value.is_empty())
    }

    /// All values of a name as they are.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether a box was ticked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A number; none if it is left out or none at all.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect())
    }
}

/// The fields of a form that was sent from one of our pages.
#[derive(Clone, Debug)]
pub(crate) struct Form(pub(crate) Fields);

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Fault;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, Fault> {
        let ctx: Ctx = request.extract_parts().await?;
        let bad = |_| ctx.fault(StatusCode::BAD_REQUEST, "The form could not be read.");
        let RawForm(body) = request.extract().await.map_err(bad)?;
        let fields = Fields(decode(&body));
        if !fields.all(TOKEN).next().is_some_and(|found| same(found, &ctx.app.secrets().form)) {
            return Err(ctx.no_token());
        }
        Ok(Self(fields))
    }
}

/// The query of an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(pub(crate) Fields);

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let found = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        Ok(Self(Fields(found.map(|Query(pairs)| pairs).unwrap_or_default())))
    }
}

/// `a=1&b=2`, decoded.
fn decode(body: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[at], hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte.into());
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_encoded_comes_back() {
        for text in ["", "a b+c&d=e", "ä/ö?#%", "<img src=x onerror=alert(1)>", "\u{202e}x\0"] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("a+b%2"), "a b%2");
        let fields = Fields(decode(b"item=a&item=b&x=&y=+&k=7&q"));
        assert_eq!(fields.all("item").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((fields.get("x"), fields.get("y"), fields.number("k")), (None, None, Some(7)));
    }
}
