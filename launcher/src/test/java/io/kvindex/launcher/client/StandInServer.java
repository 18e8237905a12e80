// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Takes registrations and shows as visible what it can read from the publishers' replay: a server
 * with a bridge, as far as a publisher can tell, without either.
 */
final class StandInServer implements AutoCloseable {

  private static final int TIMEOUT_MS = 10_000;

  /** JeroMQ loses some handshakes (zeromq/jeromq#1022); the timer makes it connect again. */
  private static final int HANDSHAKE_MS = 300;

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * A registered rank.
   *
   * @param batches payload by sequence, of the current life
   */
  record Rank(JsonNode registration, long generation, long life, Map<Long, byte[]> batches) {}

  private final HttpServer http;
  private final Map<Integer, Rank> ranks = new ConcurrentSkipListMap<>();

  /** What answers show: always one look behind, as an index is behind its bridge. */
  private final Map<Integer, Rank> shown = new ConcurrentSkipListMap<>();

  StandInServer() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/register", this::register);
    http.createContext("/workers", this::workers);
    http.start();
  }

  String uri() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** What came of a rank, in its last life. */
  Rank rank(int rank) {
    return Objects.requireNonNull(ranks.get(rank));
  }

  /** What answers show of a rank. */
  Rank shown(int rank) {
    return Objects.requireNonNull(shown.get(rank));
  }

  /** How many ranks were registered. */
  int ranks() {
    return ranks.size();
  }

  private void register(HttpExchange exchange) throws IOException {
    JsonNode body = JSON.readTree(exchange.getRequestBody());
    ranks.compute(
        body.path("dp_rank").asInt(),
        (number, former) ->
            new Rank(body, former == null ? 1 : former.generation() + 1, 1, Map.of()));
    answer(exchange, JSON.createObjectNode());
  }

  private void workers(HttpExchange exchange) throws IOException {
    ObjectNode worker = JSON.createObjectNode();
    ranks.replaceAll((number, rank) -> follow(rank));
    ranks.forEach(
        (number, rank) -> {
          worker.set("instance_id", rank.registration().path("instance_id"));
          worker.set("tenant_id", rank.registration().path("tenant_id"));
          ObjectNode listener =
              worker
                  .withObjectProperty("listeners")
                  .withObjectProperty(Integer.toString(number))
                  .put("endpoint", rank.registration().path("endpoint").asText())
                  .put("generation", rank.generation())
                  .put("life", rank.life());
          Rank visible = shown.put(number, rank);
          if (visible != null) {
            listener
                .put("visible_event_id", last(visible.batches()))
                .putObject("visible_incarnation")
                .put("generation", visible.generation())
                .put("life", visible.life());
          }
        });
    answer(exchange, JSON.createArrayNode().add(worker));
  }

  private static Rank follow(Rank rank) {
    if (isGone(URI.create(rank.registration().path("replay_endpoint").asText()))) {
      return rank;
    }
    Map<Long, byte[]> batches = replay(rank.registration().path("replay_endpoint").asText());
    boolean restarted = last(batches) < last(rank.batches());
    return new Rank(
        rank.registration(), rank.generation(), rank.life() + (restarted ? 1 : 0), batches);
  }

  /** A publisher that has ended: what was read of it stays. */
  private static boolean isGone(URI endpoint) {
    try (Socket probe = new Socket(endpoint.getHost(), endpoint.getPort())) {
      return !probe.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  private static long last(Map<Long, byte[]> batches) {
    return batches.keySet().stream().mapToLong(Long::longValue).max().orElse(-1);
  }

  private static Map<Long, byte[]> replay(String endpoint) {
    try (ZContext context = new ZContext()) {
      ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
      dealer.setReceiveTimeOut(TIMEOUT_MS);
      dealer.setHandshakeIvl(HANDSHAKE_MS);
      dealer.connect(endpoint);
      dealer.send(new byte[0], ZMQ.SNDMORE);
      dealer.send(new byte[Long.BYTES]);
      Map<Long, byte[]> batches = new TreeMap<>();
      while (true) {
        byte[] sequence = {};
        byte[] payload = Objects.requireNonNull(dealer.recv(), "no replay within 10 s");
        while (dealer.hasReceiveMore()) {
          sequence = payload;
          payload = dealer.recv();
        }
        if (payload.length == 0) {
          return batches;
        }
        batches.put(ByteBuffer.wrap(sequence).getLong(), payload);
      }
    }
  }

  private static void answer(HttpExchange exchange, JsonNode body) throws IOException {
    byte[] bytes = JSON.writeValueAsBytes(body);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
