package lostlock;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

/** Redisson in Sentinel mode: it holds a lock while the primary is replaced, and releases it on the new one. */
final class Behind {
  private Behind() {}

  /** @param ports those of the Sentinels, separated by commas */
  static boolean run(String ports) throws Exception {
    Config config = new Config();
    var servers = config.useSentinelServers().setMasterName("mymaster").setScanInterval(500);
    // A replica may not have the release yet.
    servers.setReadMode(ReadMode.MASTER);
    servers.setMasterConnectionMinimumIdleSize(2).setSlaveConnectionMinimumIdleSize(1);
    for (String port : ports.split(",")) servers.addSentinelAddress("redis://127.0.0.1:" + port);
    RedissonClient redisson = Redisson.create(config);
    try {
      RLock lock = redisson.getLock("behind");
      // A lease that outlasts the failover on any machine: with the default of 30 seconds, the watchdog would have to renew in time.
      lock.lock(10, TimeUnit.MINUTES);
      System.out.println("held");
      var commands = new BufferedReader(new InputStreamReader(System.in));
      commands.readLine();
      // Written again and again, as the old primary may still take a write, and lose it.
      while (!commands.ready()) {
        try {
          redisson.getBucket("after").set("failover");
        } catch (Exception error) {
          // Redisson has not followed yet.
        }
        Thread.sleep(100);
      }
      System.out.println("still held: " + lock.isHeldByCurrentThread());
      lock.unlock();
      System.out.println("released: " + !lock.isLocked());
      return true;
    } finally {
      redisson.shutdown();
    }
  }
}
