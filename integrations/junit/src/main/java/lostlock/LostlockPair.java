package lostlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A primary with replicas. Its address leads to the primary, also after a failover. */
public final class LostlockPair extends LostlockServer {
  /** The streams that {@link #hold} has stopped: from and to. */
  private final List<String[]> held = new ArrayList<>();

  private LostlockPair(Launched launched) {
    super(launched);
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
    return records(fields(lab("FAILOVER", "CRASH")).get("lost"));
  }

  /** A URL for one client, whose links, requests and lost writes have its name. */
  public String actor(String name) {
    return (String) lab("ACTOR", name);
  }

  /** The clients that hold a lock now, or believe so, or are inside, each with client, believes, granted, inside and so on. */
  public List<Map<String, Object>> holders(String key) {
    return records(lab("HOLDERS", key));
  }

  /**
   * The times in which two clients believed that they held one lock, or were inside one resource, each with lock, clients, from, to
   * and inside. Empty when no lock was lost.
   */
  public List<Map<String, Object>> overlaps() {
    return records(lab("OVERLAPS"));
  }

  /** Says that a client is inside a resource from now on. */
  public void enter(String client, String resource) {
    lab("ENTER", client, resource);
  }

  /** Says that a client has left a resource. */
  public void leave(String client, String resource) {
    lab("LEAVE", client, resource);
  }

  /** Adds a sentence about a client to the story. */
  public void note(String client, String sentence) {
    lab("NOTE", client, sentence);
  }

  /** Starts the nodes anew, as at the beginning and at the same address, for the next test. */
  public void startAnew() {
    lab("NEW");
    held.clear();
  }
}
