//! A cluster as disassociation-2012 draws it: one column a record chunk, the
//! term chunk on the right.

use setveil::data::{ItemId, Vocabulary};
use setveil::release::SimpleCluster;

/// The widest a term chunk is drawn.
const WIDTH: usize = 28;

/// The cluster that shows most in little room: several chunks and a term
/// chunk if there is one, few lines.
pub fn worth_showing<'a>(
    leaves: impl IntoIterator<Item = &'a SimpleCluster>,
) -> Option<&'a SimpleCluster> {
    let shows = |leaf: &&SimpleCluster| {
        let lines = leaf.record_chunks.iter().map(|c| c.len()).max().unwrap_or(0);
        let fits = lines <= 12 && leaf.record_chunks.len() <= 4;
        (fits, leaf.record_chunks.len().min(3), !leaf.term_chunk.is_empty(), lines)
    };
    leaves.into_iter().max_by_key(shows)
}

/// The drawing.
pub fn cluster(cluster: &SimpleCluster, vocabulary: &Vocabulary) -> String {
    let name = |&i: &ItemId| vocabulary.label(i);
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (i, chunk) in cluster.record_chunks.iter().enumerate() {
        let mut column = vec![format!("record chunk {}", i + 1)];
        for (items, count) in chunk.iter() {
            let text = items.iter().map(name).collect::<Vec<_>>().join(", ");
            column.push(if count > 1 { format!("{count} x {text}") } else { text });
        }
        columns.push(column);
    }
    if !cluster.term_chunk.is_empty() {
        let mut column = vec!["term chunk".to_owned()];
        column.extend(wrap(cluster.term_chunk.iter().map(name)));
        columns.push(column);
    }
    frame(&columns)
}

/// Words with commas between them, in lines.
fn wrap<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + word.chars().count() <= WIDTH => {
                line.push_str(", ");
                line.push_str(word);
            }
            Some(line) => {
                line.push(',');
                lines.push(word.to_owned());
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Columns side by side, with a line below their titles.
fn frame(columns: &[Vec<String>]) -> String {
    let width = |column: &Vec<String>| column.iter().map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let rule: String = widths.iter().map(|w| format!("+{}", "-".repeat(w + 2))).collect();
    let rule = format!("  {rule}+\n");
    let mut text = rule.clone();
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        text += "  ";
        for (column, &width) in columns.iter().zip(&widths) {
            let cell = column.get(row).map_or("", String::as_str);
            let blanks = " ".repeat(width - cell.chars().count());
            text += &format!("| {cell}{blanks} ");
        }
        text += "|\n";
        if row == 0 {
            text += &rule;
        }
    }
    text + &rule
}

#[cfg(test)]
mod tests {
    use setveil::release::Bag;

    use super::*;

    #[test]
    fn a_cluster_is_drawn_column_by_column() {
        let vocabulary = Vocabulary::new(["audi a4", "flu", "itunes", "ruby"]);
        let leaf = SimpleCluster {
            size: 3,
            record_chunks: vec![
                Bag::from_itemsets([&[1, 2][..], &[1, 2], &[1]]),
                Bag::from_itemsets([&[0][..]]),
            ],
            term_chunk: vec![3],
        };
        let expected = "  +-----------------+----------------+------------+
  | record chunk 1  | record chunk 2 | term chunk |
  +-----------------+----------------+------------+
  | flu             | audi a4        | ruby       |
  | 2 x flu, itunes |                |            |
  +-----------------+----------------+------------+
";
        assert_eq!(cluster(&leaf, &vocabulary), expected);
    }
}
