// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers over real sockets; only Kafka is not there. */
@Timeout(60)
class PeersTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final PeerClient.Bounds BOUNDS =
      new PeerClient.Bounds(
          Duration.ofMillis(500), Duration.ofMillis(300), Duration.ofMillis(1_500), 1 << 20, 1_000);

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final MockProducer<byte[], byte[]> kafka = producer();
  private final Positions index = new Positions();
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile RegistrationSnapshot registrations = RegistrationSnapshot.EMPTY;
  private HttpServer peer;
  private Peers peers;

  private static MockProducer<byte[], byte[]> producer() {
    Node node = new Node(1, "none", 1);
    Node[] nodes = {node};
    return new MockProducer<>(
        new Cluster(
            "c",
            List.of(node),
            List.of(new PartitionInfo(Topics.EVENTS, 0, node, nodes, nodes)),
            Set.of(),
            Set.of()),
        true,
        null,
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  @BeforeEach
  void start() throws IOException {
    peer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    peer.setExecutor(Executors.newCachedThreadPool());
    peer.start();
    peers = peers(Duration.ofMinutes(1));
  }

  private Peers peers(Duration heldFor) {
    return new Peers(() -> registrations, index, () -> kafka, BOUNDS, heldFor, metrics);
  }

  @AfterEach
  void stop() {
    over.countDown();
    peers.close();
    peer.stop(0);
    ((java.util.concurrent.ExecutorService) peer.getExecutor()).shutdownNow();
  }

  private String url() {
    return "http://127.0.0.1:" + peer.getAddress().getPort();
  }

  private void serve(int status, byte[] body) {
    peer.createContext(
        "/dump",
        exchange -> {
          exchange.sendResponseHeaders(status, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
  }

  private double count(String name, String tag, String value) {
    Counter counter = metrics.find(name).tag(tag, value).counter();
    return counter == null ? 0 : counter.count();
  }

  private void register(
      String instance, int rank, int blockSize, SourceType type, long generation) {
    TableId table = new TableId("default", "m", blockSize, HashProfile.XXH3_DEFAULT);
    Registration one =
        new Registration(
            new PublisherId(instance, "default", rank),
            "tcp://127.0.0.1:1",
            null,
            type,
            table,
            List.of(""),
            null,
            SourceOptions.defaultFor(type),
            null);
    registrations =
        RegistrationSnapshot.of(List.of(new Registered(one, generation)), Media.standard());
  }

  @Test
  void shouldImportOnceRegistered_whenBlocksAreHeld() throws Exception {
    serve(200, Dumps.resource("dump-example-3.json"));
    assertThat(peers.recover(List.of(url() + "/")).get(10, TimeUnit.SECONDS)).isEqualTo(url());
    assertThat(metrics.get("kvindex.peer.held").gauge().value()).isEqualTo(4);
    assertThat(kafka.history()).isEmpty();

    register("7", 0, 4, SourceType.VLLM, 42);

    await().atMost(SOON).until(() -> kafka.history().size() == 1);
    EventRecord record = EventRecordCodec.decode(kafka.history().get(0).value());
    assertThat(record.incarnation()).isEqualTo(new Incarnation(42, PeerImport.NO_LIFE, 0));
    assertThat(record.stream()).isEqualTo(PeerImport.stream(new PublisherId("7", "default", 0)));
    assertThat(record.events())
        .extracting(e -> ((Stored) e).place().medium(), e -> ((Stored) e).parent())
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("GPU", Parent.ROOT),
            org.assertj.core.groups.Tuple.tuple("CPU", Parent.of(12)),
            org.assertj.core.groups.Tuple.tuple("DISK", Parent.of(13)));
    await().atMost(SOON).until(() -> count("kvindex.peer.blocks", "outcome", "imported") == 4);
    assertThat(metrics.get("kvindex.peer.held").gauge().value()).isZero();
  }

  @Test
  void shouldRefuse_whatDoesNotFitTheRegistration() throws Exception {
    serve(200, Dumps.resource("dump-example-3.json"));
    register("7", 0, 8, SourceType.VLLM, 1);
    peers.recover(List.of(url())).get(10, TimeUnit.SECONDS);
    await().atMost(SOON).until(() -> count("kvindex.peer.blocks", "outcome", "block_size") == 4);

    register("7", 0, 4, SourceType.KV_EVENTS, 1);
    peers.fetch(List.of(url()));
    await().atMost(SOON).until(() -> count("kvindex.peer.blocks", "outcome", "source_type") == 4);

    index.known.put(
        new PublisherId("7", "default", 0),
        new StreamPosition(new Incarnation(1, 5, 0), null, -1, 0, 0, 0, false));
    register("7", 0, 4, SourceType.VLLM, 1);
    peers.fetch(List.of(url()));
    await().atMost(SOON).until(() -> count("kvindex.peer.blocks", "outcome", "has_state") == 4);
    assertThat(kafka.history()).isEmpty();
  }

  @Test
  void shouldDropWhatNobodyRegisters_whenItIsOld() throws Exception {
    peers.close();
    peers = peers(Duration.ofMillis(50));
    serve(200, Dumps.resource("dump-example-3.json"));
    peers.recover(List.of(url())).get(10, TimeUnit.SECONDS);

    await().atMost(SOON).until(() -> count("kvindex.peer.blocks", "outcome", "expired") == 4);
  }

  @Test
  void shouldTakeTheNextPeer_whenTheFirstIsDeadOrLies() throws Exception {
    serve(200, Dumps.resource("dump-example-3.json"));
    int dead;
    try (ServerSocket free = new ServerSocket(0)) {
      dead = free.getLocalPort();
    }
    peer.createContext("/rubbish/dump", e -> answer(e, "<html>".getBytes("UTF-8")));

    String taken =
        peers
            .recover(List.of("http://127.0.0.1:" + dead, url() + "/rubbish", url()))
            .get(10, TimeUnit.SECONDS);

    assertThat(taken).isEqualTo(url());
    assertThat(peers.urls()).hasSize(3);
    assertThat(count("kvindex.peer.fetches", "result", "failed")).isEqualTo(2);
  }

  private static void answer(com.sun.net.httpserver.HttpExchange exchange, byte[] body)
      throws IOException {
    exchange.sendResponseHeaders(200, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"silent", "trickling", "endless", "cut short", "500", "redirect"})
  void shouldGiveUp_whenAPeerIs(String what) throws Exception {
    peer.createContext("/dump", exchange -> misbehave(what, exchange));

    assertThat(peers.recover(List.of(url())).get(20, TimeUnit.SECONDS)).isEmpty();

    assertThat(count("kvindex.peer.fetches", "result", "failed")).isOne();
    assertThat(metrics.get("kvindex.peer.held").gauge().value()).isZero();
  }

  private void misbehave(String what, com.sun.net.httpserver.HttpExchange exchange)
      throws IOException {
    byte[] whole = Dumps.resource("dump-example-3.json");
    switch (what) {
      case "500" -> exchange.sendResponseHeaders(500, -1);
      case "redirect" -> {
        exchange.getResponseHeaders().add("Location", "/elsewhere");
        exchange.sendResponseHeaders(302, -1);
      }
      case "cut short" -> {
        exchange.sendResponseHeaders(200, whole.length);
        exchange.getResponseBody().write(whole, 0, whole.length / 2);
        exchange.getResponseBody().flush();
      }
      default -> {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write('{');
        stretch(what, exchange.getResponseBody());
      }
    }
    exchange.close();
  }

  private void stretch(String what, OutputStream out) throws IOException {
    byte[] spaces = new byte[what.equals("endless") ? 65_536 : 1];
    java.util.Arrays.fill(spaces, (byte) ' ');
    try {
      while (!over.await(what.equals("endless") ? 0 : 100, TimeUnit.MILLISECONDS)) {
        if (!what.equals("silent")) {
          out.write(spaces);
          out.flush();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void shouldListPeersOverHttp() throws Exception {
    PeerRoutes routes = new PeerRoutes(peers, () -> registrations, index);
    try (io.kvindex.query.http.HttpServer server =
        io.kvindex.query.http.HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> reply.body().raw('{').raw('}'),
            routes::addTo,
            metrics)) {
      URI uri = URI.create("http://127.0.0.1:" + server.port());
      serve(200, "{}".getBytes("UTF-8"));
      String body = "{\"url\":\"" + url() + "\"}";

      assertThat(post(uri, "/register_peer", body)).isEqualTo("201 {\"status\":\"ok\"}");
      assertThat(post(uri, "/register_peer", body)).startsWith("201 ");
      assertThat(get(uri, "/peers")).isEqualTo("200 [\"" + url() + "\"]");
      index.replicas = List.of("10.0.0.2:13333", url().substring("http://".length()));
      assertThat(get(uri, "/peers")).isEqualTo("200 [\"" + url() + "\",\"http://10.0.0.2:13333\"]");
      index.replicas = List.of();
      assertThat(post(uri, "/register_peer", "{\"url\":\"tcp://x\"}")).startsWith("400 ");
      for (String wrong : List.of("http://x#y", "http://x?y", "http://x:65536", "http:///x")) {
        assertThat(post(uri, "/register_peer", "{\"url\":\"" + wrong + "\"}")).startsWith("400 ");
      }
      assertThat(post(uri, "/register_peer", "{}")).startsWith("422 ");
      assertThat(post(uri, "/register_peer", "[]")).startsWith("400 ");
      assertThat(post(uri, "/register_peer", body + "x")).startsWith("400 ");
      String endless = "{\"url\":\"http://x/" + "y".repeat(5_000) + "\"}";
      assertThat(post(uri, "/register_peer", endless)).startsWith("422 ");
      assertThat(post(uri, "/deregister_peer", body)).isEqualTo("200 {\"status\":\"ok\"}");
      assertThat(post(uri, "/deregister_peer", body))
          .isEqualTo("404 {\"error\":\"peer not found\",\"reason\":\"not_found\"}");
      assertThat(get(uri, "/peers")).isEqualTo("200 []");
      assertThat(get(uri, "/dump")).isEqualTo("200 {}");
      register("7", 0, 4, SourceType.VLLM, 1);
      assertThat(get(uri, "/dump")).startsWith("200 {\"m:default\":{\"error\":");
    }
  }

  private static String post(URI server, String path, String body) throws Exception {
    return send(HttpRequest.newBuilder(server.resolve(path)).POST(BodyPublishers.ofString(body)));
  }

  private static String get(URI server, String path) throws Exception {
    return send(HttpRequest.newBuilder(server.resolve(path)));
  }

  private static String send(HttpRequest.Builder request) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }
}
