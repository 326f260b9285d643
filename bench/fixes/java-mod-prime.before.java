// SPDX-License-Identifier: MIT
// After dcreager/libcork pull request #13; BitFunnel/BitFunnel issue #45.
class Main {
	static final int SIZE = 16381;
	static final long[] keys = new long[SIZE];
	static final int[] values = new int[SIZE];

	static long mix(long k) {
		k ^= k >>> 32;
		k *= 0x9e3779b97f4a7c15L;
		return k ^ k >>> 29;
	}

	static int slot(long k, long size) {
		long h = mix(k) & Long.MAX_VALUE;
		int i = (int)(h % size);
		int step = 1 + (int)(h % (size - 2));
		while (keys[i] != 0 && keys[i] != k) {
			i -= step;
			if (i < 0)
				i += size;
		}
		return i;
	}

	static void add(long k, int n, long size) {
		int i = slot(k, size);
		keys[i] = k;
		values[i] += n;
	}

	static boolean has(long k, long size) { return keys[slot(k, size)] == k; }

	static int weight(long k) {
		int w = 0;
		for (int i = 0; i < 8; i++) {
			w += (int)(k >>> i * 8 & 0xff) * (i + 3);
			w ^= w >>> 5;
		}
		return w;
	}

	public static void main(String[] arguments) {
		long size = arguments.length > 0 ? Long.parseLong(arguments[0]) : SIZE;
		long x = 1, sum = 0;
		for (int n = 0; n < 90000000; n++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			long k = (x >>> 52) * 1000003 + 1;
			if (has(k, size))
				sum += weight(k);
			else
				add(k, n & 15, size);
		}
		System.out.println(sum);
	}
}
