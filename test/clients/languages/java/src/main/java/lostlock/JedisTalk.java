package lostlock;

import static lostlock.Talk.tell;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.params.GetExParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.SortingParams;
import redis.clients.jedis.params.XReadGroupParams;

/** Jedis in both protocols: the plain lock, transactions, pipelines, messages and the kinds of data. */
final class JedisTalk {
  private static final String RELEASE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
  private static final int THREADS = 6;
  private static final int TURNS = 25;

  private JedisTalk() {}

  static void run(int port) throws Exception {
    for (RedisProtocol protocol : List.of(RedisProtocol.RESP2, RedisProtocol.RESP3)) {
      var config = DefaultJedisClientConfig.builder().protocol(protocol).clientName("talk").build();
      try (var jedis = new JedisPooled(new HostAndPort("127.0.0.1", port), config)) {
        jedis.flushAll();
        lock(jedis);
        requests(jedis, protocol.name());
        data(jedis);
        messages(jedis);
        contend(jedis);
      }
    }
  }

  private static void lock(JedisPooled jedis) {
    var once = SetParams.setParams().nx().px(60_000);
    tell("lock", () -> jedis.set("lock", "token", once));
    tell("lock held", () -> jedis.set("lock", "other", once));
    tell("release of another", () -> jedis.eval(RELEASE, List.of("lock"), List.of("other")));
    tell("release", () -> jedis.eval(RELEASE, List.of("lock"), List.of("token")));
  }

  private static void requests(JedisPooled jedis, String library) {
    tell("evalsha", () -> jedis.evalsha(jedis.scriptLoad("return {1, 'a', redis.call('ping'), 1.5, false}")));
    tell("no script", () -> jedis.evalsha("f".repeat(40)));
    tell("exec", () -> {
      try (var transaction = jedis.multi()) {
        transaction.set("number", "1");
        transaction.incr("number");
        transaction.lpush("number", "x");
        return transaction.exec();
      }
    });
    tell("pipeline", () -> {
      try (var pipeline = jedis.pipelined()) {
        for (int i = 0; i < 100; i++) pipeline.incr("counted");
        return pipeline.syncAndReturnAll().size();
      }
    });
    String code = "#!lua name=" + library + "\nredis.register_function('" + library + "', function(k, a) return a[1] end)";
    tell("load", () -> jedis.functionLoad(code));
    tell("fcall", () -> jedis.fcall(library, List.of(), List.of("argument")));
  }

  private static void data(JedisPooled jedis) {
    tell("wrong type", () -> jedis.lpush("list", "x") + jedis.get("list"));
    tell("hash", () -> jedis.hset("h", Map.of("f", "1")) + " " + jedis.hgetAll("h"));
    tell("zset", () -> jedis.zadd("z", 1.5, "m") + " " + jedis.zincrby("z", 1, "m") + jedis.zrangeWithScores("z", 0, -1));
    tell("stream", () -> jedis.xadd("x", new StreamEntryID(1, 1), Map.of("a", "b")) + " " + jedis.xrange("x", "-", "+"));
    tell("group", () -> jedis.xgroupCreate("x", "g", new StreamEntryID(0, 0), false)
        + " " + jedis.xreadGroup("g", "c", XReadGroupParams.xReadGroupParams().count(1),
            Map.of("x", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY))
        + jedis.xpending("x", "g").getTotal() + jedis.xinfoStream("x").getStreamInfo().get("length"));
    tell("geo", () -> jedis.geoadd("geo", 1, 2, "p") + " " + jedis.geopos("geo", "p"));
    tell("bits", () -> jedis.bitfield("bits", "SET", "u8", "0", "255", "GET", "u8", "0"));
    tell("blocked", () -> jedis.blpop(0.05, "nothing"));
    tell("string", () -> jedis.getEx("number", GetExParams.getExParams().ex(60)) + " " + jedis.getDel("number"));
    tell("sort", () -> jedis.sort("list", new SortingParams().alpha()));
    tell("object", () -> jedis.objectEncoding("h") + " " + jedis.memoryUsage("h"));
  }

  private static void messages(JedisPooled jedis) throws InterruptedException {
    var subscribed = new CountDownLatch(1);
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    var listener = new JedisPubSub() {
      @Override
      public void onSubscribe(String channel, int count) {
        subscribed.countDown();
      }

      @Override
      public void onMessage(String channel, String message) {
        heard.add(channel + " " + message);
        unsubscribe();
      }
    };
    var thread = new Thread(() -> jedis.subscribe(listener, "news"));
    thread.start();
    subscribed.await();
    tell("publish", () -> jedis.publish("news", "hello"));
    tell("message", () -> heard.poll(10, TimeUnit.SECONDS));
    thread.join();
  }

  /** Threads on one lock: how many had it, and how often two had it at once. */
  private static void contend(JedisPooled jedis) throws InterruptedException {
    var inside = new AtomicInteger();
    var overlaps = new AtomicInteger();
    var turns = new AtomicInteger();
    var threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] = new Thread(() -> {
        for (int turn = 0; turn < TURNS; turn++) {
          String token = UUID.randomUUID().toString();
          while (jedis.set("contended", token, SetParams.setParams().nx().px(60_000)) == null) Thread.onSpinWait();
          if (inside.incrementAndGet() > 1) overlaps.incrementAndGet();
          turns.incrementAndGet();
          inside.decrementAndGet();
          jedis.eval(RELEASE, List.of("contended"), List.of(token));
        }
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    tell("contended", () -> turns + " " + overlaps);
  }
}
