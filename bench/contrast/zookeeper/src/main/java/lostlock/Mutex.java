package lostlock;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;

/** One client of ZooKeeper: takes and gives back Curator's InterProcessMutex as its standard input says. */
public final class Mutex {
  public static void main(String[] args) throws Exception {
    int session = Integer.parseInt(args[1]);
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(args[0], session, session, new RetryForever(50));
    client.getConnectionStateListenable().addListener((c, state) -> say("state " + state));
    client.start();
    client.blockUntilConnected();
    InterProcessMutex mutex = null;
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        String[] words = line.split(" ");
        if (words[0].equals("acquire")) {
          mutex = new InterProcessMutex(client, "/" + words[1]);
          say(mutex.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "granted" : "refused");
        } else if (words[0].equals("release")) {
          mutex.release();
          say("released");
        }
      } catch (Exception error) {
        say("failed " + error);
      }
    }
    System.exit(0);
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
