// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Lends one checkpoint over HTTP, or something that resembles it. */
final class StandInLender implements AutoCloseable {

  private static final int BUSY = 429;

  private final HttpServer server;
  private final Header header;
  private final Path directory;

  /** So many are told to come again. */
  final AtomicInteger busy = new AtomicInteger();

  final AtomicInteger asked = new AtomicInteger();
  final AtomicInteger fetched = new AtomicInteger();

  /** What it says its layout is. */
  volatile int layout = Header.LAYOUT;

  /** What becomes of the bytes on their way. */
  volatile UnaryOperator<byte[]> onTheWay = bytes -> bytes;

  StandInLender(Header header, Path directory) throws IOException {
    this.header = header;
    this.directory = directory;
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/replica/checkpoints", this::list);
    server.createContext("/replica/checkpoint", this::lend);
    server.start();
  }

  String place() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  private void list(HttpExchange exchange) throws IOException {
    if (exchange.getRequestURI().getPath().endsWith("checkpoint")) {
      lend(exchange);
      return;
    }
    asked.incrementAndGet();
    CheckpointOffer offer = header.offer(1, busy.get() > 0);
    answer(
        exchange,
        200,
        ("{\"partitions\":1,\"checkpoints\":[{\"partition\":%d,\"layout\":%d,\"topic_id\":\"%s\","
                + "\"offset\":%d,\"since\":%d,\"bytes\":%d,\"busy\":%s}]}")
            .formatted(
                offer.partition(),
                layout,
                offer.topicId(),
                offer.offset(),
                offer.since(),
                offer.bytes(),
                offer.busy())
            .getBytes(UTF_8));
  }

  private void lend(HttpExchange exchange) throws IOException {
    if (busy.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
      answer(exchange, BUSY, new byte[0]);
      return;
    }
    fetched.incrementAndGet();
    answer(exchange, 200, onTheWay.apply(bytes()));
  }

  /** The stream as it is sent. */
  byte[] bytes() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CheckpointStream.send(header, directory, out, Progress.NONE);
    return out.toByteArray();
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
    try (exchange) {
      exchange.sendResponseHeaders(status, body.length == 0 ? -1 : 0);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
