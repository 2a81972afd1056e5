//! Data in parts that is hard to divide: wide tables of which most records are nearly equal, and
//! limits that hold in every step.

use setveil::Dataset;
use setveil::methods::disassociation::parts::{
    Counted, InMemory, Numbered, PartSize, Planner, Sizes, anonymize_numbered,
};

use super::in_parts::{Reading, ReadingShelf, counted, numbered, parameters, plan};

#[test]
fn equal_records_longer_than_any_beginning_are_divided_and_others_told_apart() {
    let mut records = vec![(0..300).collect::<Vec<u32>>(); 1000];
    records.extend((0..500).map(|r| (0..260).chain([300 + r]).collect()));
    let made = plan(&records, 100, true);
    assert!(made.sizes().iter().all(|&size| (25..=125).contains(&size)), "{:?}", made.sizes());
    assert_eq!(made.sizes().iter().sum::<u64>(), 1500);
    assert_eq!(made.equal().iter().map(|equal| equal.count).sum::<u64>(), 1000);
    assert!(made.equal().iter().all(|equal| equal.ranks == records[0]));
    let mut found = vec![0; made.sizes().len()];
    records.iter().filter_map(|own| made.part(own)).for_each(|part| found[part as usize] += 1);
    made.equal().iter().for_each(|equal| found[equal.part as usize] += equal.count);
    assert_eq!(found, made.sizes());
    records.reverse();
    assert_eq!(plan(&records, 100, true), made);
    // Clusters with the same terms stay together.
    assert_eq!(plan(&records, 100, false).sizes(), [1500]);
}

/// What was counted, without records: 100 of them are alike to the last level.
#[test]
fn records_that_only_seem_to_be_equal_stay_together() {
    for (last, equal) in [(100, 3), (60, 0)] {
        let mut planner = Planner::new(PartSize::weight(40), true);
        for split in 0..260 {
            let mut counter = planner.counter();
            counter.add((split, 1), 100);
            planner.take(counter);
        }
        assert!(planner.counts());
        let mut counter = planner.counter();
        counter.add((260, 5), 100);
        counter.add((260, 7), last);
        planner.take(counter);
        assert!(!planner.counts());
        assert_eq!(planner.equal_parts(), equal as u64, "known before it is made");
        let plan = planner.finish();
        assert_eq!((plan.equal().len(), plan.sizes().iter().sum::<u64>()), (equal, 100));
        assert!(plan.equal().iter().all(|equal| equal.ranks == [4, 6]));
    }
}

/// A table of 270 columns, nearly all of whose cells are the same: more than half of the records
/// are equal, and the others begin alike.
fn wide() -> Vec<Vec<String>> {
    let other = |r: usize, c: usize| (r * 7919 + c * 104_729 + r * c % 977).is_multiple_of(499);
    let cell = |r: usize, c: usize| format!("c{c}={}", u8::from(r % 5 < 2 && other(r, c)));
    (0..900).map(|r| (0..270).map(|c| cell(r, c)).collect()).collect()
}

#[test]
fn a_wide_table_of_nearly_equal_records_comes_apart() {
    let mut records = wide();
    let parameters = parameters(3, 1).with_max_cluster_size(12);
    let part = Some(PartSize::records(200, 12).unwrap());
    let sizes = Sizes { records: part, items: 260 * 270, ..PartSize::weight(200).into() };
    let mut made = Vec::new();
    for _ in 0..2 {
        let data = Dataset::from_records(&records);
        let mut shelves = Reading::default();
        let Counted { records: own, counts } = counted(&data);
        let all: usize = own.iter().map(Vec::len).sum();
        let own = ReadingShelf(own, shelves.read.clone());
        let data = Numbered { counted: Counted { records: own, counts }, numbers: None };
        let mut keys = Vec::new();
        let mut take = |key: &[u8]| {
            keys.push(key.to_vec());
            Ok(())
        };
        let parts =
            anonymize_numbered(data, &parameters, sizes, &mut shelves, &mut take, &()).unwrap();
        let times = shelves.read.get() / all;
        assert!((4..=18).contains(&parts) && times < 320, "{parts} parts, read {times} times");
        keys.sort_unstable();
        made.push(keys);
        records.reverse();
        records.rotate_left(123);
    }
    assert_eq!(made[0], made[1]);
}

/// Each part of equal records has a copy of what they have.
#[test]
fn too_many_parts_of_equal_records_are_refused_before_they_are_made() {
    let mut records = testkit::random::records(3, 4000, 50, 3.0);
    records.extend(vec![(0..40).map(|item| format!("long {item}")).collect(); 2400]);
    let data = Dataset::from_records(records);
    let records = Some(PartSize::records(800, 50).unwrap());
    let made = |parts| {
        let sizes = Sizes { records, parts, ..PartSize::weight(800).into() };
        let take = &mut |_: &[u8]| Ok(());
        anonymize_numbered(numbered(&data), &parameters(3, 2), sizes, &mut InMemory, take, &())
    };
    let error = made(2).unwrap_err().to_string();
    assert!(error.contains("into at least 3 parts"), "{error}");
}

#[test]
fn rounds_of_joins_keep_to_the_number_of_parts() {
    let data = Dataset::from_records(testkit::random::records(3, 4000, 400, 4.0));
    let made = |join, parts| {
        let records = Some(PartSize::records(800, 50).unwrap());
        let sizes = Sizes { records, join, parts, ..PartSize::weight(800).into() };
        let take = &mut |_: &[u8]| Ok(());
        anonymize_numbered(numbered(&data), &parameters(3, 2), sizes, &mut InMemory, take, &())
    };
    let parts = made(u64::MAX, 20).unwrap();
    let error = made(500, parts as u64).unwrap_err().to_string();
    assert!(error.contains("parts") && error.contains("memory"), "{error}");
}

#[test]
fn a_number_that_no_item_has_is_an_error() {
    let data = Dataset::from_records(testkit::random::records(3, 2000, 50, 4.0));
    let parameters = parameters(3, 2);
    for records in [None, Some(PartSize::records(800, 50).unwrap())] {
        for own in [None, Some((0..50).collect())] {
            let mut numbered = Numbered { numbers: own, ..numbered(&data) };
            let sizes = Sizes { records, ..PartSize::weight(800).into() };
            numbered.counted.records[700] = vec![90];
            let take = &mut |_: &[u8]| Ok(());
            let done = anonymize_numbered(numbered, &parameters, sizes, &mut InMemory, take, &());
            let error = done.unwrap_err().to_string();
            assert!(error.contains("does not hold what was written"), "{error}");
        }
    }
}
