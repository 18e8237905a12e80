// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.ModelTable;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random logs of several publishers against a model without hashes, rows or index. */
class RandomLogTest {

  private static final int RECORDS = Integer.getInteger("kvindex.test.records", 3_000);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void shouldAnswerLikeModel_whateverHappensInBetween(long seed) {
    Random random = new Random(seed);
    RandomLog source = new RandomLog(random);
    ModelTable model = new ModelTable();
    List<EventRecord> old = new ArrayList<>();
    int matched = 0;
    IndexDriver index = new IndexDriver();
    for (int i = 0; i < RECORDS; i++) {
      EventRecord record = source.next();
      model.apply(record);
      index.feed(record);
      old.add(record);
      if (random.nextInt(4) == 0) {
        index.feed(old.get(random.nextInt(old.size())));
      }
      if (i % 25 == 0) {
        matched += compare(model, index, source, "seed " + seed + " record " + i);
      }
    }
    assertThat(matched).as("blocks held in compared answers").isGreaterThan(1_000);
  }

  /** How many blocks were held in all answers. */
  private static int compare(ModelTable model, IndexDriver index, RandomLog source, String what) {
    int blocks = 0;
    for (String prompt : source.prompts()) {
      blocks += compare(model, index, null, prompt, what);
    }
    for (String prompt : source.salted()) {
      blocks += compare(model, index, RandomLog.SALT, prompt, what);
      compare(model, index, null, prompt, what);
    }
    return blocks;
  }

  private static int compare(
      ModelTable model, IndexDriver index, @Nullable String salt, String prompt, String what) {
    List<String> expected = model.holders(salt, prompt);
    List<String> answers = new ArrayList<>();
    long context = ContextHash.of(null, null, salt);
    Answers.of(index.view(), Engine.TABLE, context, new Prompt(prompt).seqHashes())
        .forEach(owners -> answers.add(String.join(",", owners)));
    assertThat(answers).as("%s prompt %s salt %s", what, prompt, salt).isEqualTo(expected);
    return expected.size();
  }
}
