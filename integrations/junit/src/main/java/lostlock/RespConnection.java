package lostlock;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection that sends commands and reads replies, for tests that use no Redis client. Several threads may share it: one
 * command follows the other.
 */
public final class RespConnection implements AutoCloseable {
  /** The server answered with an error. */
  public static final class ErrorReply extends RuntimeException {
    private static final long serialVersionUID = 1;

    ErrorReply(String message) {
      super(message);
    }
  }

  private final Socket socket;
  private final InputStream input;

  RespConnection(String host, int port) {
    try {
      socket = new Socket(host, port);
      input = new BufferedInputStream(socket.getInputStream());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Sends one command. Returns a String, a Long, a List, or null. Throws {@link ErrorReply} for an error reply. */
  public synchronized Object command(String... words) {
    try {
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      request.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
      for (String word : words) {
        byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
        request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        request.writeBytes(bytes);
        request.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
      }
      socket.getOutputStream().write(request.toByteArray());
      Object reply = read();
      if (reply instanceof ErrorReply) throw (ErrorReply) reply;
      return reply;
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private Object read() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case '-':
        return new ErrorReply(rest);
      case ':':
        return Long.valueOf(rest);
      case '$':
        return rest.equals("-1") ? null : readText(Integer.parseInt(rest));
      case '*':
        return rest.equals("-1") ? null : readList(Integer.parseInt(rest));
      default:
        return rest;
    }
  }

  private List<Object> readList(int size) throws IOException {
    List<Object> items = new ArrayList<>(size);
    for (int i = 0; i < size; i++) items.add(read());
    return items;
  }

  private String readText(int size) throws IOException {
    byte[] bytes = input.readNBytes(size + 2);
    if (bytes.length < size + 2) throw new EOFException("the server closed the connection");
    return new String(bytes, 0, size, StandardCharsets.UTF_8);
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = input.read(); next != '\n'; next = input.read()) {
      if (next == -1) throw new EOFException("the server closed the connection");
      if (next != '\r') line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8);
  }
}
