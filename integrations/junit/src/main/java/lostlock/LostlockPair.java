package lostlock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A primary with replicas. Its address leads to the primary, also after a failover. */
public final class LostlockPair extends LostlockServer {
  private final RespConnection lab;

  private LostlockPair(Launched launched) {
    super(launched);
    lab = new RespConnection(host(), labPort());
  }

  /** Starts a primary and a replica with further flags. */
  public static LostlockPair start(List<String> flags) {
    List<String> all = new ArrayList<>(List.of("--lab"));
    all.addAll(flags);
    return new LostlockPair(launch(all));
  }

  /** Sends a LAB command, such as lab("CRASH", "redis-1"), and returns its reply. */
  public Object lab(String... words) {
    List<String> all = new ArrayList<>(List.of("LAB"));
    all.addAll(Arrays.asList(words));
    return lab.command(all.toArray(new String[0]));
  }

  /** Stops replication to the first replica: it receives nothing until {@link #release}. */
  public void hold() {
    lab("SYNC");
    lab("HOLD", "redis-1", "redis-2");
  }

  /** Delivers what was held. */
  public void release() {
    lab("RELEASE", "redis-1", "redis-2");
  }

  /**
   * Crashes the primary and promotes a replica. Returns the acknowledged writes that are lost, each with its key, holder and
   * client.
   */
  public List<Map<String, Object>> failover() {
    lab("FAILOVER", "CRASH");
    List<Map<String, Object>> lost = new ArrayList<>();
    for (Object each : (List<?>) lab("LOST")) {
      List<?> words = (List<?>) each;
      Map<String, Object> write = new HashMap<>();
      for (int i = 0; i + 1 < words.size(); i += 2) write.put((String) words.get(i), words.get(i + 1));
      lost.add(write);
    }
    return lost;
  }

  @Override
  public void close() {
    lab.close();
    super.close();
  }
}
