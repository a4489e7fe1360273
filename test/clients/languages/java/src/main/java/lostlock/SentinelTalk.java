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

  /** Waits until the request succeeds: a failover takes its time. */
  private static void eventually(Callable<Boolean> request) throws InterruptedException {
    for (int i = 0; i < 600; i++) {
      try {
        if (request.call()) return;
      } catch (Exception error) {
        // It is tried again.
      }
      Thread.sleep(100);
    }
    System.out.println("never");
  }

  private static void failOver(int port) throws InterruptedException {
    try (var sentinel = new Jedis("127.0.0.1", port)) {
      var before = sentinel.sentinelGetMasterAddrByName("mymaster");
      eventually(() -> "OK".equals(sentinel.sentinelFailover("mymaster")));
      eventually(() -> !sentinel.sentinelGetMasterAddrByName("mymaster").equals(before));
    }
  }

  private static void jedis(int[] ports) throws Exception {
    var addresses = Arrays.stream(ports).mapToObj(port -> "127.0.0.1:" + port).collect(Collectors.toSet());
    var once = SetParams.setParams().nx().px(120_000);
    try (var pool = new JedisSentinelPool("mymaster", addresses)) {
      try (var jedis = pool.getResource()) {
        tell("Jedis: lock behind Sentinels", () -> jedis.set("behind-jedis", "token", once));
        tell("Jedis: copies", () -> jedis.waitReplicas(2, 30_000));
      }
      failOver(ports[0]);
      eventually(() -> {
        try (var jedis = pool.getResource()) {
          return "OK".equals(jedis.set("after", "failover"));
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
      var once = SetArgs.Builder.nx().px(120_000);
      tell("Lettuce: lock behind Sentinels", () -> redis.set("behind-lettuce", "token", once));
      tell("Lettuce: copies", () -> redis.waitForReplication(2, 30_000));
      failOver(ports[0]);
      eventually(() -> "OK".equals(redis.set("after", "failover")));
      tell("Lettuce: still held", () -> redis.get("behind-lettuce") + " " + redis.set("behind-lettuce", "x", once));
    } finally {
      client.shutdown();
    }
  }
}
