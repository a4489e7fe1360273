package lostlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What tests do over the wire: rules, time and data at any server; visits and a new start at a pair. */
@Lostlock
class WireTest {
  @Test
  void aRuleBreaksTheConnectionAfterTheFirstSet(LostlockServer server) {
    long rule = server.intercept("COMMAND", "set", "KEY", "my:*", "NTH", "1", "DISCONNECT-AFTER");
    try (RespConnection redis = server.connect()) {
      assertThrows(RuntimeException.class, () -> redis.command("SET", "my:lock", "A"));
    }
    try (RespConnection redis = server.connect()) {
      assertEquals("A", redis.command("GET", "my:lock"));
    }
    assertEquals(1L, server.rules().get(0).get("hits"));
    server.removeRule(rule);
    assertEquals(List.of(), server.rules());
  }

  @Test
  void timePassesAtOnce(LostlockServer server) {
    server.seed("{\"stock\": \"5\"}");
    try (RespConnection redis = server.connect()) {
      redis.command("SET", "stock", "6", "PX", "30000");
      server.advance(Duration.ofSeconds(30));
      assertEquals("[]", server.dump());
    }
  }

  @Test
  @Lostlock(flags = {"--requirepass", "secret"})
  void aPairKnowsWhoIsInsideAndBeginsAnew(LostlockPair pair) {
    pair.enter("A", "my:lock");
    pair.enter("B", "my:lock");
    pair.note("B", "came too early");
    assertEquals(List.of("A", "B"), pair.overlaps().get(0).get("clients"));
    assertEquals(1L, pair.overlaps().get(0).get("inside"));
    pair.leave("A", "my:lock");
    assertEquals("B", pair.holders("my:lock").get(0).get("client"));
    assertTrue(pair.actor("A").startsWith("redis://:secret@"));
    pair.startAnew();
    assertEquals(List.of(), pair.overlaps());
  }
}
