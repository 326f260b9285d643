// SPDX-License-Identifier: MIT
class Main {
	interface Shape {
		int area(int scale);
	}

	// forty {
	static final class ShapeNN implements Shape {
		final int size;
		ShapeNN(int size) { this.size = size; }
		public int area(int scale) { return size * scale + NN; }
	}
	// }

	static Shape make(int kind, int size) {
		switch (kind) {
		// forty {
		case NN: return new ShapeNN(size);
		// }
		default: throw new IllegalArgumentException();
		}
	}

	public static void main(String[] arguments) {
		Shape[] shapes = new Shape[20000];
		int[] kinds = new int[shapes.length];
		int state = 12345;
		for (int i = 0; i < shapes.length; i++) {
			state = state * 1103515245 + 12345;
			kinds[i] = 10 + (state >>> 16) % 40;
		}
		for (int i = 0; i < shapes.length; i++)
			shapes[i] = make(kinds[i], i & 255);
		long sum = 0;
		for (int round = 0; round < 3000; round++)
			for (Shape shape : shapes)
				sum += shape.area(round);
		System.out.println(sum);
	}
}
