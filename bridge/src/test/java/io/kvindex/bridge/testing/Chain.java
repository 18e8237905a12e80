// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads an event log as the tables do: each event id once, each record behind the one it names. */
public final class Chain {

  private Chain() {}

  /**
   * The records a consumer applies: duplicates by event id dropped. Fails unless each names the one
   * before it.
   */
  public static List<EventRecord> of(List<EventRecord> log) {
    List<EventRecord> applied = new ArrayList<>();
    @Nullable Long last = null;
    for (EventRecord record : log) {
      long id = record.position().eventId();
      if (last != null && Long.compareUnsigned(id, last) <= 0) {
        continue;
      }
      assertThat(record.after()).as("what record %s comes after", id).isEqualTo(last);
      applied.add(record);
      last = id;
    }
    return applied;
  }

  /** Event ids a consumer applies, in order. */
  public static List<Long> ids(List<EventRecord> log) {
    return of(log).stream().map(record -> record.position().eventId()).toList();
  }
}
