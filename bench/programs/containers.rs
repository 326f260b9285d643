// SPDX-License-Identifier: MIT
// Maps, a heap, text and a small interpreter; usage: containers ROUNDS.
use std::collections::{BTreeMap, BinaryHeap, HashMap};
enum Op {
    Push(i64),
    Add,
    Mul,
    Dup,
    Swap,
    JumpIf(usize),
    Drop,
}
fn run(code: &[Op], limit: usize) -> i64 {
    let mut stack: Vec<i64> = vec![1];
    let mut at = 0;
    let mut n = 0;
    while at < code.len() && n < limit {
        n += 1;
        match &code[at] {
            Op::Push(v) => stack.push(*v),
            Op::Add => {
                let b = stack.pop().unwrap_or(1);
                let a = stack.pop().unwrap_or(1);
                stack.push(a.wrapping_add(b));
            }
            Op::Mul => {
                let b = stack.pop().unwrap_or(1);
                let a = stack.pop().unwrap_or(2);
                stack.push(a.wrapping_mul(b) % 1000003);
            }
            Op::Dup => {
                let a = *stack.last().unwrap_or(&3);
                stack.push(a);
            }
            Op::Swap => {
                let k = stack.len();
                if k > 1 {
                    stack.swap(k - 1, k - 2);
                }
            }
            Op::JumpIf(t) => {
                if stack.pop().unwrap_or(0) % 7 != 0 {
                    at = *t;
                    continue;
                }
            }
            Op::Drop => {
                if stack.len() > 4 {
                    stack.truncate(4);
                }
            }
        }
        at += 1;
    }
    *stack.last().unwrap_or(&0)
}
fn main() {
    let rounds: usize = std::env::args()
        .nth(1)
        .and_then(|a| a.parse().ok())
        .unwrap_or(10);
    let mut seed: u64 = 3;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut sum: u64 = 0;
    for _ in 0..rounds {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut tree: BTreeMap<u64, u64> = BTreeMap::new();
        let mut heap = BinaryHeap::new();
        for i in 0..20000u64 {
            let r = next();
            *counts.entry(format!("k{}", r % 3000)).or_insert(0) += 1;
            *tree.entry(r % 9000).or_insert(i) += r % 13;
            heap.push(r % 100000);
            if heap.len() > 500 {
                sum = sum.wrapping_add(heap.pop().unwrap());
            }
        }
        let text: String = counts
            .keys()
            .take(800)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ");
        sum = sum.wrapping_add(
            text.split(' ')
                .filter(|w| w.ends_with('7') || w.contains("12"))
                .count() as u64,
        );
        for (k, v) in &tree {
            if k % 3 == 0 {
                sum ^= v
            } else {
                sum = sum.wrapping_add(*v)
            }
        }
        let code = [
            Op::Push(5),
            Op::Add,
            Op::Dup,
            Op::Mul,
            Op::Dup,
            Op::Push(3),
            Op::Add,
            Op::Swap,
            Op::Drop,
            Op::JumpIf(0),
            Op::Push(2),
        ];
        sum = sum.wrapping_add(run(&code, 200000) as u64);
    }
    println!("{}", sum);
}
