// SPDX-License-Identifier: MIT
// Blocks that Rust's library allocates for the program, and a trait of its that the program has.
use std::hint::black_box;

struct Mine {
    values: Vec<u8>,
}

impl Clone for Mine {
    #[inline(never)]
    fn clone(&self) -> Mine {
        let mut values = Vec::with_capacity(40000); // site: clone
        values.push(self.values[0]);
        Mine { values }
    }
}

fn main() {
    let filled: Vec<u8> = vec![1; 10000]; // site: filled
    let cloned = black_box(&filled).clone(); // site: cloned
    let part = black_box(&filled)[1..9001].to_vec(); // site: part
    let boxed: Box<[u8]> = black_box(&part)[..8000].into(); // site: boxed
    let mine = Mine { values: cloned };
    black_box((mine.clone(), boxed));
}
