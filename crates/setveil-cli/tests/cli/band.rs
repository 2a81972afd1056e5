//! `setveil band`.

use super::cahd::setveil;

#[test]
fn pictures_in_both_formats_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let rows = (0..200).map(|i| (i * 77 % 200) as u32);
    let text: String =
        rows.map(|i| format!("{} {}\n", i * 7919 % 201, (i + 1) * 7919 % 201)).collect();
    std::fs::write(dir.path().join("data.dat"), text).unwrap();
    for name in ["band.png", "band.svg"] {
        let output =
            setveil(dir.path(), &["--json", "band", "data.dat", "-o", name, "--side", "100"]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["records"], &answer["items"]), (&200.into(), &201.into()));
        let distance = |key: &str| answer[key].as_f64().unwrap();
        assert!(distance("mean_distance_after") < distance("mean_distance_before") / 10.0);
    }
    let png = std::fs::read(dir.path().join("band.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let svg = std::fs::read_to_string(dir.path().join("band.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("data:image/png;base64,").count(), 2);
    let again = setveil(dir.path(), &["band", "data.dat", "-o", "band.png"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    let replaced = setveil(dir.path(), &["band", "data.dat", "-o", "band.png", "--force"]);
    assert!(replaced.status.success());
    let other = setveil(dir.path(), &["band", "data.dat", "-o", "band.gif"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("use .png or .svg"));
}
