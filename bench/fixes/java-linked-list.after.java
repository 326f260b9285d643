// SPDX-License-Identifier: MIT
// After t-oster/LibLaserCut pull request #82; java-diff-utils/java-diff-utils issue #12.
import java.util.ArrayList;
import java.util.List;

class Main {
	// forty {
	static long totalNN(List<Integer> v) {
		long sum = NN;
		for (int i = 0; i < v.size(); i++)
			sum = sum * 3 ^ v.get(i);
		return sum;
	}
	// }

	public static void main(String[] arguments) {
		List<Integer> v = new ArrayList<>();
		for (int i = 0; i < 1000; i++)
			v.add(i * 1000);
		long sum = 0;
		for (int round = 0; round < 60; round++) {
			// forty {
			sum += totalNN(v);
			// }
		}
		System.out.println(sum);
	}
}
