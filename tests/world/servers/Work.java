// SPDX-License-Identifier: MIT
// Work SECONDS: four threads compute known results, over and over: with exceptions of all kinds (the program's own, and
// those for null pointers, divisions and full stacks, which a JVM learns from signals), garbage, deflated bytes,
// monitors, and code that is compiled while it runs. Prints how often; exits with 1 if any result was wrong.
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import java.util.zip.*;

public class Work {
	static final AtomicLong rounds = new AtomicLong(), wrong = new AtomicLong();
	static final ConcurrentHashMap<String, Long> first = new ConcurrentHashMap<>();
	static int[] nothing;

	static long collect() {
		Map<String, List<Integer>> map = new TreeMap<>();
		for (int i = 0; i < 4000; i++)
			map.computeIfAbsent("key" + i * 7919 % 199, k -> new ArrayList<>()).add(i);
		return map.values().stream().mapToLong(l -> l.stream().mapToInt(Integer::intValue).sum() % 1009L).sum();
	}

	static int deep(int n) {
		return n == 0 ? Integer.parseInt("none") : 1 + deep(n - 1);
	}

	static int endless(int n) {
		return 1 + endless(n + 1);
	}

	static long exceptions() {
		long caught = 0;
		for (int i = 0; i < 200; i++) {
			try {
				switch (i % 5) {
				case 0: deep(i); break;
				case 1: caught += nothing[i]; break;
				case 2: caught += i / (i - i); break;
				case 3: caught += new int[i][3].length; throw new IllegalStateException("" + i);
				default: Object o = "text"; caught += ((Integer) o);
				}
			} catch (NumberFormatException | NullPointerException | ArithmeticException | ClassCastException e) {
				caught += 3;
			} catch (IllegalStateException e) {
				caught += e.getMessage().length();
			} finally {
				caught++;
			}
		}
		try {
			endless(0);
		} catch (StackOverflowError e) {
			caught += 5;
		}
		return caught;
	}

	static long garbage() {
		long sum = 0;
		Object[] kept = new Object[64];
		for (int i = 0; i < 20000; i++) {
			byte[] block = new byte[i % 2048];
			if (block.length > 0)
				block[block.length - 1] = (byte) i;
			kept[i % kept.length] = block;
		}
		for (Object o : kept)
			sum += ((byte[]) o).length;
		return sum;
	}

	static long deflated() throws DataFormatException {
		byte[] from = new byte[30000], to = new byte[40000], back = new byte[30000];
		for (int i = 0; i < from.length; i++)
			from[i] = (byte) (i * i % 251);
		Deflater d = new Deflater();
		d.setInput(from);
		d.finish();
		int n = d.deflate(to);
		d.end();
		Inflater in = new Inflater();
		in.setInput(to, 0, n);
		in.inflate(back);
		in.end();
		CRC32 sum = new CRC32();
		sum.update(back);
		return Arrays.equals(from, back) ? sum.getValue() : -1;
	}

	static long together() throws Exception {
		long parallel = IntStream.range(0, 20000).parallel().mapToLong(i -> (long) i * i % 997).sum();
		SynchronousQueue<Long> queue = new SynchronousQueue<>();
		Thread giver = new Thread(() -> {
			try {
				for (long i = 0; i < 20; i++)
					queue.put(i);
			} catch (InterruptedException e) {
				wrong.incrementAndGet();
			}
		});
		giver.start();
		for (int i = 0; i < 20; i++)
			parallel += queue.take();
		giver.join();
		return parallel;
	}

	static void check(String what, Callable<Long> work) {
		Object result;
		try {
			Long now = work.call(), was = first.putIfAbsent(what, now);
			if (was == null || was.equals(now))
				return;
			result = now + ", not " + was;
		} catch (Throwable e) {
			result = e;
		}
		System.out.println("wrong: " + what + ": " + result);
		wrong.incrementAndGet();
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;
		Thread[] threads = new Thread[4];
		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				while (System.nanoTime() < end) {
					check("collect", Work::collect);
					check("exceptions", Work::exceptions);
					check("garbage", Work::garbage);
					check("deflated", Work::deflated);
					check("together", Work::together);
					if (rounds.incrementAndGet() % 64 == 0)
						System.gc();
				}
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(rounds + " rounds, " + wrong + " wrong");
		System.exit(wrong.get() == 0 ? 0 : 1);
	}
}
