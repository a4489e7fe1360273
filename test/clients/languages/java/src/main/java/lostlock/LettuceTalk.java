package lostlock;

import static lostlock.Talk.tell;

import io.lettuce.core.GeoArgs;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Lettuce, which speaks RESP3 of its own accord: locks, transactions, messages, unflushed pipelines and the kinds of data. */
final class LettuceTalk {
  private LettuceTalk() {}

  static void run(int port) throws Exception {
    var client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    try (var connection = client.connect()) {
      var redis = connection.sync();
      redis.flushall();
      data(redis);
      transactions(client, redis);
      messages(client, redis);
      pipeline(connection);
      tell("tracking", () -> redis.clientTracking(TrackingArgs.Builder.enabled()));
    } finally {
      client.shutdown();
    }
  }

  private static void data(RedisCommands<String, String> redis) {
    tell("lock", () -> redis.set("lock", "token", SetArgs.Builder.nx().px(60_000)));
    tell("lock held", () -> redis.set("lock", "other", SetArgs.Builder.nx()));
    tell("script", () -> redis.eval("return {KEYS[1], ARGV[1], 1}", ScriptOutputType.MULTI, new String[] {"key"}, "x"));
    tell("hash", () -> redis.hset("h", Map.of("a", "b")) + " " + redis.hgetall("h"));
    tell("zset", () -> redis.zadd("z", 1.5, "m") + " " + redis.zrangeWithScores("z", 0, -1));
    tell("stream", () -> redis.xadd("x", XAddArgs.Builder.maxlen(3).id("1-1"), "a", "b"));
    tell("geo", () -> redis.georadius("geo", 1, 2, 3, GeoArgs.Unit.km));
    tell("bits", () -> redis.setbit("bits", 7, 1) + " " + redis.bitcount("bits"));
    tell("blocked", () -> redis.blpop(0.05, "nothing"));
    tell("wrong type", () -> redis.lpush("lock", "x"));
    tell("role", () -> redis.role().get(0));
    tell("wait", () -> redis.waitForReplication(0, 10));
    tell("who", () -> redis.aclWhoami() + " " + redis.clientGetname() + " " + redis.time().size());
  }

  private static void transactions(RedisClient client, RedisCommands<String, String> redis) {
    redis.multi();
    redis.set("number", "1");
    redis.incr("number");
    tell("exec", () -> redis.exec().get(1));
    redis.watch("number");
    redis.multi();
    redis.incr("number");
    try (var other = client.connect()) {
      other.sync().set("number", "9");
    }
    tell("exec of what changed", () -> redis.exec().wasDiscarded());
  }

  private static void messages(RedisClient client, RedisCommands<String, String> redis) {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    try (var subscriber = client.connectPubSub()) {
      subscriber.addListener(new RedisPubSubAdapter<String, String>() {
        @Override
        public void message(String channel, String message) {
          heard.add(channel + " " + message);
        }
      });
      subscriber.sync().subscribe("news");
      tell("publish", () -> redis.publish("news", "hello"));
      tell("message", () -> heard.poll(10, TimeUnit.SECONDS));
    }
  }

  private static void pipeline(StatefulRedisConnection<String, String> connection) {
    connection.setAutoFlushCommands(false);
    var sent = new RedisFuture<?>[500];
    for (int i = 0; i < sent.length; i++) sent[i] = connection.async().incr("counted");
    connection.flushCommands();
    tell("pipeline", () -> LettuceFutures.awaitAll(30, TimeUnit.SECONDS, sent));
    connection.setAutoFlushCommands(true);
    tell("counted", () -> connection.sync().get("counted"));
  }
}
