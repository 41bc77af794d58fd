//! A random order that can be had again.

/// A number that nobody has chosen.
pub(super) fn seed() -> u32 {
    let (random, ..) = uuid::Uuid::new_v4().as_fields();
    random
}

/// How an order is had again, for people.
pub(super) fn words(seed: u32) -> String {
    format!("In a random order: --shuffle={seed} gives it again")
}

/// The items in the order that this number makes, on every machine and with every version of this program.
pub(super) fn shuffled<T>(mut items: Vec<T>, seed: u32) -> Vec<T> {
    let mut state = u64::from(seed);
    // Fisher and Yates: each item changes places with one of those up to itself.
    for last in (1..items.len()).rev() {
        let choices = last as u64 + 1;
        let other = next(&mut state) % choices;
        items.swap(last, usize::try_from(other).unwrap_or(last));
    }
    items
}

/// The next number of `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{next, shuffled};

    #[test]
    fn the_numbers_are_those_of_the_reference() {
        // The first three of the reference implementation of `SplitMix64` for the seed 1234567.
        let mut state = 1_234_567;
        let first = [(); 3].map(|()| next(&mut state));
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn one_number_makes_one_order_and_many_make_all() {
        let items = vec![1, 2, 3, 4];
        assert_eq!(shuffled(items.clone(), 7), shuffled(items.clone(), 7));
        let orders: BTreeSet<Vec<i32>> =
            (0..500).map(|seed| shuffled(items.clone(), seed)).collect();
        assert_eq!(orders.len(), 24);
    }
}
