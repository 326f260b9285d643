// SPDX-License-Identifier: MIT
class Main {
	// forty {
	static int escapeNN(String s) {
		StringBuilder out = kept;
		out.setLength(0);
		for (int i = 0; i < s.length(); i++) {
			char c = s.charAt(i);
			out.append(c == '<' ? '[' : c);
		}
		return out.length() + out.charAt(NN);
	}
	// }

	static final StringBuilder kept = new StringBuilder();

	public static void main(String[] arguments) {
		String s = "a line with <some> text in it. ".repeat(10);
		long sum = 0;
		for (int round = 0; round < 8000; round++) {
			// forty {
			sum += escapeNN(s);
			// }
		}
		System.out.println(sum);
	}
}
