package lostlock;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A running lostlock. */
public class LostlockServer implements AutoCloseable {
  private static final Pattern WORD = Pattern.compile("(?:\"[^\"]*\"|'[^']*'|[^\\s\"'])+");
  private static final Pattern READY =
      Pattern.compile("(Lab ready|Ready to accept connections) tcp (\\d+)");

  private final Process process;
  private final Map<String, Integer> ports;
  /** The password that the flags give the server; null for none. */
  private final String password;
  /** The connection for LAB; null until a LAB command is sent. */
  private RespConnection lab;

  LostlockServer(Launched launched) {
    this.process = launched.process;
    this.ports = launched.ports;
    this.password = launched.password;
  }

  /** A process that listens. */
  static final class Launched {
    final Process process;
    final Map<String, Integer> ports = new HashMap<>();
    final String password;

    Launched(Process process, String password) {
      this.process = process;
      this.password = password;
    }
  }

  /** Starts a server with further flags. */
  public static LostlockServer start(List<String> flags) {
    return start(command(), flags);
  }

  /** Starts a server by a command, given as words, with further flags. */
  public static LostlockServer start(List<String> command, List<String> flags) {
    return new LostlockServer(launch(command, flags));
  }

  /**
   * The words that start lostlock: the system property lostlock.command, the environment's LOSTLOCK, or npx --no -- lostlock.
   */
  static List<String> command() {
    for (String command :
        new String[] {System.getProperty("lostlock.command"), System.getenv("LOSTLOCK")}) {
      if (command != null && !command.isBlank()) return words(command.trim());
    }
    return List.of("npx", "--no", "--", "lostlock");
  }

  /** A command's words: the path of a file as it is, else split at blanks outside of quotes. */
  static List<String> words(String command) {
    if (new File(command).isFile()) return List.of(command);
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(command);
    while (word.find()) words.add(word.group().replaceAll("[\"']", ""));
    return words;
  }

  static Launched launch(List<String> command, List<String> flags) {
    List<String> words = new ArrayList<>(command);
    words.addAll(List.of("--port", "0", "--exit-with-parent"));
    words.addAll(flags);
    try {
      Path errors = Files.createTempFile("lostlock", ".err");
      errors.toFile().deleteOnExit();
      Launched launched =
          new Launched(
              new ProcessBuilder(words).redirectError(errors.toFile()).start(), passwordIn(flags));
      BufferedReader output =
          new BufferedReader(
              new InputStreamReader(launched.process.getInputStream(), StandardCharsets.UTF_8));
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        Matcher ready = READY.matcher(line);
        if (!ready.find()) continue;
        launched.ports.put(ready.group(1), Integer.valueOf(ready.group(2)));
        if (ready.group(1).equals("Lab ready")) continue;
        drain(output);
        return launched;
      }
      end(launched.process);
      throw new IllegalStateException(
          words.get(0) + " ended: " + Files.readString(errors).strip());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Reads the log to its end, because a server whose pipe is full would wait. */
  private static void drain(BufferedReader output) {
    Thread reader =
        new Thread(
            () -> {
              try (output) {
                while (output.readLine() != null) {}
              } catch (IOException ended) {
                // The server has ended.
              }
            },
            "lostlock's log");
    reader.setDaemon(true);
    reader.start();
  }

  /** The address for clients. */
  public String host() {
    return "127.0.0.1";
  }

  /** The port for clients. */
  public int port() {
    return ports.get("Ready to accept connections");
  }

  /** The address for clients, such as redis://127.0.0.1:40001. */
  public String url() {
    String login =
        password == null
            ? ""
            : ":" + URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20") + "@";
    return "redis://" + login + host() + ":" + port();
  }

  private static String passwordIn(List<String> flags) {
    int at = flags.lastIndexOf("--requirepass");
    return at == -1 || at + 1 == flags.size() ? null : flags.get(at + 1);
  }

  /**
   * Sends a LAB command, such as lab("ADVANCE", "30000"), and returns its reply. Several threads may call this; one command
   * follows the other.
   */
  public Object lab(String... words) {
    List<String> all = new ArrayList<>(List.of("LAB"));
    all.addAll(Arrays.asList(words));
    return lab().command(all.toArray(new String[0]));
  }

  private synchronized RespConnection lab() {
    if (lab == null) {
      RespConnection opened = new RespConnection(host(), ports.getOrDefault("Lab ready", port()));
      if (password != null) opened.command("AUTH", password);
      lab = opened;
    }
    return lab;
  }

  /**
   * Adds a rule for requests and returns its id. The words are those of LAB INTERCEPT ADD: intercept("COMMAND", "set", "KEY",
   * "my:*", "NTH", "1", "DISCONNECT-AFTER").
   */
  public long intercept(String... words) {
    List<String> all = new ArrayList<>(List.of("INTERCEPT", "ADD"));
    all.addAll(Arrays.asList(words));
    return (Long) lab(all.toArray(new String[0]));
  }

  /** The rules, each with id, rule, matches and hits. */
  public List<Map<String, Object>> rules() {
    return records(lab("INTERCEPT", "LIST"));
  }

  /** Removes a rule. */
  public void removeRule(long id) {
    lab("INTERCEPT", "REMOVE", Long.toString(id));
  }

  /** Lets time pass at once on the server. The test's own timers are not moved. */
  public void advance(Duration time) {
    lab("ADVANCE", Long.toString(time.toMillis()));
  }

  /** Stores keys in one step: JSON with an object of keys and values, or what {@link #dump} returned. */
  public void seed(String json) {
    lab("SEED", json);
  }

  /** Every key as JSON. */
  public String dump() {
    return (String) lab("DUMP");
  }

  /** A list of records, each with its names and values as a map. */
  static List<Map<String, Object>> records(Object reply) {
    List<Map<String, Object>> records = new ArrayList<>();
    for (Object each : (List<?>) reply) records.add(fields(each));
    return records;
  }

  /** A reply of names and values in turn as a map. */
  static Map<String, Object> fields(Object reply) {
    List<?> words = (List<?>) reply;
    Map<String, Object> fields = new HashMap<>();
    for (int i = 0; i + 1 < words.size(); i += 2) fields.put((String) words.get(i), words.get(i + 1));
    return fields;
  }

  /** Opens a plain connection, for tests that use no Redis client. */
  public RespConnection connect() {
    return new RespConnection(host(), port());
  }

  /** Stops the server: its standard input ends, and the server with it, also when the tests are killed. */
  @Override
  public void close() {
    if (lab != null) lab.close();
    end(process);
  }

  private static void end(Process process) {
    try {
      process.getOutputStream().close();
      process.waitFor();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }
}
