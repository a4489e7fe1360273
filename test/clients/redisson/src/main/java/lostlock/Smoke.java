package lostlock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Every kind of lock that Redisson has, once through its life; each in a thread of its own against another. */
final class Smoke {
  private final RedissonClient redisson;
  private final String run = java.util.UUID.randomUUID().toString();
  private boolean good = true;

  Smoke(RedissonClient redisson) {
    this.redisson = redisson;
  }

  private interface Case {
    void run() throws Exception;
  }

  boolean run() {
    one("lock", () -> exclusive(redisson.getLock(name("lock"))));
    one("not the owner", this::notTheOwner);
    one("fair", () -> exclusive(redisson.getFairLock(name("fair"))));
    one("spin", () -> exclusive(redisson.getSpinLock(name("spin"))));
    one("fenced", this::fenced);
    one("read-write", this::readWrite);
    one("multi", this::multi);
    one("semaphore", this::semaphore);
    one("permits", this::permits);
    one("latch", this::latch);
    one("watchdog", this::watchdog);
    return good;
  }

  private void one(String name, Case body) {
    try {
      body.run();
      System.out.println("ok " + name);
    } catch (Throwable thrown) {
      good = false;
      System.out.println("FAIL " + name + ": " + thrown);
    }
  }

  private String name(String lock) {
    return "smoke:" + lock + ":" + run;
  }

  private static void check(boolean condition, String what) {
    if (!condition) throw new IllegalStateException(what);
  }

  private static <T> T elsewhere(java.util.concurrent.Callable<T> body) throws Exception {
    CompletableFuture<T> result = new CompletableFuture<>();
    new Thread(() -> {
      try {
        result.complete(body.call());
      } catch (Throwable thrown) {
        result.completeExceptionally(thrown);
      }
    }).start();
    return result.get(30, TimeUnit.SECONDS);
  }

  private void exclusive(RLock lock) throws Exception {
    lock.lock();
    check(lock.isHeldByCurrentThread(), "held");
    check(!elsewhere(() -> lock.tryLock(50, TimeUnit.MILLISECONDS)), "excluded");
    lock.lock();
    check(lock.getHoldCount() == 2, "hold count");
    lock.unlock();
    CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
      try {
        boolean got = lock.tryLock(20, TimeUnit.SECONDS);
        if (got) lock.unlock();
        return got;
      } catch (InterruptedException interrupted) {
        return false;
      }
    });
    Thread.sleep(100);
    lock.unlock();
    check(waiting.get(20, TimeUnit.SECONDS), "woken");
    check(!lock.isLocked(), "free");
    check(lock.tryLock(0, 200, TimeUnit.MILLISECONDS), "leased");
    check(elsewhere(() -> lock.tryLock(5, TimeUnit.SECONDS)), "the lease ended");
    lock.forceUnlock();
  }

  private void notTheOwner() {
    try {
      redisson.getLock(name("nobody")).unlock();
    } catch (IllegalMonitorStateException expected) {
      return;
    }
    throw new IllegalStateException("unlocking what is not held must fail");
  }

  private void fenced() throws Exception {
    RFencedLock lock = redisson.getFencedLock(name("fenced"));
    long first = lock.lockAndGetToken();
    lock.unlock();
    long second = lock.lockAndGetToken();
    check(second > first, "tokens grow");
    lock.unlock();
  }

  private void readWrite() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock(name("rw"));
    lock.readLock().lock();
    check(elsewhere(() -> {
      boolean read = lock.readLock().tryLock(1, TimeUnit.SECONDS);
      if (read) lock.readLock().unlock();
      return read;
    }), "readers share");
    check(!elsewhere(() -> lock.writeLock().tryLock(50, TimeUnit.MILLISECONDS)), "a reader keeps writers out");
    lock.readLock().unlock();
    lock.writeLock().lock();
    lock.readLock().lock();
    check(!elsewhere(() -> lock.readLock().tryLock(50, TimeUnit.MILLISECONDS)), "a writer keeps readers out");
    lock.writeLock().unlock();
    check(lock.readLock().isLocked(), "the writer reads on");
    lock.readLock().unlock();
    check(!lock.readLock().isLocked() && !lock.writeLock().isLocked(), "free");
  }

  private void multi() throws Exception {
    RLock[] locks = {redisson.getLock(name("m1")), redisson.getLock(name("m2")), redisson.getLock(name("m3"))};
    RedissonMultiLock all = new RedissonMultiLock(locks);
    check(all.tryLock(5, 20, TimeUnit.SECONDS), "all");
    for (RLock lock : locks) check(lock.isLocked(), "each");
    all.unlock();
    for (RLock lock : locks) check(!lock.isLocked(), "none");
  }

  private void semaphore() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore(name("semaphore"));
    check(semaphore.trySetPermits(3), "set");
    semaphore.acquire(2);
    check(!semaphore.tryAcquire(2), "too few");
    CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
      try {
        return semaphore.tryAcquire(3, java.time.Duration.ofSeconds(20));
      } catch (InterruptedException interrupted) {
        return false;
      }
    });
    Thread.sleep(100);
    semaphore.release(2);
    check(waiting.get(20, TimeUnit.SECONDS), "woken");
    check(semaphore.availablePermits() == 0, "none left");
  }

  private void permits() throws Exception {
    RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore(name("permits"));
    check(permits.trySetPermits(1), "set");
    String leased = permits.acquire(200, TimeUnit.MILLISECONDS);
    String next = permits.tryAcquire(10, 60, TimeUnit.SECONDS);
    check(next != null && !next.equals(leased), "an expired permit returns");
    check(!permits.tryRelease(leased), "and is not returned again");
    permits.release(next);
    check(permits.availablePermits() == 1, "one left");
  }

  private void latch() throws Exception {
    RCountDownLatch latch = redisson.getCountDownLatch(name("latch"));
    check(latch.trySetCount(2), "set");
    CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
      try {
        return latch.await(20, TimeUnit.SECONDS);
      } catch (InterruptedException interrupted) {
        return false;
      }
    });
    latch.countDown();
    check(latch.getCount() == 1, "one to go");
    latch.countDown();
    check(waiting.get(20, TimeUnit.SECONDS), "opened");
  }

  private void watchdog() throws Exception {
    RLock lock = redisson.getLock(name("watchdog"));
    lock.lock();
    long most = 0;
    long before = lock.remainTimeToLive();
    for (int i = 0; i < 200 && most <= before; i++) {
      Thread.sleep(25);
      long now = lock.remainTimeToLive();
      if (now < before) before = now;
      else most = now;
    }
    check(most > before, "renewed");
    lock.unlock();
  }
}
