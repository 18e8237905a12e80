// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.TableId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.site.Serving;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.remote.Relayed.Placed;
import io.kvindex.query.remote.ReplicaService.Tables;
import io.kvindex.streams.Holders;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A question never meets another application's table. */
class AddressedTest {

  private static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final byte[] QUESTION = NamesRequest.of(TABLE).encode();
  private static final String OTHER = "kvindex-table-1";

  private static byte[] about(String application) {
    return new Addressed("", application, QUESTION).encode();
  }

  private static byte[] of(String cluster) {
    return new Addressed(cluster, Serving.DEFAULT_APPLICATION, QUESTION).encode();
  }

  private static byte[] ask(ReplicaService service, byte[] question) {
    return Objects.requireNonNull(service.byPath().get(ReplicaService.NAMES)).to(question);
  }

  @Test
  void shouldBeWhatOlderReplicasAskAndAnswer_aboutTheDefaultApplication() {
    assertThat(about(Serving.DEFAULT_APPLICATION)).isEqualTo(QUESTION);
    assertThat(Addressed.decode(QUESTION).application()).isEqualTo(Serving.DEFAULT_APPLICATION);
  }

  @Test
  void shouldBeReadBack_andRefusedByOlderReplicas_aboutAnotherApplication() {
    Addressed read = Addressed.decode(about(OTHER));
    assertThat(read.application()).isEqualTo(OTHER);
    assertThat(read.question()).isEqualTo(QUESTION);
    assertThatThrownBy(() -> NamesRequest.decode(about(OTHER)))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("version 2");
  }

  @Test
  void shouldRefuse_whenTheTableAskedAboutIsNotHere() {
    Placed placed = new Placed(new Holders("holder:1", List.of()));
    ReplicaService former =
        new ReplicaService(Tables.only(Serving.DEFAULT_APPLICATION, new BareIndex(), placed));
    ReplicaService changed = new ReplicaService(Tables.only(OTHER, new BareIndex(), placed));
    assertThat(ask(former, about(Serving.DEFAULT_APPLICATION))).isNotEmpty();
    assertThat(ask(changed, about(OTHER))).isNotEmpty();
    assertThatThrownBy(() -> ask(former, about(OTHER)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no table of application " + OTHER);
    assertThatThrownBy(() -> ask(changed, QUESTION))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no table of application kvindex");
  }

  @Test
  void shouldRefuse_whenItIsOfAnotherSite() {
    ReplicaService service = ofCluster("one");
    assertThat(ask(service, of("one"))).isNotEmpty();
    assertThat(ask(service, of(""))).isNotEmpty();
    assertThat(ask(ofCluster(""), of("one"))).isNotEmpty();
    assertThatThrownBy(() -> ask(service, of("another")))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("of Kafka cluster one, not of another");
  }

  @Test
  void shouldAskTheNextHolder_whenTheFirstOnesAddressBelongsToAnotherSiteNow() {
    Relayed.Loop stranger = new Relayed.Loop(ofCluster("another"));
    Relayed.Loop own = new Relayed.Loop(ofCluster("one"));
    assertThat(
            answeredBy(Serving.DEFAULT_APPLICATION, placed("one"), split("changed", stranger, own)))
        .isEqualTo("former:1");
  }

  private static ReplicaService ofCluster(String cluster) {
    return new ReplicaService(
        Tables.only(Serving.DEFAULT_APPLICATION, new BareIndex(), placed(cluster)));
  }

  private static Placed placed(String cluster) {
    return new Placed(new Holders("changed:1", List.of("former:1")), cluster);
  }

  /** One that has changed over, and one that has not: whoever has the table answers. */
  @Test
  void shouldGoOnToTheNextHolder_whenTheFirstOneHasTheOtherTable() {
    Placed placed = new Placed(new Holders("changed:1", List.of("former:1")));
    Relayed.Loop changed =
        new Relayed.Loop(new ReplicaService(Tables.only(OTHER, new BareIndex(), placed)));
    Relayed.Loop former =
        new Relayed.Loop(
            new ReplicaService(Tables.only(Serving.DEFAULT_APPLICATION, new BareIndex(), placed)));
    Transport both = split("changed", changed, former);
    assertThat(answeredBy(Serving.DEFAULT_APPLICATION, placed, both)).isEqualTo("former:1");
    assertThat(answeredBy(OTHER, placed, both)).isEqualTo("changed:1");
  }

  /** Addresses that begin so lead to one, all others to the other. */
  private static Transport split(String prefix, Transport one, Transport other) {
    return new Transport() {
      @Override
      public void ask(
          String address,
          String path,
          byte[] body,
          long forNanos,
          BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
        (address.startsWith(prefix) ? one : other).ask(address, path, body, forNanos, done);
      }

      @Override
      public void close() {}
    };
  }

  private static String answeredBy(String application, Placed placed, Transport transport) {
    var view =
        Objects.requireNonNull(
            new ReplicatedIndexAccess(
                    application,
                    new Relayed.NoTables(),
                    placed,
                    transport,
                    new SimpleMeterRegistry(),
                    System::nanoTime)
                .view(TABLE));
    assertThat(view.blockCount()).isZero();
    return Objects.requireNonNull(view.answeredBy());
  }
}
