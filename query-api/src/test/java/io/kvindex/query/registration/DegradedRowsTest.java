// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who is named because events of whom were lost. */
class DegradedRowsTest {

  private final List<Registered> registered = new ArrayList<>();
  private Map<PublisherId, Long> unconnected = Map.of();

  @Test
  void shouldNameTheInstanceOnce_whenSeveralRanksLack() {
    register("b", "t", 0, "m", null);
    register("b", "t", 1, "m", null);
    register("a", "t", 0, "m", null);
    assertThat(rows("t", "m").degraded(Set.of(id("b", "t", 0), id("b", "t", 1))))
        .containsExactly("b");
    assertThat(rows("t", "m").degraded(Set.of(id("b", "t", 1), id("a", "t", 0))))
        .containsExactly("a", "b");
  }

  @Test
  void shouldNameNobody_whenThePublisherIsOfAnotherTableOrRegisteredNoMore() {
    register("a", "t", 0, "m", null);
    register("a", "u", 0, "m", null);
    register("a", "t", 1, "other", null);
    assertThat(rows("t", "m").degraded(Set.of(id("a", "u", 0)))).isEmpty();
    assertThat(rows("u", "m").degraded(Set.of(id("a", "u", 0)))).containsExactly("a");
    assertThat(rows("t", "m").degraded(Set.of(id("a", "t", 1)))).isEmpty();
    assertThat(rows("t", "other").degraded(Set.of(id("a", "t", 1)))).containsExactly("a");
    assertThat(rows("t", "m").degraded(Set.of(id("gone", "t", 0)))).isEmpty();
  }

  @Test
  void shouldNameWhomAPoolServes_whenThePoolLacks() {
    register("all", "t", 0, "m", null);
    register("none", "t", 0, "m", List.of());
    register("one", "t", 0, "m", List.of("p"));
    register("other", "t", 0, "m", List.of("q"));
    register("foreign", "u", 0, "m", null);
    pool("p", "t");
    pool("q", "t");
    assertThat(rows("t", "m").degraded(Set.of(id("p", "t", 0)))).containsExactly("all", "one", "p");
    assertThat(rows("t", "m").degraded(Set.of(id("p", "t", 0), id("q", "t", 0))))
        .containsExactly("all", "one", "other", "p", "q");
    assertThat(rows("u", "m").degraded(Set.of(id("p", "t", 0)))).isEmpty();
  }

  @Test
  void shouldNotEvenNameThePool_whenItServesNobody() {
    register("none", "t", 0, "m", List.of());
    pool("p", "t");
    assertThat(rows("t", "m").degraded(Set.of(id("p", "t", 0)))).isEmpty();
  }

  @Test
  void shouldWorkItOutOnce_whenAskedAgainWithTheSamePublishers() {
    register("a", "t", 0, "m", null);
    TableRows rows = rows("t", "m");
    Set<PublisherId> degraded = Set.of(id("a", "t", 0));
    assertThat(rows.degraded(degraded)).isSameAs(rows.degraded(degraded));
    assertThat(rows.degraded(Set.of())).isEmpty();
    assertThat(rows.degraded(degraded)).containsExactly("a");
  }

  @Test
  void shouldNameWhoIsNotConnected_whenItHasToBe() {
    register("a", "t", 0, "m", null);
    register("b", "t", 0, "m", null);
    register("none", "t", 0, "m", List.of());
    pool("p", "t");
    detached("file", "t");
    TableRows rows = rows("t", "m");
    assertThat(rows.degraded(Set.of())).isEmpty();
    unconnected = Map.of(id("b", "t", 0), 1L);
    assertThat(rows.degraded(Set.of())).containsExactly("b");
    assertThat(rows.degraded(Set.of(id("a", "t", 0)))).containsExactly("a", "b");
    unconnected = Map.of(id("b", "t", 0), 0L, id("file", "t", 0), 4L, id("gone", "t", 0), 1L);
    assertThat(rows.degraded(Set.of())).as("of a former registration, or expected").isEmpty();
    unconnected = Map.of(id("p", "t", 0), 3L);
    assertThat(rows.degraded(Set.of())).containsExactly("a", "b", "file", "p");
    assertThat(rows.degraded(Set.of())).isSameAs(rows.degraded(Set.of()));
  }

  private TableRows rows(String tenant, String model) {
    List<TableRows> sizes =
        RegistrationSnapshot.of(registered, Media.standard(), () -> unconnected)
            .tables(tenant, model)
            .get(16);
    return Objects.requireNonNull(sizes).get(0);
  }

  private static PublisherId id(String instance, String tenant, int rank) {
    return new PublisherId(instance, tenant, rank);
  }

  private void pool(String instance, String tenant) {
    add(id(instance, tenant, 0), "m", SourceType.MOONCAKE, null, false);
  }

  private void detached(String instance, String tenant) {
    add(id(instance, tenant, 0), "m", SourceType.VLLM, null, true);
  }

  private void register(
      String instance, String tenant, int rank, String model, @Nullable List<String> pools) {
    add(id(instance, tenant, rank), model, SourceType.VLLM, pools, false);
  }

  private void add(
      PublisherId publisher,
      String model,
      SourceType type,
      @Nullable List<String> pools,
      boolean detached) {
    Registration registration =
        new Registration(
            publisher,
            "tcp://127.0.0.1:1",
            null,
            type,
            new TableId(publisher.tenantId(), model, 16, HashProfile.XXH3_DEFAULT),
            List.of(""),
            null,
            new SourceOptions(
                CopyPolicy.COUNT,
                pools,
                "",
                Set.of(),
                LowerTier.OWN,
                null,
                0,
                Map.of(),
                null,
                null,
                null,
                Map.of(),
                detached),
            null);
    registered.add(new Registered(registration, registered.size()));
  }
}
