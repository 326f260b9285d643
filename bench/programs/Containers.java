// SPDX-License-Identifier: MIT
// A tree, a map, sorting and text; usage: java Containers.java ROUNDS.
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public class Containers {
    static long seed = 3;

    static long next() {
        seed ^= seed << 13;
        seed ^= seed >>> 7;
        seed ^= seed << 17;
        return seed >>> 1;
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        long total = 0;
        for (int round = 0; round < rounds; round++) {
            Map<String, Integer> counts = new HashMap<>();
            TreeMap<Long, Integer> tree = new TreeMap<>();
            long[] numbers = new long[20000];
            for (int i = 0; i < numbers.length; i++) {
                long r = next();
                counts.merge("k" + r % 3000, 1, Integer::sum);
                tree.merge(r % 9000, i, Integer::sum);
                numbers[i] = r;
            }
            Arrays.sort(numbers);
            List<String> names = new ArrayList<>(counts.keySet());
            names.sort((a, b) -> counts.get(b) - counts.get(a));
            StringBuilder text = new StringBuilder();
            for (String name : names) text.append(name).append(' ');
            total += numbers[7] % 5 + text.toString().split(" ").length;
            for (Map.Entry<Long, Integer> entry : tree.entrySet()) total += entry.getValue() % 3;
        }
        System.out.println(total);
    }
}
