package lostlock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A primary with replicas. Its address leads to the primary, also after a failover. */
public final class LostlockPair extends LostlockServer {
  private final RespConnection lab;
  /** The streams that {@link #hold} has stopped: from and to. */
  private final List<String[]> held = new ArrayList<>();

  private LostlockPair(Launched launched) {
    super(launched);
    lab = new RespConnection(host(), labPort());
  }

  /** Starts a primary and a replica with further flags. */
  public static LostlockPair start(List<String> flags) {
    return start(command(), flags);
  }

  /** Starts a primary and a replica by a command, given as words, with further flags. */
  public static LostlockPair start(List<String> command, List<String> flags) {
    List<String> all = new ArrayList<>(List.of("--lab"));
    all.addAll(flags);
    return new LostlockPair(launch(command, all));
  }

  /**
   * Sends a LAB command, such as lab("CRASH", "redis-1"), and returns its reply. Several threads may call this; one command
   * follows the other.
   */
  public Object lab(String... words) {
    List<String> all = new ArrayList<>(List.of("LAB"));
    all.addAll(Arrays.asList(words));
    return lab.command(all.toArray(new String[0]));
  }

  /** Stops replication: no replica receives anything until {@link #release}. */
  public void hold() {
    lab("SYNC");
    held.clear();
    held.addAll(streams());
    for (String[] stream : held) lab("HOLD", stream[0], stream[1]);
  }

  /** Delivers what was held. */
  public void release() {
    for (String[] stream : held) lab("RELEASE", stream[0], stream[1]);
    held.clear();
  }

  /** The primary's name with each replica's. */
  private List<String[]> streams() {
    String primary = null;
    List<String> replicas = new ArrayList<>();
    for (Object node : (List<?>) lab("NODES")) {
      Map<String, Object> fields = fields(node);
      if (fields.get("role").equals("primary")) primary = (String) fields.get("name");
      else replicas.add((String) fields.get("name"));
    }
    List<String[]> streams = new ArrayList<>();
    for (String replica : replicas) streams.add(new String[] {primary, replica});
    return streams;
  }

  /**
   * Crashes the primary and promotes a replica. Returns the acknowledged writes that this failover has lost, each with its key,
   * holder and client. {@code lab("LOST")} lists those of all failovers.
   */
  public List<Map<String, Object>> failover() {
    List<Map<String, Object>> lost = new ArrayList<>();
    for (Object write : (List<?>) fields(lab("FAILOVER", "CRASH")).get("lost")) lost.add(fields(write));
    return lost;
  }

  /** A reply of names and values in turn as a map. */
  private static Map<String, Object> fields(Object reply) {
    List<?> words = (List<?>) reply;
    Map<String, Object> fields = new HashMap<>();
    for (int i = 0; i + 1 < words.size(); i += 2) fields.put((String) words.get(i), words.get(i + 1));
    return fields;
  }

  @Override
  public void close() {
    lab.close();
    super.close();
  }
}
