//! Plain BM25 over name and description: the baseline, a search without knowledge of APIs.

use std::collections::HashMap;

const K: f64 = 1.5;
const B: f64 = 0.75;

pub struct Bm25 {
    docs: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    holders: HashMap<String, f64>,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl Bm25 {
    pub fn build<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Bm25 {
        let mut all = Bm25 { docs: Vec::new(), lengths: Vec::new(), holders: HashMap::new() };
        for (name, description) in texts {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            for word in words(name).chain(words(description)) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            for word in counts.keys() {
                *all.holders.entry(word.clone()).or_default() += 1.0;
            }
            all.docs.push(counts);
            all.lengths.push(length);
        }
        all
    }

    pub fn search(&self, question: &str, limit: usize) -> Vec<usize> {
        let count = self.docs.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / count.max(1.0);
        let mut scored: Vec<(f64, usize)> = Vec::new();
        for (position, (doc, length)) in self.docs.iter().zip(&self.lengths).enumerate() {
            let score: f64 = words(question)
                .filter_map(|word| {
                    let often = doc.get(&word)?;
                    let holders = self.holders.get(&word)?;
                    let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
                    Some(rarity * often * (K + 1.0) / (often + K * (1.0 - B + B * length / mean)))
                })
                .sum();
            if score > 0.0 {
                scored.push((score, position));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().take(limit).map(|(_, position)| position).collect()
    }
}
