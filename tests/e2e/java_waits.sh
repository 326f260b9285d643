#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Waits of Java are at the user's own method and line, of methods that the virtual machine interprets
# and of compiled ones, also without lode's agent. Prints TAP; skips where sampling is not allowed,
# and without a JDK.
#
#   tests/e2e/java_waits.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs javac python3
needs_sampling

cat >Waits.java <<'JAVA'
import java.net.*;
import java.util.concurrent.*;
public class Waits {
	interface Step { void run() throws Exception; }
	static final int MS = 250;
	static void nap() throws Exception {
		Thread.sleep(MS); // line 7
	}
	static void take(BlockingQueue<Integer> queue) throws Exception {
		queue.take(); // line 10
	}
	static void get(Future<?> future) throws Exception {
		future.get(); // line 13
	}
	static void await(CountDownLatch latch) throws Exception {
		latch.await(); // line 16
	}
	static void enter(Object lock) {
		synchronized (lock) { // line 19
			lock.hashCode();
		}
	}
	static void read(Socket socket) throws Exception {
		socket.getInputStream().read(); // line 24
	}
	static Thread later(Step step) {
		Thread thread = new Thread(() -> {
			try { Thread.sleep(MS); step.run(); } catch (Exception e) { throw new RuntimeException(e); }
		});
		thread.start();
		return thread;
	}
	static void all() throws Exception {
		nap();
		BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1);
		later(() -> queue.put(1));
		take(queue);
		CompletableFuture<Integer> future = new CompletableFuture<>();
		later(() -> future.complete(1));
		get(future);
		CountDownLatch latch = new CountDownLatch(1);
		later(latch::countDown);
		await(latch);
		Object lock = new Object();
		CountDownLatch held = new CountDownLatch(1);
		new Thread(() -> {
			synchronized (lock) {
				held.countDown();
				try { Thread.sleep(MS); } catch (InterruptedException e) { }
			}
		}).start();
		held.await();
		enter(lock);
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
		Socket peer = server.accept();
		later(() -> peer.getOutputStream().write(1));
		read(socket);
	}
	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < 3; i++)
			all();
		System.out.println("done");
	}
}
JAVA
javac -g Waits.java || exit 1

# has_lines LINE…: waits at each of them.
has_lines() {
	"$lode" report x.lode --waits --format json 2>>err | python3 -c '
import json, sys
wanted = {int(line) for line in sys.argv[1:]}
waits = json.load(sys.stdin)["waits"]
seen = {one["line"] for one in waits if one["file"] == "Waits.java" and
        one["function"].startswith("Waits.") and one["seconds"] > 0.1}
if wanted - seen:
    print("no waits at", *sorted(wanted - seen))
for one in waits:
    if one["file"] and one["file"] != "Waits.java":
        print("waits at", one["file"])' "$@" 2>&1
}

# run OPTION…
run() {
	"$lode" run -o x.lode -- java "$@" Waits >out 2>err
	status=$?
}

run -Xint
check "methods that are interpreted" "$(status_is 0)" "$(has_lines 7 10 13 16 19 24)"
run -Xcomp -XX:CompileCommand=quiet "-XX:CompileCommand=compileonly,Waits::*"
check "methods that are compiled" "$(status_is 0)" "$(has_lines 7 10 13 16 19 24)"
run -Xcomp -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet \
	"-XX:CompileCommand=compileonly,Waits::*" "-XX:CompileCommand=compileonly,java.util.concurrent.*::*"
check "methods that are compiled with the class library's" "$(status_is 0)" \
	"$(has_lines 7 10 13 16 19 24)"
echo "1..$number"
