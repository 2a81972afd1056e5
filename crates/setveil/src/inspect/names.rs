//! Words that name columns, and those that describe a person.

/// Words for whose row it is.
const IDS: &[&str] = &[
    "id",
    "ids",
    "uid",
    "uuid",
    "guid",
    "key",
    "nr",
    "no",
    "number",
    "user",
    "userid",
    "customer",
    "patient",
    "person",
    "member",
    "client",
    "subject",
    "case",
    "visit",
    "encounter",
    "order",
    "invoice",
    "session",
    "basket",
    "transaction",
    "account",
    "tid",
    "pid",
    "kunde",
    "kundennr",
    "patientnr",
    "fall",
    "fallnr",
    "anonid",
    "ssn",
    "mrn",
];
/// Words for what it is.
const ITEMS: &[&str] = &[
    "item",
    "items",
    "product",
    "article",
    "sku",
    "code",
    "codes",
    "diagnosis",
    "diagnoses",
    "icd",
    "icd9",
    "icd10",
    "dx",
    "drug",
    "medication",
    "atc",
    "procedure",
    "query",
    "term",
    "page",
    "url",
    "category",
    "genre",
    "movie",
    "song",
    "book",
    "artikel",
    "diagnose",
    "produkt",
    "goods",
];
/// Words for what describes a person, or when.
const PERSONAL: &[&str] = &[
    "age",
    "alter",
    "sex",
    "gender",
    "geschlecht",
    "zip",
    "zipcode",
    "plz",
    "postcode",
    "postal",
    "city",
    "town",
    "ort",
    "country",
    "nationality",
    "race",
    "ethnicity",
    "religion",
    "birth",
    "birthday",
    "birthdate",
    "birthyear",
    "dob",
    "born",
    "geburtsdatum",
    "marital",
    "married",
    "occupation",
    "job",
    "income",
    "salary",
    "education",
    "height",
    "weight",
    "name",
    "firstname",
    "lastname",
    "surname",
    "street",
    "address",
    "phone",
    "email",
    "date",
    "datum",
    "time",
    "timestamp",
    "day",
    "month",
    "year",
    "admitted",
    "discharged",
];
/// Words for people.
const PEOPLE: &[&str] = &[
    "user",
    "userid",
    "customer",
    "patient",
    "person",
    "member",
    "client",
    "subject",
    "visitor",
    "employee",
    "student",
    "kunde",
    "kundennr",
    "patientnr",
    "anonid",
    "ssn",
    "mrn",
];
/// Words for what people did once, and for their numbers: behind them and behind those for
/// people, a column says who.
const ONCE: &[&str] = &[
    "case",
    "visit",
    "encounter",
    "order",
    "invoice",
    "session",
    "basket",
    "transaction",
    "account",
    "tid",
    "pid",
    "uid",
    "fall",
    "fallnr",
    "iban",
    "uuid",
    "guid",
];
/// Words that name somebody, or lead to a door.
const DIRECT: &[&str] = &[
    "firstname",
    "lastname",
    "surname",
    "forename",
    "vorname",
    "nachname",
    "nachnamen",
    "fullname",
    "username",
    "street",
    "strasse",
    "address",
    "adresse",
    "phone",
    "telephone",
    "telefon",
    "email",
];
/// Words that stand beside `name` where it is one of a person.
const NAMES: &[&str] = &["name", "first", "last", "full", "given", "family", "middle", "maiden"];
/// Words that say nothing but that it is a number for something.
const NUMBERS: &[&str] = &["id", "ids", "key", "nr", "no", "number", "index", "row", "hash"];
/// Further words that only columns are called.
const OTHERS: &[&str] =
    &["value", "amount", "quantity", "qty", "price", "count", "type", "description", "rank"];

/// The words of a name, in small letters: `patientId_2` is patient, id, 2.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        small = c.is_lowercase();
        if c.is_alphanumeric() {
            words.last_mut().expect("there is one").extend(c.to_lowercase());
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn any(name: &str, known: &[&str]) -> bool {
    let stem = |word: &str| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    words(name).iter().any(|w| known.contains(&w.as_str()) || known.contains(&stem(w).as_str()))
}

/// Whether a column of this name says whose row it is.
pub(super) fn is_id(name: &str) -> bool {
    any(name, IDS) && !any(name, PERSONAL)
}

/// Whether a column of this name holds items.
pub(super) fn is_item(name: &str) -> bool {
    any(name, ITEMS)
}

/// Whether a column of this name says who somebody is.
pub(super) fn identifies(name: &str) -> bool {
    let all = |known: &[&str]| {
        let words = words(name);
        !words.is_empty() && words.iter().all(|w| known.contains(&w.as_str()))
    };
    let somebody = all(&[PEOPLE, ONCE, NUMBERS, NAMES].concat()) && !all(&NAMES[1..]);
    !is_item(name) && (somebody || any(name, DIRECT))
}

/// Whether a column of this name tells people apart.
pub(super) fn is_person(name: &str) -> bool {
    let known = |w: &String| PEOPLE.contains(&w.as_str()) || NUMBERS.contains(&w.as_str());
    any(name, PEOPLE) && words(name).iter().all(known)
}

/// Whether a column of this name describes a person.
pub(super) fn is_personal(name: &str) -> bool {
    any(name, PERSONAL)
}

/// Whether this is a name that columns have.
pub(super) fn is_known(name: &str) -> bool {
    any(name, IDS) || any(name, ITEMS) || any(name, PERSONAL) || any(name, OTHERS)
}

/// Whether this could be the name of a column.
pub(super) fn could_name_a_column(text: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || " _-./()#%".contains(c);
    text.len() <= 40
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_words() {
        assert!(is_id("patient_id") && is_id("userId") && is_id("Kunde") && is_id("CustomerID"));
        assert!(!is_id("idle") && !is_id("milk") && !is_id("birth_date"));
        assert!(is_item("diagnosis_code") && is_item("dx1") && is_item("dx21"));
        assert!(is_personal("age") && is_personal("birthDate"));
        assert!(!is_known("whole milk") && !is_known("e11"));
        for name in ["patient_id", "id", "Nr", "lastname", "name", "Patient Name", "email"] {
            assert!(identifies(name), "{name}");
        }
        for name in ["product_id", "movieId", "track_id", "visit_type", "dx1", "zip", "first"] {
            assert!(!identifies(name), "{name}");
        }
    }
}
