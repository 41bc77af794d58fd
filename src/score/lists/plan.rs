//! How much work the comparison of two lists may be, and how that is divided.

/// What a budget for comparing two lists is used for: half of it to find out which elements belong together, half to compare those.
pub(crate) struct Plan {
    /// How many pairs of elements may be tried, and the budget for each.
    pub(crate) cells: usize,
    pub(crate) for_each: usize,
    /// What is left for the pairs that were found.
    pub(crate) left: usize,
}

impl Plan {
    /// `a` and `b` are the weight and the length of the two lists.
    pub(crate) fn new(budget: usize, a: (usize, usize), b: (usize, usize)) -> Self {
        let mean = |(weight, length): (usize, usize)| weight / length.max(1);
        let trying = budget / 2;
        let cells = trying / (mean(a) + mean(b)).max(1);
        let tried = cells.min(a.1.saturating_mul(b.1)).max(1);
        Self {
            cells,
            for_each: trying / tried,
            left: budget - trying,
        }
    }
}
