// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.testing.drill.Text.Kind;
import io.kvindex.testing.drill.TruthCheck.Verdict;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TruthCheckTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Text TEXT = new Text(Kind.CONVERSATION, 1, 2, 3);

  private final TruthCheck check = new TruthCheck(TimeUnit.SECONDS.toNanos(8));

  private static JsonNode row(int blocks) {
    int tokens = blocks * Text.BLOCK;
    return JSON.createObjectNode().put("longest_matched", tokens).put("GPU", tokens);
  }

  /** 0 blocks, from 100.0-100.1 s on 16, from 110.0-110.1 s on 32, from 130.0-130.1 s on none. */
  private static Held history() {
    Held held = new Held(TEXT);
    held.change(ms(100_000), ms(100_100), 16);
    held.change(ms(110_000), ms(110_100), 32);
    held.change(ms(130_000), ms(130_100), 0);
    return held;
  }

  private static long ms(long ms) {
    return TimeUnit.MILLISECONDS.toNanos(ms);
  }

  private Verdict at(@Nullable Held held, int blocks, long sentMs) {
    return check.judge(held, row(blocks), ms(sentMs), ms(sentMs + 20));
  }

  @ParameterizedTest
  @CsvSource({
    "99000,0,RIGHT",
    "99000,1,WRONG", // it is not held yet
    "99990,16,RIGHT", // it came while the question was under way
    "100050,7,RIGHT", // half of a batch is applied
    "104000,0,RIGHT", // 4 s behind
    "108000,0,RIGHT", // 8 s behind, in the middle of the change
    "108101,0,LATE",
    "109000,16,RIGHT",
    "109000,15,LATE", // part of a batch that came 9 s before
    "109000,17,WRONG", // more than it ever held by then
    "109000,32,WRONG",
    "118000,16,RIGHT",
    "118101,16,LATE",
    "125000,32,RIGHT",
    "125000,31,LATE",
    "129990,31,RIGHT", // the eviction is under way
    "138000,32,RIGHT",
    "138101,32,LATE", // a ghost of 8 s
    "138101,33,WRONG",
    "437000,32,LATE",
    "439000,32,WRONG", // nobody may remember that
    "439000,0,RIGHT"
  })
  void shouldTakeWhatWasTrueWithinTheTimeAllowed(long sentMs, int blocks, Verdict expected) {
    assertThat(at(history(), blocks, sentMs)).isEqualTo(expected);
  }

  @Test
  void shouldTakeNothingButZero_whenTheEngineNeverHadIt() {
    assertThat(at(null, 0, 5_000)).isEqualTo(Verdict.RIGHT);
    assertThat(at(null, 1, 5_000)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void shouldRefuseARowThatIsMissingOrContradictsItself() throws Exception {
    long now = ms(120_000);
    JsonNode missing = JSON.createObjectNode().path("vllm-1");
    assertThat(check.judge(null, missing, now, now)).isEqualTo(Verdict.WRONG);
    JsonNode half = JSON.readTree("{\"longest_matched\":520,\"GPU\":520}");
    assertThat(check.judge(history(), half, now, now)).isEqualTo(Verdict.WRONG);
    JsonNode other = JSON.readTree("{\"longest_matched\":512,\"GPU\":0}");
    assertThat(check.judge(history(), other, now, now)).isEqualTo(Verdict.WRONG);
  }

  @Test
  void shouldTakeThePresentOnly_whenNothingOlderIsAllowed() {
    TruthCheck exactly = new TruthCheck(0);
    long now = ms(120_000);
    assertThat(exactly.judge(history(), row(32), now, now)).isEqualTo(Verdict.RIGHT);
    assertThat(exactly.judge(history(), row(16), now, now)).isEqualTo(Verdict.LATE);
    assertThat(exactly.judge(history(), row(33), now, now)).isEqualTo(Verdict.WRONG);
  }
}
