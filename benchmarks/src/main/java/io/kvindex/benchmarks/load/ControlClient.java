// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * One blocking keep-alive connection for the calls around a load: registering, {@code /workers},
 * marker queries. Not thread-safe.
 */
final class ControlClient implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final int TIMEOUT_MS = 30_000;

  private final String host;
  private final Socket socket;
  private final InputStream in;

  ControlClient(String host, int port) throws IOException {
    this.host = host + ":" + port;
    socket = new Socket(host, port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MS);
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  JsonNode get(String path) throws IOException {
    return exchange(head("GET", path, 0));
  }

  /** Sum of a metric's samples over all labels, or over those that contain {@code label}. */
  double metric(String name, String label) throws IOException {
    return metrics()
        .lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .filter(line -> line.contains(label))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** All metrics, as they are scraped. */
  String metrics() throws IOException {
    return new String(send(head("GET", "/metrics", 0)), StandardCharsets.UTF_8);
  }

  JsonNode post(String path, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    byte[] head = head("POST", path, bytes.length);
    byte[] request = new byte[head.length + bytes.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(bytes, 0, request, head.length, bytes.length);
    return exchange(request);
  }

  private byte[] head(String method, String path, int length) {
    return String.format(
            Locale.ROOT,
            "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
            method,
            path,
            host,
            length)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private JsonNode exchange(byte[] request) throws IOException {
    return JSON.readTree(send(request));
  }

  /** Sends a whole request as it is; the answer's body. */
  byte[] send(byte[] request) throws IOException {
    socket.getOutputStream().write(request);
    String status = line();
    int length = 0;
    boolean chunked = false;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Integer.parseInt(lower.substring(lower.indexOf(':') + 1).trim());
      }
      chunked |= lower.startsWith("transfer-encoding:") && lower.endsWith("chunked");
    }
    byte[] body = chunked ? chunks() : in.readNBytes(length);
    if (!status.startsWith("HTTP/1.1 20")) {
      throw new IOException(status + ": " + new String(body, StandardCharsets.UTF_8));
    }
    return body;
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    int length;
    do {
      length = Integer.parseInt(line().trim(), 16);
      body.write(in.readNBytes(length));
      line(); // behind every chunk, and behind the last one, which is empty
    } while (length > 0);
    return body.toByteArray();
  }

  private String line() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (c != '\r') {
        text.append((char) c);
      }
    }
    return text.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
