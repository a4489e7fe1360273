package lostlock;

import static lostlock.SentinelTalk.eventually;
import static lostlock.Talk.tell;

import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.params.SetParams;

/** Jedis and Lettuce on a cluster: each holds a lock while the primary of the lock's slot dies, and releases it on its successor. */
final class ClusterTalk {
  private static final String RELEASE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

  private ClusterTalk() {}

  static void run(int[] ports) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in));
    jedis(ports, input);
    lettuce(ports, input);
  }

  private static void jedis(int[] ports, BufferedReader input) throws Exception {
    var nodes = Arrays.stream(ports).mapToObj(port -> new HostAndPort("127.0.0.1", port)).collect(Collectors.toSet());
    var once = SetParams.setParams().nx().px(600_000);
    try (var jedis = new JedisCluster(nodes)) {
      tell("Jedis: acquired", () -> jedis.set("jedis", "token", once));
      System.out.println("held jedis");
      input.readLine();
      eventually("Jedis to follow", () -> jedis.get("jedis") != null);
      tell("Jedis: still held", () -> jedis.get("jedis"));
      try (var second = new JedisCluster(nodes)) {
        tell("Jedis: refused", () -> second.set("jedis", "other", once));
        tell("Jedis: release", () -> jedis.eval(RELEASE, List.of("jedis"), List.of("token")));
        tell("Jedis: taken again", () -> second.set("jedis", "other", once));
      }
    }
  }

  private static RedisClusterClient lettuceClient(int[] ports) {
    var client = RedisClusterClient.create(
        Arrays.stream(ports).mapToObj(port -> RedisURI.create("127.0.0.1", port)).toList());
    // As its manual says for clusters whose nodes change: without it Lettuce never asks again.
    var refresh = ClusterTopologyRefreshOptions.builder().enablePeriodicRefresh().enableAllAdaptiveRefreshTriggers();
    client.setOptions(ClusterClientOptions.builder().topologyRefreshOptions(refresh.build()).build());
    return client;
  }

  private static void lettuce(int[] ports, BufferedReader input) throws Exception {
    var client = lettuceClient(ports);
    var other = lettuceClient(ports);
    var once = SetArgs.Builder.nx().px(600_000);
    try (var connection = client.connect()) {
      var redis = connection.sync();
      tell("Lettuce: acquired", () -> redis.set("lettuce", "token", once));
      System.out.println("held lettuce");
      input.readLine();
      eventually("Lettuce to follow", () -> redis.get("lettuce") != null);
      tell("Lettuce: still held", () -> redis.get("lettuce"));
      try (var second = other.connect()) {
        tell("Lettuce: refused", () -> second.sync().set("lettuce", "other", once));
        tell("Lettuce: release", () -> redis.eval(RELEASE, ScriptOutputType.INTEGER, new String[] {"lettuce"}, "token"));
        tell("Lettuce: taken again", () -> second.sync().set("lettuce", "other", once));
      }
    } finally {
      client.shutdown();
      other.shutdown();
    }
  }
}
