// SPDX-License-Identifier: MIT
// After Reference-LAPACK/lapack issue #1021; risc0/risc0 pull request #3255.
class Main {
	static void columnMeans(double[][] m, double[] out) {
		for (int j = 0; j < out.length; j++) {
			double sum = 0;
			for (int i = 0; i < m.length; i++)
				sum += m[i][j];
			out[j] = sum / m.length;
		}
	}

	static void centre(double[][] m, double[] means) {
		for (int j = 0; j < means.length; j++)
			for (int i = 0; i < m.length; i++)
				m[i][j] -= means[j];
	}

	static double spread(double[][] m) {
		double total = 0;
		for (double[] row : m) {
			double a = 1;
			for (double x : row) {
				double y = x * x * 0.5 + 1;
				a = a * 0.75 + Math.sqrt(y) / (1 + Math.abs(x));
			}
			total += a;
		}
		return total;
	}

	public static void main(String[] arguments) {
		int rows = 1600, columns = 1500;
		double[][] m = new double[rows][columns];
		for (int i = 0; i < rows; i++)
			for (int j = 0; j < columns; j++)
				m[i][j] = (i * 31 + j * 17) % 1000 * 0.01;
		double[] means = new double[columns];
		double sum = 0;
		for (int round = 0; round < 60; round++) {
			columnMeans(m, means);
			centre(m, means);
			for (int k = 0; k < 1; k++)
				sum += spread(m);
		}
		System.out.println(sum);
	}
}
