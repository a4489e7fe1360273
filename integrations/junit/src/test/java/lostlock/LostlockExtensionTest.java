package lostlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** The extension starts the packaged server, passes flags, loses a lock, and leaves no process behind. */
@Lostlock
class LostlockExtensionTest {
  @RepeatedTest(2)
  void everyTestHasAServerOfItsOwn(LostlockServer server) {
    try (RespConnection redis = server.connect()) {
      assertEquals("OK", redis.command("SET", "my:lock", "A", "PX", "30000", "NX"));
      assertNull(redis.command("SET", "my:lock", "B", "PX", "30000", "NX"));
    }
    assertEquals("redis://127.0.0.1:" + server.port(), server.url());
  }

  @Test
  void aClosedServerIsGone() {
    LostlockServer server = LostlockServer.start(List.of());
    server.close();
    assertThrows(UncheckedIOException.class, server::connect);
  }

  @Test
  @Lostlock(flags = {"--requirepass", "secret"})
  void theAnnotationAddsFlags(LostlockServer server) {
    try (RespConnection redis = server.connect()) {
      RespConnection.ErrorReply refusal =
          assertThrows(RespConnection.ErrorReply.class, () -> redis.command("GET", "k"));
      assertTrue(refusal.getMessage().startsWith("NOAUTH"), refusal.getMessage());
    }
  }

  @Test
  void aLockIsLostInAFailover(LostlockPair pair) {
    pair.hold();
    try (RespConnection a = pair.connect()) {
      assertEquals("OK", a.command("SET", "my:lock", "A", "PX", "30000", "NX"));
    }
    List<Map<String, Object>> lost = pair.failover();
    assertEquals(1, lost.size());
    assertEquals("my:lock", lost.get(0).get("key"));
    assertEquals("A", lost.get(0).get("holder"));
    try (RespConnection b = pair.connect()) {
      assertEquals("OK", b.command("SET", "my:lock", "B", "PX", "30000", "NX"));
    }
  }

  @Test
  void aWrongFlagIsAnErrorWithItsReason() {
    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> LostlockServer.start(List.of("--nonsense", "1")));
    assertTrue(failure.getMessage().contains("--nonsense is not a parameter"), failure.getMessage());
  }
}
