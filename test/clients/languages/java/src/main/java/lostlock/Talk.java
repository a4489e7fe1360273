package lostlock;

import java.util.Arrays;
import java.util.concurrent.Callable;

/** Prints what Jedis and Lettuce hear: beside redis-server and beside lostlock it must print the same lines. */
public final class Talk {
  private Talk() {}

  /** Prints the answer, or the error by its kind and text. */
  static void tell(String what, Callable<?> request) {
    String answer;
    try {
      answer = String.valueOf(request.call());
    } catch (Exception error) {
      answer = error.getClass().getSimpleName() + ": " + error.getMessage();
    }
    System.out.println(what + ": " + answer);
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("cluster")) {
      ClusterTalk.run(portsOf(args[1]));
      return;
    }
    int port = Integer.parseInt(args[0]);
    JedisTalk.run(port);
    LettuceTalk.run(port);
    SentinelTalk.run(portsOf(args[1]));
  }

  private static int[] portsOf(String ports) {
    return Arrays.stream(ports.split(",")).mapToInt(Integer::parseInt).toArray();
  }
}
