// SPDX-License-Identifier: MIT
// After apache/shardingsphere pull request #11982.
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

public class Main {
	record Span(String id, long start) {}

	static Span open(long now) {
		return new Span(UUID.randomUUID().toString(), now);
	}

	public static void main(String[] args) {
		Map<Integer, Span> live = new HashMap<>();
		long sum = 0;
		for (int i = 0; i < 3000000; i++) {
			Span s = open(i);
			sum += s.id().length();
			live.put(i & 255, s);
		}
		System.out.println(sum);
	}
}
