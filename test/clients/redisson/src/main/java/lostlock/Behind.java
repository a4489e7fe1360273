package lostlock;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson in Sentinel mode: it holds a lock while the primary is replaced, and releases it on the new one. */
final class Behind {
  private Behind() {}

  /** @param ports those of the Sentinels, separated by commas */
  static boolean run(String ports) throws Exception {
    Config config = new Config();
    var servers = config.useSentinelServers().setMasterName("mymaster").setScanInterval(500);
    servers.setMasterConnectionMinimumIdleSize(2).setSlaveConnectionMinimumIdleSize(1);
    for (String port : ports.split(",")) servers.addSentinelAddress("redis://127.0.0.1:" + port);
    RedissonClient redisson = Redisson.create(config);
    try {
      RLock lock = redisson.getLock("behind");
      lock.lock();
      System.out.println("held");
      System.in.read();
      for (int i = 0; i < 300; i++) {
        try {
          redisson.getBucket("after").set("failover");
          // Redisson reads from a replica, which may not have the write yet.
          if ("failover".equals(redisson.getBucket("after").get())) break;
        } catch (Exception error) {
          // Redisson has not followed yet.
        }
        Thread.sleep(200);
      }
      System.out.println("still held: " + lock.isHeldByCurrentThread() + ", after: " + redisson.getBucket("after").get());
      lock.unlock();
      System.out.println("released: " + !lock.isLocked());
      return true;
    } finally {
      redisson.shutdown();
    }
  }
}
