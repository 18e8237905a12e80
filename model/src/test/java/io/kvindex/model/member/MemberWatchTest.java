// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A group in memory, and real sockets. */
class MemberWatchTest {

  private static final long NEXT_NAMES = TimeUnit.SECONDS.toNanos(3);
  private static final Duration SESSION = Duration.ofSeconds(6);
  private static final long STEP = TimeUnit.MILLISECONDS.toNanos(250);

  /** More connections than any test looks for: beyond the backlog each one waits in vain. */
  private static final int LOOKS = 200;

  /** Takes what it is told. */
  private static final class Members implements Group {
    private final Set<String> names = new HashSet<>();
    private final Map<String, String> elsewhere = new HashMap<>();
    private final List<Set<String>> removed = new ArrayList<>();
    private boolean silent;

    @Override
    public Map<String, String> hosts() {
      Map<String, String> hosts = new HashMap<>();
      names.forEach(name -> hosts.put(name, elsewhere.getOrDefault(name, "/127.0.0.1")));
      return hosts;
    }

    @Override
    public void remove(Set<String> some) throws TimeoutException {
      if (silent) {
        throw new TimeoutException();
      }
      removed.add(some);
      names.removeAll(some);
    }

    @Override
    public void close() {}
  }

  private final Members group = new Members();
  private final AtomicInteger told = new AtomicInteger();
  private final MemberName own = new MemberName("127.0.0.1", 1, "00000000");
  private final MemberWatch watch = new MemberWatch(group, own, SESSION, told::incrementAndGet);
  private final List<ServerSocket> open = new ArrayList<>();
  private long nowNs = System.nanoTime();

  @BeforeEach
  void isAMemberItself() {
    group.names.add(own.text());
  }

  @AfterEach
  void close() throws IOException {
    watch.close();
    for (ServerSocket socket : open) {
      socket.close();
    }
  }

  private ServerSocket listen() throws IOException {
    ServerSocket socket = new ServerSocket(0, LOOKS, InetAddress.getByName("127.0.0.1"));
    open.add(socket);
    return socket;
  }

  /** In the order of the numbers, all behind this process. */
  private static MemberName at(ServerSocket socket, int number) {
    return new MemberName("127.0.0.1", socket.getLocalPort(), "0000000" + number);
  }

  private void look(int times) throws Exception {
    for (int i = 0; i < times; i++) {
      watch.look(nowNs);
    }
  }

  private void lookAfterNewNames(int times) throws Exception {
    nowNs += NEXT_NAMES;
    look(times);
  }

  /** Looks for so long, four times a second as far as the watch can tell. */
  private void lookFor(Duration time) throws Exception {
    for (long step = 0; step < time.toNanos(); step += STEP) {
      nowNs += STEP;
      watch.look(nowNs);
    }
  }

  /** Looks, at one moment, until it has answered anew: what it owed before is read then. */
  private void lookUntilAnswered(AnsweringProcess other) throws Exception {
    int before = other.answered();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (other.answered() < before + 2) {
      assertThat(System.nanoTime()).as("answered in time").isLessThan(deadline);
      watch.look(nowNs);
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldHaveOneLeave_whenItStandsStillForHalfASession() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    try (AnsweringProcess process = new AnsweringProcess(socket)) {
      lookUntilAnswered(process);
      process.standStill();
      lookFor(SESSION.dividedBy(2).minusMillis(500));
      assertThat(group.removed).as("it may be busy").isEmpty();

      lookFor(Duration.ofSeconds(1));
      assertThat(group.removed).containsExactly(Set.of(other.text()));

      group.names.add(other.text());
      lookFor(Duration.ofSeconds(10));
      assertThat(group.removed).as("not again before it has answered again").hasSize(1);

      process.goOn();
      lookUntilAnswered(process);
      process.standStill();
      lookFor(Duration.ofSeconds(4));
      assertThat(group.removed).as("but then").hasSize(2);
    }
  }

  @Test
  void shouldNotJudgeOne_whenTheWatchStoodStillItself() throws Exception {
    ServerSocket socket = listen();
    group.names.add(at(socket, 1).text());
    try (AnsweringProcess process = new AnsweringProcess(socket)) {
      lookUntilAnswered(process);
      process.standStill();
      lookFor(Duration.ofSeconds(1));
      nowNs += TimeUnit.SECONDS.toNanos(20);
      lookFor(SESSION.dividedBy(2).minusMillis(500));
      assertThat(group.removed).isEmpty();

      lookFor(Duration.ofSeconds(1));
      assertThat(group.removed).hasSize(1);
    }
  }

  @Test
  void shouldNotJudgeOne_whenItNeverAnswered() throws Exception {
    ServerSocket socket = listen();
    group.names.add(at(socket, 1).text());
    lookFor(Duration.ofSeconds(20));
    assertThat(group.removed).as("who knows what listens there").isEmpty();
  }

  @Test
  void shouldHaveAllMembersOfAProcessLeave_whenItListensNoMore() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.addAll(Set.of(other.text() + "-1", other.text() + "-2", "index-7"));
    look(3);
    assertThat(group.removed).isEmpty();

    socket.close();
    look(Watched.REFUSALS);

    assertThat(group.removed).containsExactly(Set.of(other.text() + "-1", other.text() + "-2"));
    assertThat(group.names).containsExactlyInAnyOrder(own.text(), "index-7");
    assertThat(told).hasValue(1);
    look(5);
    assertThat(group.removed).as("and once").hasSize(1);
  }

  @Test
  void shouldWait_whenOneRefusalIsNotFollowedByAnother() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    look(1);
    socket.close();
    look(Watched.REFUSALS - 1);
    open.add(new ServerSocket(other.port(), 50, InetAddress.getByName("127.0.0.1")));
    look(3);

    assertThat(group.removed).isEmpty();
  }

  @Test
  void shouldNotJudgeOne_whenItNeverListened() throws Exception {
    ServerSocket socket = listen();
    group.names.add(at(socket, 1).text());
    socket.close();
    look(5);
    assertThat(group.removed).as("it may be starting, or another network is between").isEmpty();
  }

  @Test
  void shouldAskForAnotherLife_whenOneThatWasRemovedJoinsAgain() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    look(1);
    socket.close();
    look(Watched.REFUSALS);
    group.names.add(other.text());
    lookAfterNewNames(5);

    assertThat(group.removed).as("not again and again").hasSize(1);
  }

  @Test
  void shouldNotJudgeOne_whenItsAddressMeansAnotherProcessHere() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    group.elsewhere.put(other.text(), "/10.0.0.7");
    look(1);
    socket.close();
    look(5);
    assertThat(group.removed).isEmpty();
  }

  @Test
  void shouldHaveItsOwnMembersLeave_whenItIsClosed() {
    group.names.add(own.text() + "-1");
    watch.close();
    assertThat(group.removed).containsExactly(Set.of(own.text(), own.text() + "-1"));
    assertThat(told).hasValue(0);
  }

  @Test
  void shouldTryAgain_whenKafkaDidNotAnswer() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    look(1);
    socket.close();
    group.silent = true;
    look(Watched.REFUSALS - 1);
    assertThatThrownBy(() -> look(1)).isInstanceOf(TimeoutException.class);
    assertThat(told).hasValue(0);
    group.silent = false;
    look(1);

    assertThat(group.removed).hasSize(1);
    assertThat(told).hasValue(1);
  }

  @Test
  void shouldBeSilent_whenItIsGoneByItself() throws Exception {
    ServerSocket socket = listen();
    MemberName other = at(socket, 1);
    group.names.add(other.text());
    look(1);
    group.names.remove(other.text());
    socket.close();
    look(5);

    assertThat(group.removed).isEmpty();
    assertThat(told).hasValue(0);
  }

  @Test
  void shouldProveNothing_whenThereIsNoSuchHost() throws Exception {
    group.names.add(Objects.requireNonNull(MemberName.at("no-such-host.invalid:1")).text());
    look(5);
    assertThat(group.removed).isEmpty();
  }

  @Test
  void shouldWatchTheNextTwo_whenThereAreMany() throws Exception {
    List<ServerSocket> sockets = new ArrayList<>();
    List<MemberName> others = new ArrayList<>();
    while (others.size() < 4) {
      ServerSocket socket = listen();
      // All ports are 5 digits from here on, so that the order is that of the ports.
      if (socket.getLocalPort() >= 10_000) {
        sockets.add(socket);
        others.add(at(socket, 1));
      }
    }
    others.forEach(other -> group.names.add(other.text()));
    look(1);
    for (ServerSocket socket : sockets) {
      socket.close();
    }
    look(Watched.REFUSALS);

    List<String> first = others.stream().map(MemberName::text).sorted().limit(2).toList();
    assertThat(group.removed).containsExactly(Set.of(first.get(0)), Set.of(first.get(1)));
    lookAfterNewNames(5);
    assertThat(group.removed).as("the others were never seen listening").hasSize(2);
  }

  @Test
  void shouldGoAroundTheRing_whenItIsTheLast() throws Exception {
    MemberName last = new MemberName("zz", 1, "00000000");
    try (MemberWatch late = new MemberWatch(group, last, SESSION, told::incrementAndGet)) {
      ServerSocket socket = listen();
      group.names.remove(own.text());
      group.names.addAll(Set.of(last.text(), at(socket, 1).text()));
      nowNs = System.nanoTime();
      late.look(nowNs);
      socket.close();
      late.look(nowNs);
      late.look(nowNs);
      assertThat(group.removed).hasSize(1);
    }
  }
}
