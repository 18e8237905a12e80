// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.remote.Relayed.Placed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A question never meets tables of another log. */
class AddressedTest {

  private static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final byte[] QUESTION = NamesRequest.of(TABLE).encode();

  /** The answer to a question about a log. */
  private static byte[] ask(ReplicaService service, String log) {
    byte[][] answer = new byte[1][];
    Throwable[] refusal = new Throwable[1];
    ReplicaService.aboutLog(() -> log, new Relayed.Loop(service))
        .ask(
            "a:1",
            ReplicaService.NAMES,
            QUESTION,
            0,
            (body, problem) -> {
              answer[0] = body;
              refusal[0] = problem;
            });
    if (refusal[0] instanceof ApiException refused) {
      throw refused;
    }
    return answer[0];
  }

  /** As replicas once wrote them; those of before and after are in one group for a moment. */
  @ParameterizedTest
  @ValueSource(bytes = {2, 3, 4, 5})
  void shouldRefuse_whenItIsAddressedAsFormerVersionsDid(byte version) {
    var names = Objects.requireNonNull(ofLog("one").byPath().get(ReplicaService.NAMES));
    assertThatThrownBy(() -> names.to(new byte[] {version, 3, 'o', 'n', 'e'}, null))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("version " + version);
  }

  @Test
  void shouldRefuse_whenItIsOfAnotherSite() {
    ReplicaService service = ofLog("one");
    assertThat(ask(service, "one")).isNotEmpty();
    assertThat(ask(service, "")).isNotEmpty();
    assertThat(ask(ofLog(""), "one")).isNotEmpty();
    assertThatThrownBy(() -> ask(service, "another"))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("of the events topic one, not of another");
  }

  @Test
  void shouldAskTheNextHolder_whenTheFirstOnesAddressBelongsToAnotherSiteNow() {
    Relayed.Loop stranger = new Relayed.Loop(ofLog("another"));
    Relayed.Loop own = new Relayed.Loop(ofLog("one"));
    assertThat(answeredBy(placed("one"), split("stranger", stranger, own))).isEqualTo("own:1");
  }

  private static ReplicaService ofLog(String log) {
    return new ReplicaService(new BareIndex(), placed(log), Relayed.ID);
  }

  private static Placed placed(String log) {
    return new Placed(log);
  }

  /** Addresses that begin so lead to one, all others to the other. */
  private static Transport split(String prefix, Transport one, Transport other) {
    return (address, path, body, forNanos, reply) ->
        (address.startsWith(prefix) ? one : other).ask(address, path, body, forNanos, reply);
  }

  private static String answeredBy(Placed placed, Transport transport) {
    var view =
        Objects.requireNonNull(
            new ReplicatedIndexAccess(
                    new Relayed.NoTables(),
                    placed,
                    Relayed.ID,
                    () -> List.of("stranger:1", "own:1"),
                    transport,
                    new SimpleMeterRegistry(),
                    System::nanoTime)
                .view(TABLE));
    assertThat(view.blockCount()).isZero();
    return Objects.requireNonNull(view.answeredBy());
  }
}
