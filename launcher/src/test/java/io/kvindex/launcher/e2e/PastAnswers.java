// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Asks with {@code query-at} what was answered at a moment. */
final class PastAnswers {

  private final CommandRun command;
  private final String kafka;

  PastAnswers(CommandRun command, String kafka) {
    this.command = command;
    this.kafka = kafka;
  }

  /** What was answered at a moment to the first prompts of a seed. */
  record Moment(Instant when, long seed, List<JsonNode> answers) {}

  /** Whatever comes after it has another time: the broker's clock has milliseconds. */
  static Instant now() {
    Instant now = Instant.now();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    return now;
  }

  /** Asserts that the same is said of a moment now. */
  void askAgain(Moment moment, int prompts) throws IOException {
    Random random = new Random(moment.seed());
    for (int i = 0; i < prompts; i++) {
      assertThat(ask(moment.when(), "default", 16, LoadedEngines.prompt(random)))
          .as("prompt %d at %s", i, moment.when())
          .isEqualTo(moment.answers().get(i));
    }
  }

  /** The rows that were answered at a moment; what is not known is on the error output. */
  JsonNode ask(Instant when, String tenant, int blockSize, int[] prompt) throws IOException {
    String tokens =
        Arrays.stream(prompt).mapToObj(Integer::toString).collect(Collectors.joining(","));
    assertThat(
            command.run(
                "query-at",
                when.toString(),
                "--kafka",
                kafka,
                "--tenant",
                tenant,
                "--model",
                Api.MODEL,
                "--block-size",
                Integer.toString(blockSize),
                "--tokens",
                tokens,
                "--json"))
        .isZero();
    return Api.JSON.readTree(command.out()).path(tenant);
  }
}
