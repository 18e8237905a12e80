// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ChangelogWatchTest {

  private final List<String> told = new ArrayList<>();
  private @Nullable LocalIdentity found;
  private final ChangelogWatch watch = new ChangelogWatch(() -> found, told::add);

  private void look(@Nullable String changelog, int times) {
    found = changelog == null ? null : LocalIdentity.of("cluster", changelog);
    for (int i = 0; i < times; i++) {
      watch.look();
    }
  }

  @Test
  void shouldTellOnce_whenTheChangelogIsGoneForSeveralLooks() {
    look("", 9); // the very first replica starts before it is made
    look("one", 9);
    look("", ChangelogWatch.LOOKS - 1);
    look("one", 1);
    look("", ChangelogWatch.LOOKS - 1);
    look(null, 9); // Kafka does not say
    assertThat(told).isEmpty();
    look("", 9);
    assertThat(told).singleElement().asString().contains("was deleted while", "stop all replicas");
  }

  @Test
  void shouldTell_whenAnotherOneIsThere() {
    look("one", 1);
    look("", 1);
    look("two", ChangelogWatch.LOOKS - 1);
    assertThat(told).singleElement().asString().contains("deleted and created again");
  }
}
