// SPDX-License-Identifier: MIT
class Main {
	// forty {
	static int joinNN(String[] words) {
		String line = "";
		for (String word : words)
			line += word + ",";
		return line.length() + NN;
	}
	// }

	public static void main(String[] arguments) {
		String[] words = new String[300];
		for (int i = 0; i < words.length; i++)
			words[i] = "abcdefgh".substring(0, 1 + i % 7);
		long sum = 0;
		for (int round = 0; round < 600; round++) {
			// forty {
			sum += joinNN(words);
			// }
		}
		System.out.println(sum);
	}
}
