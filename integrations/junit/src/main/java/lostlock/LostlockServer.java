package lostlock;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

  LostlockServer(Launched launched) {
    this.process = launched.process;
    this.ports = launched.ports;
  }

  /** A process that listens. */
  static final class Launched {
    final Process process;
    final Map<String, Integer> ports = new HashMap<>();

    Launched(Process process) {
      this.process = process;
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
          new Launched(new ProcessBuilder(words).redirectError(errors.toFile()).start());
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
    return "redis://" + host() + ":" + port();
  }

  int labPort() {
    return ports.get("Lab ready");
  }

  /** Opens a plain connection, for tests that use no Redis client. */
  public RespConnection connect() {
    return new RespConnection(host(), port());
  }

  /** Stops the server: its standard input ends, and the server with it, also when the tests are killed. */
  @Override
  public void close() {
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
