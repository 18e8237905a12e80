// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.registration.Endpoint;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Where a subscription goes whose endpoint is a name, or several addresses. */
@Timeout(60)
class RouteTest implements IoLoop.Reader, IoLoop.Listener {

  private static final Duration SOON = Duration.ofSeconds(20);

  private final ZContext publishers = new ZContext();
  private final Resolver resolver = new Resolver(host -> this.lookup.addresses(host));
  private final IoLoop loop = new IoLoop(new OpenGate(), resolver);
  private final List<String> heard = new CopyOnWriteArrayList<>();
  private final List<String> problems = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger losses = new AtomicInteger();
  private final int port = freePort();
  private volatile Resolver.Lookup lookup = host -> addresses("127.0.0.1");

  RouteTest() throws IOException {}

  @AfterEach
  void close() throws InterruptedException {
    loop.close();
    resolver.close();
    publishers.close();
  }

  /** A publisher at 127.0.0.2, which is what any name leads to, and which was heard. */
  private ZMQ.Socket connectedTo(String host) throws Exception {
    ZMQ.Socket publisher = publisher("127.0.0.2");
    lookup = name -> addresses("127.0.0.2");
    subscribe("tcp://" + host + ":" + port);
    awaitHeard(publisher, "before");
    return publisher;
  }

  @Test
  void shouldGoOnToTheNextAddress_whenNobodyListensAtTheFirst() throws Exception {
    lookup = host -> addresses("127.0.0.2", "127.0.0.3", "127.0.0.4");
    ZMQ.Socket third = publisher("127.0.0.4");
    subscribe("tcp://engine:" + port);
    awaitHeard(third, "third");
  }

  /** Pauses double from a tenth of a second: the next but the last one would end after 12.7 s. */
  @Test
  void shouldConnectWithinSeconds_whenAnEngineComesBackAfterAWhile() throws Exception {
    ZMQ.Socket before = connectedTo("127.0.0.2");
    before.close();
    await().atMost(SOON).until(() -> losses.get() >= 1);
    await().pollDelay(Duration.ofSeconds(7)).atMost(SOON).until(() -> true); // tries in vain
    int had = connections.get();
    try (ZMQ.Socket after = publisher("127.0.0.2")) {
      await().atMost(Duration.ofSeconds(5)).until(() -> connections.get() > had);
      awaitHeard(after, "after");
    }
  }

  @Test
  void shouldFollowTheName_whenItMovesWhileTheConnectionIsDown() throws Exception {
    ZMQ.Socket before = connectedTo("engine");

    lookup = host -> addresses("127.0.0.3");
    ZMQ.Socket after = publisher("127.0.0.3");
    before.close();
    awaitHeard(after, "after");
    assertThat(losses).hasValueGreaterThanOrEqualTo(1);
    assertThat(connections).hasValue(2);
  }

  @Test
  void shouldLeaveTheAddress_whenAnotherHasItAndTheNameLeadsElsewhere() throws Exception {
    ZMQ.Socket before = connectedTo("engine");

    CountDownLatch lookedUp = new CountDownLatch(1);
    lookup =
        host -> {
          hang(lookedUp);
          return addresses("127.0.0.3");
        };
    before.close();
    ZMQ.Socket stranger = publisher("127.0.0.2");
    awaitHeard(stranger, "stranger");
    ZMQ.Socket after = publisher("127.0.0.3");
    lookedUp.countDown();
    awaitHeard(after, "after");
    heard.clear();
    stranger.send("stranger");
    awaitHeard(after, "after");
    assertThat(heard).doesNotContain("stranger");
  }

  @Test
  void shouldConnectAgain_whenTheLookupHangs() throws Exception {
    ZMQ.Socket before = connectedTo("engine");

    lookup =
        host -> {
          hang(new CountDownLatch(1));
          return addresses("127.0.0.3");
        };
    before.close();
    awaitHeard(publisher("127.0.0.2"), "again");
  }

  @Test
  void shouldSaySoAndTryAgain_whenTheNameIsUnknown() throws Exception {
    lookup =
        host -> {
          throw new UnknownHostException(host);
        };
    subscribe("tcp://engine:" + port);
    await().atMost(SOON).until(() -> !problems.isEmpty());
    assertThat(problems.get(0)).contains("engine", "unknown");
    lookup = host -> addresses("127.0.0.2");
    awaitHeard(publisher("127.0.0.2"), "found");
  }

  @Test
  void shouldSaySo_whenTheLookupTakesLong() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    lookup =
        host -> {
          hang(over);
          return addresses("127.0.0.2");
        };
    subscribe("tcp://engine:" + port);
    await().atMost(SOON).until(() -> !problems.isEmpty());
    assertThat(problems.get(0)).contains("engine", "still being looked up");
    over.countDown();
    awaitHeard(publisher("127.0.0.2"), "found");
  }

  @Test
  void shouldConnectToThisHost_whenTheEndpointIsWhatTheEngineBinds() throws Exception {
    subscribe("tcp://0.0.0.0:" + port);
    awaitHeard(publisher("127.0.0.1"), "bound");
  }

  @Test
  void shouldConnectByIpv4_whenTheEngineHasNoOtherAndTheEndpointIsAnyOfIpv6() throws Exception {
    subscribe("tcp://[::]:" + port);
    awaitHeard(publisher("127.0.0.1"), "bound");
  }

  @Test
  void shouldConnect_whenTheNameHasIpv6AddressesOnly() throws Exception {
    assumeThat(hasIpv6()).isTrue();
    lookup = host -> addresses("::1");
    subscribe("tcp://engine:" + port);
    awaitHeard(publisher("[::1]"), "v6");
  }

  @Test
  void shouldAcceptBothVersions_whenItBinds() throws Exception {
    subscribe("tcp://*:" + port);
    ZMQ.Socket four = connecting();
    four.connect("tcp://127.0.0.1:" + port);
    awaitHeard(four, "four");
    int had = losses.get(); // a connection without a handshake, maybe
    if (hasIpv6()) {
      ZMQ.Socket six = connecting();
      six.connect("tcp://[::1]:" + port);
      awaitHeard(six, "six");
      six.close();
      awaitHeard(four, "four");
      assertThat(losses).hasValue(had);
    }
    four.close();
    await().atMost(SOON).until(() -> losses.get() == had + 1);
  }

  @Test
  void shouldRefuseThePort_whenItIsTakenInOneVersionOnly() throws Exception {
    assumeThat(hasIpv6()).isTrue();
    CompletableFuture<String> refused = new CompletableFuture<>();
    try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getByName("::1"))) {
      loop.execute(
          () -> {
            try {
              loop.subscribe(Endpoint.parse("tcp://*:" + port), "", 1_000, this, this);
              refused.complete("bound at half of " + taken);
            } catch (RuntimeException e) {
              refused.complete("" + e.getMessage());
            }
          });
      assertThat(refused.get(20, TimeUnit.SECONDS)).contains("in use");
    }
  }

  private void subscribe(String endpoint) throws InterruptedException {
    loop.execute(() -> loop.subscribe(Endpoint.parse(endpoint), "", 1_000, this, this));
  }

  /** JeroMQ leaves some connections without a handshake, see {@link SocketOptions}. */
  private ZMQ.Socket connecting() {
    ZMQ.Socket socket = publishers.createSocket(SocketType.PUB);
    socket.setIPv6(true);
    socket.setHandshakeIvl(1_000);
    return socket;
  }

  private ZMQ.Socket publisher(String host) {
    ZMQ.Socket socket = publishers.createSocket(SocketType.PUB);
    socket.setIPv6(true);
    await().atMost(SOON).ignoreExceptions().until(() -> socket.bind("tcp://" + host + ":" + port));
    return socket;
  }

  private void awaitHeard(ZMQ.Socket publisher, String text) {
    heard.remove(text);
    await()
        .atMost(SOON)
        .until(
            () -> {
              publisher.send(text);
              return heard.contains(text);
            });
  }

  private static List<InetAddress> addresses(String... literals) throws UnknownHostException {
    List<InetAddress> all = new ArrayList<>();
    for (String literal : literals) {
      all.add(InetAddress.getByName(literal));
    }
    return all;
  }

  private static void hang(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean hasIpv6() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .anyMatch(address -> address instanceof Inet6Address && address.isLoopbackAddress());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public boolean wantsMessages() {
    return true;
  }

  @Override
  public void onMessage(List<byte[]> frames) {
    heard.add(new String(frames.get(0), StandardCharsets.UTF_8));
  }

  @Override
  public void onReopened() {}

  @Override
  public void connected() {
    connections.incrementAndGet();
  }

  @Override
  public void disconnected() {
    losses.incrementAndGet();
  }

  @Override
  public void unresolved(String problem) {
    problems.add(problem);
  }

  private static final class OpenGate implements IoLoop.Gate {
    @Override
    public boolean hasRoom() {
      return true;
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public boolean tryReopen() {
      return true;
    }
  }
}
