package lostlock;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

/** Redisson on a cluster: it holds a lock while the primary of the lock's slot dies, and releases it on the promoted replica. */
final class OnCluster {
  private OnCluster() {}

  private static RedissonClient connect(String ports) {
    Config config = new Config();
    var servers = config.useClusterServers();
    // A replica may not have the release yet.
    servers.setReadMode(ReadMode.MASTER);
    servers.setMasterConnectionMinimumIdleSize(2).setSlaveConnectionMinimumIdleSize(1);
    for (String port : ports.split(",")) servers.addNodeAddress("redis://127.0.0.1:" + port);
    return Redisson.create(config);
  }

  /** Whether this thread still holds the lock, asked until Redisson has followed: at most two minutes. */
  private static boolean isStillHeld(RLock lock) throws InterruptedException {
    for (int i = 0; i < 1200; i++) {
      try {
        return lock.isHeldByCurrentThread();
      } catch (Exception error) {
        Thread.sleep(100);
      }
    }
    throw new IllegalStateException("Redisson has not followed the promotion");
  }

  /** @param ports those of the nodes, separated by commas */
  static boolean run(String ports) throws Exception {
    RedissonClient redisson = connect(ports);
    try {
      RLock lock = redisson.getLock("redisson");
      // A lease that outlasts the failover on any machine: with the default of 30 seconds, the watchdog would have to renew in time.
      lock.lock(10, TimeUnit.MINUTES);
      System.out.println("held redisson");
      new BufferedReader(new InputStreamReader(System.in)).readLine();
      System.out.println("still held: " + isStillHeld(lock));
      RedissonClient second = connect(ports);
      try {
        System.out.println("refused: " + !second.getLock("redisson").tryLock());
        lock.unlock();
        System.out.println("released: " + second.getLock("redisson").tryLock());
      } finally {
        second.shutdown();
      }
      return true;
    } finally {
      redisson.shutdown();
    }
  }
}
