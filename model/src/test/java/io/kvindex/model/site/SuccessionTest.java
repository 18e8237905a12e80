// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who says at which number that it serves, also where two say so at once. */
class SuccessionTest {

  private static final TopicPartition FIRST = new TopicPartition(Topics.REGISTRATIONS, 0);
  private static final TopicPartition SECOND = new TopicPartition(Topics.BRIDGE_PROGRESS, 0);

  private static SiteRecord serving(long number, String application) {
    return new SiteRecord(0, Map.of(), new Serving(number, application));
  }

  /** One in which somebody else's record may follow each. */
  private static final class Shared implements Succession.Log {
    private SiteRecord last = serving(4, "four");
    private int writes;
    private @Nullable SiteRecord other;
    private boolean silent;

    @Override
    public SiteRecord read() throws TimeoutException {
      if (silent && writes > 0) {
        throw new TimeoutException("silent");
      }
      return last;
    }

    @Override
    public void write(SiteRecord record) {
      writes++;
      last = other == null ? record : other;
    }
  }

  private final Shared log = new Shared();

  @Test
  void shouldTellWhatWasReplaced() throws Exception {
    ServingChange change = new Succession(log).to("mine");
    assertThat(change).isEqualTo(new ServingChange(new Serving(4, "four"), new Serving(5, "mine")));
  }

  @Test
  void shouldTellThatItIsOvertaken_whenAnotherWroteAtOnce() throws Exception {
    log.other = serving(5, "other");
    ServingChange change = new Succession(log).to("mine");
    assertThat(change.now()).isEqualTo(new Serving(5, "other"));
  }

  @Test
  void shouldWriteNothing_whenItIsSaidAlready() throws Exception {
    new Succession(log).to("four");
    assertThat(log.writes).isZero();
  }

  @Test
  void shouldHold_whenItIsWrittenAndCanNotBeReadAgain() throws Exception {
    log.silent = true;
    assertThat(new Succession(log).to("mine").now()).isEqualTo(new Serving(5, "mine"));
  }

  @Test
  void shouldTakeTheCopyThatReplicasFollow_whenTheCopiesDiffer() {
    SiteRecord one = serving(5, "one");
    SiteRecord other = serving(5, "other");
    Map<TopicPartition, SiteRecord> found = new LinkedHashMap<>();
    found.put(SECOND, other);
    found.put(FIRST, one);
    assertThat(SiteLog.newest(found)).isEqualTo(one);
    found.put(SECOND, serving(6, "later"));
    assertThat(SiteLog.newest(found)).isEqualTo(serving(6, "later"));
    assertThat(SiteLog.newest(Map.of())).isNull();
  }
}
