// SPDX-License-Identifier: MIT
// After atilika/kuromoji pull request #3; oshi/oshi pull request #3617.
class Main {
	// forty {
	static int fieldNN(String line) {
		String[] fields = line.split("[,;]");
		return fields[NN % 4].length() + NN;
	}
	// }

	public static void main(String[] arguments) {
		String[] lines = new String[64];
		for (int i = 0; i < lines.length; i++)
			lines[i] = "name" + i + ",12;value" + i * 7 + ",the rest of the line";
		long sum = 0;
		for (int round = 0; round < 40000; round++) {
			String line = lines[round & 63];
			// forty {
			sum += fieldNN(line);
			// }
		}
		System.out.println(sum);
	}
}
