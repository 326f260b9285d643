// SPDX-License-Identifier: MIT
// After apache/james-mime4j pull request #61.
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.TimeZone;

public class Main {
	static String stamp(long millis) {
		SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS");
		format.setTimeZone(TimeZone.getTimeZone("UTC"));
		return format.format(new Date(millis));
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = 0; i < 700000; i++)
			sum = sum * 31 + stamp(1700000000000L + i * 37L).charAt(18);
		System.out.println(sum);
	}
}
