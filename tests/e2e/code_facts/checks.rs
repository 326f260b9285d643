// SPDX-License-Identifier: MIT
// The same loops with checks and without: checks ROUNDS

#[no_mangle]
#[inline(never)]
fn with_bounds(a: &[u32], b: &[usize]) -> u32 {
    let mut s = 0u32;
    for i in 0..b.len() {
        s = s.wrapping_add(a[b[i]]);
    }
    s
}

#[no_mangle]
#[inline(never)]
fn without_bounds(a: &[u32], b: &[usize]) -> u32 {
    let mut s = 0u32;
    for i in 0..b.len() {
        s = s.wrapping_add(unsafe { *a.get_unchecked(b[i]) });
    }
    s
}

#[no_mangle]
#[inline(never)]
fn with_iterators(a: &[u32], b: &[usize]) -> u32 {
    a.iter().zip(b.iter()).fold(0u32, |s, (x, y)| s.wrapping_mul(3).wrapping_add(*x ^ *y as u32))
}

#[no_mangle]
#[inline(never)]
fn with_unwrap(a: &[u32]) -> u32 {
    let mut s = 0u32;
    for x in a {
        s = s.checked_add(*x & 1).unwrap();
    }
    s
}

// without the check in a build with -C overflow-checks=off
#[no_mangle]
#[inline(never)]
fn with_sums(a: &[u32], more: u32) -> u32 {
    let mut s = 0u32;
    for x in a {
        s = (s ^ *x) / 2 + more;
    }
    s
}

#[no_mangle]
#[inline(never)]
fn with_division(a: &[u32], d: &[u32]) -> u32 {
    let mut s = 0u32;
    for (x, y) in a.iter().zip(d) {
        s = s.wrapping_add(x / y);
    }
    s
}

fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let a: Vec<u32> = (0..4096u32).map(|x| x.wrapping_mul(2654435761) | 1).collect();
    let b: Vec<usize> = (0..4096usize).map(|x| (x * 77) % 4096).collect();
    let mut s = 0u32;
    for _ in 0..n {
        s = s
            .wrapping_add(with_bounds(&a, &b))
            .wrapping_add(without_bounds(&a, &b))
            .wrapping_add(with_iterators(&a, &b))
            .wrapping_add(with_unwrap(&a))
            .wrapping_add(with_sums(&a, b[1] as u32))
            .wrapping_add(with_division(&a, &a));
    }
    println!("{}", s);
}
