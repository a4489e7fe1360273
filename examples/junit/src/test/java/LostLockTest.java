import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.params.SetParams;

/** A lock that is lost in a failover, on demand. */
class LostLockTest {
  private static final Pattern READY =
      Pattern.compile("(Lab ready|Ready to accept connections) tcp (\\d+)");
  private static final ProtocolCommand LAB = () -> "LAB".getBytes();
  private final Map<String, Integer> ports = new HashMap<>();
  private Process process;

  /** Starts a primary with a replica. One port leads to the primary, another one answers LAB. */
  @BeforeEach
  void start() throws Exception {
    String command = System.getenv().getOrDefault("LOSTLOCK", "npx --no -- lostlock");
    List<String> words = new ArrayList<>(List.of(command.split(" ")));
    words.addAll(List.of("--lab", "--port", "0", "--exit-with-parent"));
    process = new ProcessBuilder(words).start();
    BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream()));
    while (!ports.containsKey("Ready to accept connections")) {
      Matcher ready = READY.matcher(output.readLine());
      if (ready.find()) ports.put(ready.group(1), Integer.parseInt(ready.group(2)));
    }
  }

  @AfterEach
  void stop() throws Exception {
    process.getOutputStream().close();
    process.waitFor();
  }

  private Jedis client() {
    return new Jedis("127.0.0.1", ports.get("Ready to accept connections"));
  }

  @Test
  void twoClientsHoldOneLock() {
    SetParams unlessHeld = new SetParams().nx().px(30_000);
    try (Jedis lab = new Jedis("127.0.0.1", ports.get("Lab ready"))) {
      lab.sendCommand(LAB, "SYNC");
      lab.sendCommand(LAB, "HOLD", "redis-1", "redis-2"); // The replica receives nothing from now on.
      try (Jedis a = client()) {
        assertEquals("OK", a.set("lock", "A", unlessHeld));
      }
      lab.sendCommand(LAB, "FAILOVER", "CRASH");
      try (Jedis b = client()) {
        assertEquals("OK", b.set("lock", "B", unlessHeld)); // A still believes that it holds the lock.
      }
      assertEquals(1, ((List<?>) lab.sendCommand(LAB, "LOST")).size());
    }
  }
}
