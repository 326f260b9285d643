// SPDX-License-Identifier: MIT
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

public class Main {
	static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

	static String stamp(long millis) {
		return FORMAT.format(Instant.ofEpochMilli(millis));
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = 0; i < 700000; i++)
			sum = sum * 31 + stamp(1700000000000L + i * 37L).charAt(18);
		System.out.println(sum);
	}
}
