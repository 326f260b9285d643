// SPDX-License-Identifier: MIT
import java.util.HashMap;

class Main {
	static final int[] counts = new int[1 << 16];

	// forty {
	static void countNN(int[] ids) {
		for (int id : ids)
			counts[id ^ NN]++;
	}
	// }

	public static void main(String[] arguments) {
		int[] ids = new int[2000];
		for (int i = 0; i < ids.length; i++)
			ids[i] = (i * 40503) & 0xffff;
		for (int round = 0; round < 300; round++) {
			// forty {
			countNN(ids);
			// }
		}
		System.out.println(counts[1000]);
	}
}
