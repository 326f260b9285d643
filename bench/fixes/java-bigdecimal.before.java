// SPDX-License-Identifier: MIT
// After LLWenke/InteractiveChart pull request #19.
import java.math.BigDecimal;
import java.math.RoundingMode;

public class Main {
	static BigDecimal total(BigDecimal[] prices, int[] quantities, BigDecimal tax) {
		BigDecimal sum = BigDecimal.ZERO;
		for (int i = 0; i < prices.length; i++) {
			BigDecimal line = prices[i].multiply(BigDecimal.valueOf(quantities[i]));
			sum = sum.add(line.add(line.multiply(tax).setScale(2, RoundingMode.HALF_UP)));
		}
		return sum;
	}

	public static void main(String[] args) {
		int n = 1000;
		BigDecimal[] prices = new BigDecimal[n];
		int[] quantities = new int[n];
		for (int i = 0; i < n; i++) {
			prices[i] = BigDecimal.valueOf(i * 37 % 9999, 2);
			quantities[i] = 1 + i % 9;
		}
		BigDecimal sum = BigDecimal.ZERO;
		for (int round = 0; round < 30000; round++)
			sum = sum.add(total(prices, quantities, new BigDecimal("0.19")));
		System.out.println(sum);
	}
}
