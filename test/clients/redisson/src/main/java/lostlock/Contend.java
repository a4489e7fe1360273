package lostlock;

import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * Takes one lock many times. Whoever is inside counts himself in `witness:NAME` (readers in `witness:NAME:readers`): a
 * count that the kind of lock does not allow is an overlap, whichever side caused it.
 */
final class Contend {
  private final RedissonClient redisson;
  private final String kind;
  private final String name;
  private final int count;
  private final int threads;
  private final RAtomicLong inside;
  private final RAtomicLong readers;
  private final AtomicInteger done = new AtomicInteger();
  private final AtomicInteger overlaps = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();

  Contend(RedissonClient redisson, String kind, String name, int count, int threads) {
    this.redisson = redisson;
    this.kind = kind;
    this.name = name;
    this.count = count;
    this.threads = threads;
    this.inside = redisson.getAtomicLong("witness:" + name);
    this.readers = redisson.getAtomicLong("witness:" + name + ":readers");
  }

  boolean run() throws Exception {
    Thread[] workers = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      int worker = i;
      workers[i] = new Thread(() -> work(worker));
      workers[i].start();
    }
    for (Thread worker : workers) worker.join();
    System.out.println("{\"done\":" + done + ",\"overlaps\":" + overlaps + ",\"failures\":" + failures + "}");
    return overlaps.get() == 0 && failures.get() == 0;
  }

  private void work(int worker) {
    for (int i = worker; i < count; i += threads) {
      try {
        turn(i);
        done.incrementAndGet();
      } catch (Throwable thrown) {
        failures.incrementAndGet();
        System.err.println(thrown);
      }
    }
  }

  private void turn(int i) throws Exception {
    switch (kind) {
      case "reentrant" -> locked(redisson.getLock(name), i % 3 == 0);
      case "fair" -> locked(redisson.getFairLock(name), i % 3 == 0);
      case "fenced" -> locked(redisson.getFencedLock(name), false);
      case "read-write" -> readWrite(redisson.getReadWriteLock(name), i % 4 == 0);
      case "semaphore" -> permitted(redisson.getSemaphore(name));
      case "permits" -> leased(redisson.getPermitExpirableSemaphore(name));
      case "latch" -> latched(i);
      default -> throw new IllegalArgumentException(kind);
    }
  }

  private void locked(RLock lock, boolean twice) {
    lock.lock();
    try {
      if (twice) lock.lock();
      enter(1);
      leave();
      if (twice) lock.unlock();
    } finally {
      lock.unlock();
    }
  }

  private void readWrite(RReadWriteLock lock, boolean write) {
    RLock side = write ? lock.writeLock() : lock.readLock();
    side.lock();
    try {
      if (write) {
        enter(1);
        if (readers.get() != 0) overlaps.incrementAndGet();
        leave();
      } else {
        readers.incrementAndGet();
        if (inside.get() != 0) overlaps.incrementAndGet();
        readers.decrementAndGet();
      }
    } finally {
      side.unlock();
    }
  }

  private void permitted(RSemaphore semaphore) throws InterruptedException {
    semaphore.acquire();
    enter(3);
    leave();
    semaphore.release();
  }

  private void leased(RPermitExpirableSemaphore permits) throws InterruptedException {
    String id = permits.acquire(60, java.util.concurrent.TimeUnit.SECONDS);
    enter(3);
    leave();
    permits.release(id);
  }

  /** Rounds of a latch for two: whoever comes first sets it, each side counts down once and waits for the other. */
  private void latched(int round) throws InterruptedException {
    RCountDownLatch latch = redisson.getCountDownLatch(name + ":" + round);
    latch.countDown();
    if (!latch.await(60, java.util.concurrent.TimeUnit.SECONDS)) failures.incrementAndGet();
  }

  private void enter(int most) {
    if (inside.incrementAndGet() > most) overlaps.incrementAndGet();
  }

  private void leave() {
    inside.decrementAndGet();
  }
}
