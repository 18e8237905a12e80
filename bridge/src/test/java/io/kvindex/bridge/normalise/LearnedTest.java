// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Attention groups: stores tell their kind, removals and placeholders only their number. */
class LearnedTest {

  private static final Map<SkipReason, Integer> NOT_INDEXED = Map.of(SkipReason.ATTENTION_GROUP, 1);

  private final Registration registration =
      new Registration(
          new PublisherId("e", "default", 0),
          "tcp://127.0.0.1:5557",
          null,
          SourceType.VLLM,
          new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT),
          List.of(""),
          null,
          SourceOptions.defaultFor(SourceType.VLLM),
          null);

  @Test
  void shouldJudgeAGroupByWhatItsStoresTold_whenLaterEventsOnlyNumberIt() {
    Learned learned = new Learned();
    Normaliser first = Normaliser.of(registration, learned);
    assertThat(first.normalise(stored(1, "sliding_window", 16)).skipped()).isEqualTo(NOT_INDEXED);
    assertThat(first.normalise(stored(2, "mla_attention", 16)).events()).hasSize(1);
    assertThat(learned.groups())
        .containsExactlyInAnyOrder(
            new GroupSpec(1, "sliding_window", 16, null),
            new GroupSpec(2, "mla_attention", 16, null));

    // A bridge that takes over knows no more than what progress holds.
    for (Normaliser next :
        List.of(first, Normaliser.of(registration, new Learned(learned.groups(), false)))) {
      assertThat(next.normalise(removed(1)).skipped()).isEqualTo(NOT_INDEXED);
      assertThat(next.normalise(removed(1)).events()).isEmpty();
      assertThat(next.normalise(stored(1, null, 0)).skipped()).isEqualTo(NOT_INDEXED);
      assertThat(next.normalise(stored(2, null, 0)).events()).hasSize(1);
      assertThat(next.normalise(removed(2)).events()).hasSize(1);
    }
  }

  @Test
  void shouldKnowAGroupsBlockSize_whenAPlaceholderLeavesItOut() {
    Normaliser normaliser = Normaliser.of(registration);
    assertThat(normaliser.normalise(stored(3, "full_attention", 256)).skipped())
        .isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(normaliser.normalise(stored(3, null, 0)).skipped())
        .isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
  }

  /** An engine that offloads announces a placeholder for each block it moves. */
  @Test
  void shouldStayMismatched_whenPlaceholdersTellNoSize() {
    Normaliser normaliser = Normaliser.of(registration);
    String wrong = "events have block_size 32,";
    assertThat(normaliser.normalise(stored(0, null, 32)).problem()).startsWith(wrong);
    NormalisedBatch placeholder = normaliser.normalise(stored("CPU", 0, null, 0));
    assertThat(placeholder.events()).hasSize(1);
    assertThat(placeholder.problem()).startsWith(wrong);
    assertThat(normaliser.normalise(stored(0, null, 0)).problem()).startsWith(wrong);
    assertThat(normaliser.normalise(stored("CPU", 0, null, 16)).problem())
        .as("a connector's size is not the engine's")
        .startsWith(wrong);
    assertThat(normaliser.normalise(removed(0)).problem()).startsWith(wrong);
    assertThat(normaliser.normalise(stored(0, null, 16)).problem()).as("set right").isNull();
    assertThat(normaliser.normalise(stored("CPU", 0, null, 32)).problem()).isNull();
    assertThat(normaliser.normalise(stored(0, null, 32)).problem()).startsWith(wrong);
  }

  @Test
  void shouldPassRemovals_whenNothingIsKnownOfTheGroup() {
    // Its blocks may be indexed: a bridge that did not remember groups may have followed before.
    assertThat(Normaliser.of(registration).normalise(removed(2)).events()).hasSize(1);
  }

  @Test
  void shouldForgetGroups_whenANewLifeBegins() {
    Learned learned = new Learned();
    Normaliser normaliser = Normaliser.of(registration, learned);
    normaliser.normalise(stored(1, "sliding_window", 16));
    learned.forget(false);
    assertThat(learned.groups()).isEmpty();
    assertThat(normaliser.normalise(removed(1)).events()).hasSize(1);
  }

  private static EngineBatch stored(int group, @Nullable String kind, int blockSize) {
    return stored("GPU", group, kind, blockSize);
  }

  private static EngineBatch stored(
      String medium, int group, @Nullable String kind, int blockSize) {
    return batch(
        new EngineEvent.Stored(
            new CacheScope(medium, group, kind, 0, null, null),
            Hashes.of(7),
            Parent.UNKNOWN,
            TokenIds.NONE,
            blockSize,
            EngineEvent.Adapter.NONE,
            null,
            Hashes.EMPTY,
            null));
  }

  private static EngineBatch removed(int group) {
    return batch(
        new EngineEvent.Removed(
            new CacheScope("GPU", group, null, 0, null, null), Hashes.of(7), Hashes.EMPTY));
  }

  private static EngineBatch batch(EngineEvent event) {
    return new EngineBatch(0, null, List.of(event), List.of());
  }
}
