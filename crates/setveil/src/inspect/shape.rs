//! What a text looks like, without knowing where it comes from.

/// The first shape that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Email,
    Iban,
    Date,
    Phone,
    /// A UUID, many digits, or letters and many digits.
    Id,
    Sentence,
    Control,
    Plain,
}

/// The shape of `text`.
pub(super) fn shape(text: &str) -> Shape {
    // Numbers and short words, the usual items, are decided at once.
    if text.len() < 6 && text.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Shape::Plain;
    }
    if text.chars().any(char::is_control) {
        Shape::Control
    } else if is_email(text) {
        Shape::Email
    } else if is_iban(text) {
        Shape::Iban
    } else if is_date(text) {
        Shape::Date
    } else if is_phone(text) {
        Shape::Phone
    } else if is_id(text) {
        Shape::Id
    } else if is_sentence(text) {
        Shape::Sentence
    } else {
        Shape::Plain
    }
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let fits = |t: &str, more: &str| {
        !t.is_empty() && t.chars().all(|c| c.is_alphanumeric() || more.contains(c))
    };
    let top = host.rsplit('.').next().unwrap_or_default();
    fits(name, "._%+-'")
        && fits(host, ".-")
        && host.contains('.')
        && top.len() >= 2
        && top.chars().all(char::is_alphabetic)
}

/// Country, two check digits, account, and the remainder modulo 97 is one.
fn is_iban(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let fits = (15..=34).contains(&plain.len())
        && plain[..2].iter().all(u8::is_ascii_uppercase)
        && plain[2..4].iter().all(u8::is_ascii_digit)
        && plain[4..].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    fits && plain[4..].iter().chain(&plain[..4]).fold(0u32, |rest, &b| match b {
        b'0'..=b'9' => (rest * 10 + u32::from(b - b'0')) % 97,
        _ => (rest * 100 + u32::from(b - b'A') + 10) % 97,
    }) == 1
}

/// A day with year, month and day, and perhaps a time behind it.
pub(super) fn is_date(text: &str) -> bool {
    is_spelled_date(text) || is_numeric_date(text)
}

/// `12-JAN-2023`, `Jan 12, 2023`, `3. Mai 2021`.
fn is_spelled_date(text: &str) -> bool {
    // Short names are the first three letters of these.
    const MONTHS: [&str; 21] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "mrz",
    ];
    let parts: Vec<&str> =
        text.split(['-', ' ', '.', ',', '/']).filter(|part| !part.is_empty()).take(4).collect();
    let [a, b, c] = parts[..] else { return false };
    let (month, day) = if a.starts_with(|c: char| c.is_alphabetic()) { (a, b) } else { (b, a) };
    let name = month.to_lowercase();
    let short = |long: &str| name.chars().count() == 3 && long.starts_with(&name);
    let number = |text: &str| text.parse::<u32>().ok();
    MONTHS.iter().any(|long| *long == name || short(long))
        && number(day).is_some_and(|d| (1..=31).contains(&d))
        && [2, 4].contains(&c.len())
        && number(c).is_some()
}

/// Eight digits that are year, month and day.
pub(super) fn is_compact_date(text: &str) -> bool {
    let part = |from: usize, to: usize| text.get(from..to).and_then(|t| t.parse::<u32>().ok());
    text.len() == 8
        && text.bytes().all(|b| b.is_ascii_digit())
        && part(0, 4).is_some_and(|y| (1900..=2100).contains(&y))
        && part(4, 6).is_some_and(|m| (1..=12).contains(&m))
        && part(6, 8).is_some_and(|d| (1..=31).contains(&d))
}

fn is_numeric_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    let Some(separator) = day.chars().find(|c| !c.is_ascii_digit()) else { return false };
    if !matches!(separator, '-' | '.' | '/') || !text[day.len()..].chars().all(is_time) {
        return false;
    }
    let parts: Vec<&str> = day.split(separator).collect();
    let [a, b, c] = parts[..] else { return false };
    let number = |t: &str| t.parse::<u32>().ok().filter(|_| t.len() <= 4);
    let (Some(a), Some(b), Some(c)) = (number(a), number(b), number(c)) else { return false };
    let year = |y: u32| (1900..=2100).contains(&y);
    let days = |x: u32, y: u32| (1..=31).contains(&x) && (1..=31).contains(&y) && x.min(y) <= 12;
    // Two digits of a year, as in 31.12.99.
    let short = parts[2].len() == 2 && parts[0].len() <= 2 && separator != '-';
    (year(a) && days(b, c)) || ((year(c) || short) && days(a, b))
}

fn is_time(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, 'T' | ' ' | ':' | '.' | 'Z' | '+' | '-')
}

/// Digits with a plus before them, or with a zero or bracket and gaps.
fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let gaps = text.bytes().filter(|b| matches!(b, b' ' | b'/' | b'(' | b')' | b'-')).count();
    let plus = text.starts_with('+');
    (7..=15).contains(&digits)
        && digits + gaps + usize::from(plus) == text.len()
        && (plus || (text.starts_with(['0', '(']) && text.contains([' ', '/', '('])))
}

/// A UUID; at least six digits; or a few letters and at least four digits (five behind a word).
pub(super) fn is_id(text: &str) -> bool {
    is_uuid(text) || is_hash(text) || {
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let rest = text[letters..].trim_start_matches(['-', '_', '#']);
        let digits = rest.len();
        let enough = match letters {
            0 => 6,
            1..=4 => 4,
            5..=8 => 5,
            _ => usize::MAX,
        };
        digits >= enough && rest.bytes().all(|b| b.is_ascii_digit())
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Sixteen hexadecimal digits and more, letters and digits among them.
fn is_hash(text: &str) -> bool {
    text.len() >= 16
        && text.bytes().all(|b| b.is_ascii_hexdigit())
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// What ids of one kind have in common.
pub(super) fn family(text: &str) -> String {
    match text {
        text if is_uuid(text) => "uuid".to_owned(),
        text if is_hash(text) => "hash".to_owned(),
        text => pattern(text),
    }
}

/// At least eight words, or five that are long together.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
    words >= 8 || (words >= 5 && text.len() >= 60)
}

/// The text with every digit as `9` and every letter as `a`, runs as one:
/// what the values of one column have in common.
pub(super) fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        let c = match c {
            c if c.is_ascii_digit() => '9',
            c if c.is_alphabetic() => 'a',
            c => c,
        };
        if !pattern.ends_with(c) {
            pattern.push(c);
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_texts_look_like() {
        for (text, expected) in [
            ("ann@example.org", Shape::Email),
            ("a.b-c@mail.co.uk", Shape::Email),
            ("@home", Shape::Plain),
            ("milk@3.5", Shape::Plain),
            ("DE89 3704 0044 0532 0130 00", Shape::Iban),
            ("GB82WEST12345698765432", Shape::Iban),
            ("GB82WEST12345698765433", Shape::Plain),
            ("2024-02-29", Shape::Date),
            ("2024-02-29T10:11:12Z", Shape::Date),
            ("31.12.1999", Shape::Date),
            ("12/31/1999", Shape::Date),
            ("31.12.99", Shape::Date),
            ("12-JAN-2023", Shape::Date),
            ("Jan 12, 2023", Shape::Date),
            ("3. Mai 2021", Shape::Date),
            ("marmalade 12 2023", Shape::Plain),
            ("250.10.1999", Shape::Plain),
            ("5.10.3", Shape::Plain),
            ("1-2-3", Shape::Plain),
            ("+49 30 1234567", Shape::Phone),
            ("(030) 1234-567", Shape::Phone),
            ("030/1234567", Shape::Phone),
            ("P000123", Shape::Id),
            ("1234567", Shape::Id),
            ("0123456-789", Shape::Plain),
            ("123e4567-e89b-12d3-a456-426614174000", Shape::Id),
            ("E11.9", Shape::Plain),
            ("12345", Shape::Plain),
            ("WHITE HANGING HEART T-LIGHT HOLDER", Shape::Plain),
            ("the patient came back after two weeks and was better", Shape::Sentence),
            ("a\0b\0c\0", Shape::Control),
            ("milk", Shape::Plain),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        assert_eq!(pattern("AB-0017.x"), "a-9.a");
        assert!(is_compact_date("20230131") && !is_compact_date("20231331"));
        assert_eq!(family("e6182695a8f3b8c409caa7b1c2ec34a5"), "hash");
    }
}
