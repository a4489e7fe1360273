package lostlock;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs an unmodified Redisson.
 * smoke URL: every kind of lock by itself.
 * behind PORTS: holds a lock while Sentinels replace the primary.
 * cluster PORTS: holds a lock while a primary of a cluster dies.
 * contend URL KIND NAME COUNT THREADS: takes a lock so often, against whoever else does, and reports overlaps.
 */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("behind")) System.exit(Behind.run(args[1]) ? 0 : 1);
    if (args[0].equals("cluster")) System.exit(OnCluster.run(args[1]) ? 0 : 1);
    Config config = new Config();
    config.useSingleServer().setAddress(args[1]).setConnectionMinimumIdleSize(4).setConnectionPoolSize(16);
    config.setLockWatchdogTimeout(3000);
    RedissonClient redisson = Redisson.create(config);
    boolean good;
    try {
      good = args[0].equals("smoke")
          ? new Smoke(redisson).run()
          : new Contend(redisson, args[2], args[3], Integer.parseInt(args[4]), Integer.parseInt(args[5])).run();
    } finally {
      redisson.shutdown();
    }
    System.exit(good ? 0 : 1);
  }
}
