//! Shares one budget among the answers of a batch.

/// Returns the maximum of each answer, for answers with these costs. An answer that needs less than an equal part leaves the
/// rest to the longer ones.
#[must_use]
pub fn shares(costs: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|index| costs.get(*index).copied());
    let mut shares = vec![0; costs.len()];
    let mut left = budget;
    for (position, index) in order.iter().enumerate() {
        let equal = left / (costs.len() - position);
        let cost = costs.get(*index).copied().unwrap_or_default();
        if let Some(share) = shares.get_mut(*index) {
            *share = if cost <= equal { cost } else { equal };
            left -= *share;
        }
    }
    shares
}
