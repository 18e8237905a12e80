// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static io.kvindex.model.site.SharedCopies.serving;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Who says at which number that it serves, also where two say so at once. */
class SuccessionTest {

  private static final TopicPartition FIRST = new TopicPartition(Topics.REGISTRATIONS, 0);
  private static final TopicPartition SECOND = new TopicPartition(Topics.BRIDGE_PROGRESS, 0);

  private final SharedCopies log = new SharedCopies().say(serving(4, "four"));

  @Test
  void shouldTellWhatWasReplaced() throws Exception {
    ServingChange change = new Succession(log).to("mine");
    assertThat(change).isEqualTo(new ServingChange(new Serving(4, "four"), new Serving(5, "mine")));
  }

  @Test
  void shouldTellThatItIsOvertaken_whenAnotherWroteAtOnce() throws Exception {
    log.behind(serving(5, "other"));
    ServingChange change = new Succession(log).to("mine");
    assertThat(change.now()).isEqualTo(new Serving(5, "other"));
  }

  @Test
  void shouldWriteNothing_whenItIsSaidAlready() throws Exception {
    new Succession(log).to("four");
    assertThat(log.writes()).isZero();
  }

  @Test
  void shouldHold_whenItIsWrittenAndCanNotBeReadAgain() throws Exception {
    log.silent();
    assertThat(new Succession(log).to("mine").now()).isEqualTo(new Serving(5, "mine"));
  }

  @Test
  void shouldTakeTheCopyThatReplicasFollow_whenTheCopiesDiffer() throws Exception {
    SiteRecord one = serving(5, "one");
    SharedCopies both = new SharedCopies().say(SECOND, serving(5, "other")).say(FIRST, one);
    assertThat(both.read().newest()).isEqualTo(one);
    both.say(SECOND, serving(6, "later"));
    assertThat(both.read().newest()).isEqualTo(serving(6, "later"));
    assertThat(new SharedCopies().read().newest()).isNull();
  }

  /** As where this process stands still between its look at the log and its record. */
  @Test
  void shouldPutTheNewerRecordBack_whenTheSiteHasChangedMoreThanOnceMeanwhile() throws Exception {
    SiteRecord six = serving(6, "six");
    log.before(serving(5, "five"), six);
    ServingChange change = new Succession(log).to("mine");
    assertThat(change.now()).isEqualTo(six.serving());
    assertThat(log.read().newest()).isEqualTo(six);
    assertThat(log.read().isComplete()).as("the last one in both").isTrue();
  }
}
