// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

public class Main {
	public static class Order {
		private final int id;
		private final String customer;
		private final long amount;

		public Order(int id, String customer, long amount) {
			this.id = id;
			this.customer = customer;
			this.amount = amount;
		}

		public int getId() {
			return id;
		}

		public String getCustomer() {
			return customer;
		}

		public long getAmount() {
			return amount;
		}
	}

	static final Map<String, Function<Object, Object>> GETTERS = Map.of("Id", o -> ((Order) o).getId(),
		"Customer", o -> ((Order) o).getCustomer(), "Amount", o -> ((Order) o).getAmount());

	static Object property(Object bean, String name) throws Exception {
		return GETTERS.get(name).apply(bean);
	}

	static long render(List<Order> orders) throws Exception {
		long sum = 0;
		for (Order o : orders) {
			sum += (Integer) property(o, "Id");
			sum += ((String) property(o, "Customer")).length();
			sum += (Long) property(o, "Amount");
		}
		return sum;
	}

	public static void main(String[] args) throws Exception {
		List<Order> orders = new ArrayList<>();
		for (int i = 0; i < 1000; i++)
			orders.add(new Order(i, "customer" + i, i * 100L));
		long sum = 0;
		for (int round = 0; round < 5000; round++)
			sum += render(orders);
		System.out.println(sum);
	}
}
