// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Whatever is written at the same moment, the newest record ends up as the last one. */
class SiteCopiesTest {

  private static final TopicPartition FIRST = new TopicPartition(Topics.REGISTRATIONS, 0);
  private static final TopicPartition SECOND = new TopicPartition(Topics.BRIDGE_PROGRESS, 0);
  private static final SiteRecord NONE = new SiteRecord(0, Map.of());
  private static final SiteRecord FOUR = of(4, "four");
  private static final SiteRecord SIX = of(6, "six");

  private final SharedCopies log = new SharedCopies();

  private static SiteRecord of(long epoch, String topicId) {
    return new SiteRecord(epoch, Map.of(Topics.EVENTS, topicId));
  }

  private SiteRecord complete() throws Exception {
    return log.complete(log.read(), NONE);
  }

  private void assertHolds(SiteRecord record) throws Exception {
    assertThat(log.read().newest()).isEqualTo(record);
    assertThat(log.read().isComplete()).as("the last one in both").isTrue();
  }

  @Test
  void shouldWriteTheFirstRecord_whenThereIsNone() throws Exception {
    assertThat(complete()).isEqualTo(NONE);
    assertHolds(NONE);
    assertThat(log.writes()).isEqualTo(1);
  }

  @Test
  void shouldWriteNothing_whenBothCopiesAreThere() throws Exception {
    log.say(FOUR);
    assertThat(complete()).isEqualTo(FOUR);
    assertThat(log.writes()).isZero();
  }

  @Test
  void shouldCompleteTheCopies_whenOneIsMissingOrOlder() throws Exception {
    log.say(FIRST, FOUR);
    assertThat(complete()).isEqualTo(FOUR);
    assertHolds(FOUR);
    log.say(SECOND, SIX);
    assertThat(complete()).isEqualTo(SIX);
    assertHolds(SIX);
  }

  @Test
  void shouldTakeTheFirstCopy_whenTheyDifferAndNoneIsNewer() throws Exception {
    SiteRecord one = of(5, "one");
    log.say(SECOND, of(5, "other")).say(FIRST, one);
    assertThat(complete()).isEqualTo(one);
    assertHolds(one);
  }

  /** As where a process stands still between its look at the log and its record. */
  @Test
  void shouldPutTheNewerRecordBack_whenAnotherProcessWroteItMeanwhile() throws Exception {
    log.say(FIRST, FOUR);
    log.before(SIX);
    assertThat(complete()).isEqualTo(SIX);
    assertHolds(SIX);
  }

  @Test
  void shouldPutTheNewerRecordBack_whenItIsTheSitesFirst() throws Exception {
    log.before(NONE, SIX);
    assertThat(complete()).isEqualTo(SIX);
    assertHolds(SIX);
  }

  /** Whoever covered it may have been killed before it could look again. */
  @Test
  void shouldPutTheNewerRecordBack_whenAnOlderOneWasFoundBehindIt() throws Exception {
    log.say(SIX).say(FOUR);
    assertThat(complete()).isEqualTo(SIX);
    assertHolds(SIX);
  }
}
