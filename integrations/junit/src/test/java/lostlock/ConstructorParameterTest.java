package lostlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/** A constructor's parameter is the server of one test, which its methods are given too, and which ends with the test. */
@Lostlock
class ConstructorParameterTest {
  private static final List<LostlockServer> seen = new ArrayList<>();
  private final LostlockServer server;

  ConstructorParameterTest(LostlockServer server) {
    this.server = server;
  }

  @BeforeEach
  void theMethodsHaveTheSameServer(LostlockServer again) {
    assertSame(server, again);
  }

  @RepeatedTest(2)
  void everyTestHasAServerOfItsOwn(LostlockServer again) {
    assertSame(server, again);
    assertFalse(seen.contains(server));
    for (LostlockServer earlier : seen) assertThrows(UncheckedIOException.class, earlier::connect);
    seen.add(server);
    try (RespConnection redis = server.connect()) {
      assertEquals(1L, redis.command("INCR", "tests"));
    }
  }

  @AfterAll
  static void allHaveEnded() {
    assertEquals(2, seen.size());
    for (LostlockServer each : seen) assertThrows(UncheckedIOException.class, each::connect);
  }
}
