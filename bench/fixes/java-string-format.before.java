// SPDX-License-Identifier: MIT
// After apache/druid pull request #10997.
public class Main {
	static String key(int table, int shard, String name) {
		return String.format("%s_%d_%02d", name, table, shard);
	}

	public static void main(String[] args) {
		String[] names = {"orders", "customers", "invoices", "events"};
		long sum = 0;
		for (int i = 0; i < 1200000; i++) {
			String k = key(i & 1023, i & 63, names[i & 3]);
			sum = sum * 31 + k.hashCode();
		}
		System.out.println(sum);
	}
}
