// SPDX-License-Identifier: MIT
public class Main {
	static String key(int table, int shard, String name) {
		return name + "_" + table + (shard < 10 ? "_0" : "_") + shard;
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
