// SPDX-License-Identifier: MIT
// After CloudburstMC/Nukkit pull request #65; hyphanet/fred pull request #305.
class Main {
	static class Missing extends Exception {
		Missing(String what) {
			super(what);
		}
	}

	static int find(int[] keys, int key) throws Missing {
		for (int i = 0; i < keys.length; i++)
			if (keys[i] == key)
				return i;
		throw new Missing("no key");
	}

	// forty {
	static int orZeroNN(int[] keys, int key) {
		try {
			return find(keys, key + NN);
		} catch (Missing e) {
			return e.getMessage().length();
		}
	}
	// }

	public static void main(String[] arguments) {
		int[] keys = {10, 40, 70, 100};
		long sum = 0;
		for (int round = 0; round < 40000; round++) {
			// forty {
			sum += orZeroNN(keys, round & 63);
			// }
		}
		System.out.println(sum);
	}
}
