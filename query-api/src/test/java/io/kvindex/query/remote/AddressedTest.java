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
import org.junit.jupiter.api.Test;

/** A question never meets another application's table. */
class AddressedTest {

  private static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final byte[] QUESTION = NamesRequest.of(TABLE).encode();
  private static final String OTHER = "kvindex-table-1";

  private static byte[] about(String application) {
    return new Addressed(application, QUESTION).encode();
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

  /** One that has changed over, and one that has not: whoever has the table answers. */
  @Test
  void shouldGoOnToTheNextHolder_whenTheFirstOneHasTheOtherTable() {
    Placed placed = new Placed(new Holders("changed:1", List.of("former:1")));
    Relayed.Loop changed =
        new Relayed.Loop(new ReplicaService(Tables.only(OTHER, new BareIndex(), placed)));
    Relayed.Loop former =
        new Relayed.Loop(
            new ReplicaService(Tables.only(Serving.DEFAULT_APPLICATION, new BareIndex(), placed)));
    Transport both =
        new Transport() {
          @Override
          public void ask(
              String address,
              String path,
              byte[] body,
              long forNanos,
              java.util.function.BiConsumer<
                      byte @org.jspecify.annotations.Nullable [],
                      @org.jspecify.annotations.Nullable Throwable>
                  done) {
            (address.startsWith("changed") ? changed : former)
                .ask(address, path, body, forNanos, done);
          }

          @Override
          public void close() {}
        };
    assertThat(answeredBy(Serving.DEFAULT_APPLICATION, placed, both)).isEqualTo("former:1");
    assertThat(answeredBy(OTHER, placed, both)).isEqualTo("changed:1");
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
