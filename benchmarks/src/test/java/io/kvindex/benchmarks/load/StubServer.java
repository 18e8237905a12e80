// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers a shape's queries by looking the whole body up; lies or fails when told to. */
final class StubServer implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private final Map<String, String> answers = new HashMap<>();
  private final AtomicInteger failures = new AtomicInteger();

  StubServer(LoadShape shape, PromptBodies bodies, int lie) {
    for (int p = 0; p < shape.prompts(); p++) {
      answers.put(body(bodies.request(p)), answer(shape, p, lie));
    }
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/query", this::query);
    server.start();
  }

  private static String body(byte[] request) {
    String text = new String(request, StandardCharsets.US_ASCII);
    return text.substring(text.indexOf("\r\n\r\n") + 4);
  }

  private static String answer(LoadShape shape, int prompt, int lie) {
    StringBuilder text = new StringBuilder("{\"default\":{");
    for (int i = 0; i < shape.instances(); i++) {
      int longest = shape.longest(prompt, i);
      int device = shape.onDevice(prompt, i) + lie;
      text.append(i == 0 ? "" : ",")
          .append(
              String.format(
                  "\"load-%d\":{\"longest_matched\":%d,\"GPU\":%d,\"DP\":{\"0\":%d},\"CPU\":%d,\"DISK\":0}",
                  i, longest, device, longest, longest - device));
    }
    return text.append("}}").toString();
  }

  private void query(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    String answer = answers.get(new String(body, StandardCharsets.US_ASCII));
    int status = answer == null || failures.getAndDecrement() > 0 ? 500 : 200;
    String text = answer == null || status == 500 ? "{\"error\":\"no\"}" : answer;
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  void failNext(int times) {
    failures.set(times);
  }

  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
