// SPDX-License-Identifier: MIT
public class Main {
	static long total(long[] cents, int[] quantities, long percent) {
		long sum = 0;
		for (int i = 0; i < cents.length; i++) {
			long line = cents[i] * quantities[i];
			sum += line + (line * percent + 50) / 100;
		}
		return sum;
	}

	public static void main(String[] args) {
		int n = 1000;
		long[] cents = new long[n];
		int[] quantities = new int[n];
		for (int i = 0; i < n; i++) {
			cents[i] = i * 37 % 9999;
			quantities[i] = 1 + i % 9;
		}
		long sum = 0;
		for (int round = 0; round < 30000; round++)
			sum += total(cents, quantities, 19);
		System.out.println(sum);
	}
}
