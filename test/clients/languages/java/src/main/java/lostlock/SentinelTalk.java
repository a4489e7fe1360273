package lostlock;

import static lostlock.Talk.tell;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.params.SetParams;

/** Jedis and Lettuce in Sentinel mode, with a lock in hand while the Sentinels replace the primary. */
final class SentinelTalk {
  private SentinelTalk() {}

  static void run(int[] ports) throws Exception {
    jedis(ports);
    lettuce(ports);
  }

  /** Waits up to two minutes until the request succeeds: a failover takes its time. */
  static void eventually(String what, Callable<Boolean> request) throws InterruptedException {
    for (int i = 0; i < 1200; i++) {
      try {
        if (request.call()) return;
      } catch (Exception error) {
        // It is tried again.
      }
      Thread.sleep(100);
    }
    System.out.println("never: " + what);
  }

  /** The port of the primary, as a Sentinel says. */
  private static String primaryOf(int port) {
    try (var sentinel = new Jedis("127.0.0.1", port)) {
      return sentinel.sentinelGetMasterAddrByName("mymaster").get(1);
    }
  }

  /** Has the primary replaced. Returns what INFO of the new one contains, and INFO of the old one does not. */
  private static String failOver(int[] ports) throws InterruptedException {
    var before = primaryOf(ports[0]);
    try (var sentinel = new Jedis("127.0.0.1", ports[0])) {
      eventually("a failover", () -> {
        // Refused while it goes on, and begun anew if it was given up.
        if (primaryOf(ports[0]).equals(before)) sentinel.sentinelFailover("mymaster");
        // A Sentinel that names the old primary still would send the client back to it.
        var named = Arrays.stream(ports).mapToObj(SentinelTalk::primaryOf).distinct().toList();
        return named.size() == 1 && !named.contains(before);
      });
    }
    return "tcp_port:" + primaryOf(ports[0]) + "\r\n";
  }

  private static void jedis(int[] ports) throws Exception {
    var addresses = Arrays.stream(ports).mapToObj(port -> "127.0.0.1:" + port).collect(Collectors.toSet());
    var once = SetParams.setParams().nx().px(600_000);
    try (var pool = new JedisSentinelPool("mymaster", addresses)) {
      try (var jedis = pool.getResource()) {
        tell("Jedis: lock behind Sentinels", () -> jedis.set("behind-jedis", "token", once));
        tell("Jedis: copies", () -> jedis.waitReplicas(2, 30_000));
      }
      var moved = failOver(ports);
      eventually("Jedis follows", () -> {
        try (var jedis = pool.getResource()) {
          return jedis.info("server").contains(moved);
        }
      });
      try (var jedis = pool.getResource()) {
        tell("Jedis: still held", () -> jedis.get("behind-jedis") + " " + jedis.set("behind-jedis", "x", once));
      }
    }
  }

  private static void lettuce(int[] ports) throws Exception {
    var uri = RedisURI.Builder.sentinel("127.0.0.1", ports[0], "mymaster");
    for (int i = 1; i < ports.length; i++) uri.withSentinel("127.0.0.1", ports[i]);
    var client = RedisClient.create(uri.build());
    try (var connection = client.connect()) {
      var redis = connection.sync();
      var once = SetArgs.Builder.nx().px(600_000);
      tell("Lettuce: lock behind Sentinels", () -> redis.set("behind-lettuce", "token", once));
      tell("Lettuce: copies", () -> redis.waitForReplication(2, 30_000));
      var moved = failOver(ports);
      eventually("Lettuce follows", () -> redis.info("server").contains(moved));
      tell("Lettuce: still held", () -> redis.get("behind-lettuce") + " " + redis.set("behind-lettuce", "x", once));
    } finally {
      client.shutdown();
    }
  }
}
