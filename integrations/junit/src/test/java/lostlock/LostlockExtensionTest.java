package lostlock;

import static java.util.stream.Collectors.toList;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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
  @Lostlock(flags = {"--replicas", "2"})
  void aHoldStopsEveryReplicaAndAFailoverReturnsItsOwnLossesOnly(LostlockPair pair) {
    for (String holder : List.of("A", "B")) {
      pair.hold();
      try (RespConnection redis = pair.connect()) {
        assertEquals("OK", redis.command("SET", "lock:" + holder, holder));
      }
      List<Map<String, Object>> lost = pair.failover();
      assertEquals(List.of(holder), lost.stream().map(write -> write.get("holder")).collect(toList()));
      pair.release();
      for (Object node : (List<?>) pair.lab("NODES")) {
        List<?> fields = (List<?>) node;
        if (fields.contains("down")) pair.lab("RESTART", (String) fields.get(1));
      }
    }
    assertEquals(2, ((List<?>) pair.lab("LOST")).size());
  }

  @Test
  void severalThreadsMayUseThePairsLab(LostlockPair pair) {
    List<String> names = IntStream.range(0, 200).mapToObj(i -> "client-" + i % 8).collect(toList());
    List<String> wrong =
        names.parallelStream()
            .filter(name -> !((String) pair.lab("ACTOR", name)).startsWith("redis://"))
            .collect(toList());
    List<Object> offsets =
        IntStream.range(0, 200).parallel().mapToObj(i -> pair.lab("CLOCK", "redis-1")).collect(toList());
    assertEquals(List.of(), wrong);
    for (Object offset : offsets) assertTrue(offset instanceof Long, () -> "a reply of another command: " + offset);
  }

  @Test
  void aCommandMayHaveBlanksAndQuotes() throws IOException {
    assertEquals(List.of("npx", "--no", "--", "lostlock"), LostlockServer.words("npx --no -- lostlock"));
    assertEquals(List.of("a b/lostlock", "--strict", "yes no"), LostlockServer.words("'a b/lostlock' --strict \"yes no\""));
    Path file = Files.createFile(Files.createTempDirectory("a folder with blanks").resolve("lost lock"));
    assertEquals(List.of(file.toString()), LostlockServer.words(file.toString()));
    System.setProperty("lostlock.command", "'a b' c");
    try {
      assertEquals(List.of("a b", "c"), LostlockServer.command());
    } finally {
      System.clearProperty("lostlock.command");
    }
  }

  @Test
  @Lostlock(command = {"sh", "-c", "echo '* Ready to accept connections tcp 1'; cat"})
  void theAnnotationNamesTheCommand(LostlockServer server) {
    assertEquals(1, server.port());
  }

  @Test
  void aWrongFlagIsAnErrorWithItsReason() {
    IllegalStateException failure =
        assertThrows(IllegalStateException.class, () -> LostlockServer.start(List.of("--nonsense", "1")));
    assertTrue(failure.getMessage().contains("--nonsense is not a parameter"), failure.getMessage());
  }
}
