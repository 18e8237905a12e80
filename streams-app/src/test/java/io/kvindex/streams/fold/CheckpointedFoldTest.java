// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A table that is loaded from a checkpoint at a random record and told the rest is the same as one
 * that never stopped, and goes on as that one does.
 */
class CheckpointedFoldTest {

  private static final int RECORDS = Integer.getInteger("kvindex.test.records", 3_000);
  private static final int WRITTEN_EVERY = 40;
  private static final int LOADED_EVERY = 60;

  /** All of them are met. */
  private static final Limits LIMITS = new Limits(4, Duration.ofSeconds(8), 25, 6, 100, 12);

  /** A record, null = records of the log are missing here. */
  private record Taken(@Nullable EventRecord event, long ms) {}

  @TempDir private Path directory;
  private Random random = new Random();
  private List<Engine> engines = List.of();

  @Test
  void shouldEqualATableThatNeverStopped_whenLoadedAtAnyRecordAndToldTheRest() {
    long seed = Long.getLong("kvindex.test.seed", System.nanoTime());
    System.out.println("CheckpointedFoldTest seed " + seed);
    random = new Random(seed);
    List<Taken> log = log();
    int loaded = 0;
    CheckpointedIndex reference = CheckpointedIndex.inMemory(LIMITS);
    CheckpointedIndex table = CheckpointedIndex.open(directory, LIMITS);
    int written = -1; // record before which the last checkpoint was written
    for (int i = 0; i < log.size(); i++) {
      if (random.nextInt(WRITTEN_EVERY) == 0) {
        table.checkpoint();
        written = i;
      }
      take(reference, log.get(i));
      take(table, log.get(i));
      if (written >= 0 && random.nextInt(LOADED_EVERY) == 0) {
        table.kill();
        table = CheckpointedIndex.open(directory, LIMITS);
        for (Taken missed : log.subList(written, i + 1)) {
          take(table, missed);
        }
        assertThat(differences(table, reference))
            .as("seed %d, loaded before record %d, told up to %d", seed, written, i)
            .isEmpty();
        loaded++;
      }
    }
    assertThat(differences(table, reference)).as("seed %d, at the end", seed).isEmpty();
    assertThat(loaded).isPositive();
    table.close();
    table = CheckpointedIndex.open(directory, LIMITS);
    assertThat(differences(table, reference)).as("seed %d, closed and opened", seed).isEmpty();
    table.kill();
    for (Outcome outcome : Outcome.values()) {
      System.out.print(outcome + " " + reference.counts().of(outcome) + " ");
    }
    System.out.println("loaded " + loaded + " lines " + reference.dump().size());
  }

  private static void take(CheckpointedIndex index, Taken next) {
    if (next.event() == null) {
      index.missRecords();
    } else {
      index.take(next.event(), next.ms());
    }
  }

  private static List<String> differences(CheckpointedIndex table, CheckpointedIndex reference) {
    List<String> mine = table.dump();
    List<String> theirs = reference.dump();
    Set<String> here = new HashSet<>(mine);
    Set<String> there = new HashSet<>(theirs);
    return Stream.concat(
            mine.stream().filter(line -> !there.contains(line)).map(line -> "here " + line),
            theirs.stream().filter(line -> !here.contains(line)).map(line -> "there " + line))
        .limit(30)
        .toList();
  }

  // ------------------------------------------------------------------- the log

  private List<Taken> log() {
    RandomLog common = new RandomLog(random);
    engines =
        List.of(
            new Engine("g1").table(other()).traits(shards(3)).type(SourceType.VLLM),
            new Engine("g2").table(other()),
            new Engine("g3")
                .table(other())
                .traits(new SourceTraits(CopyPolicy.COUNT, Set.of(), 60, 1)),
            new Engine("g4").table(other()).type(SourceType.SGLANG));
    List<EventRecord> delayed = new ArrayList<>();
    List<Taken> log = new ArrayList<>();
    long ms = 1_000_000;
    while (log.size() < RECORDS) {
      ms += random.nextInt(500);
      if (random.nextInt(1_000) == 0) {
        log.add(new Taken(null, ms));
      }
      EventRecord next = random.nextInt(3) > 0 ? common.next() : ofOwn(common);
      // Some come late, some never.
      int fate = random.nextInt(30);
      if (fate == 0) {
        delayed.add(next);
      } else if (fate > 1 || random.nextInt(3) > 0) {
        log.add(new Taken(next, ms));
      }
      if (!delayed.isEmpty() && random.nextInt(6) == 0) {
        log.add(new Taken(delayed.remove(random.nextInt(delayed.size())), ms));
      }
    }
    return log;
  }

  private static TableId other() {
    return new TableId("default", "other", 2, HashProfile.XXH3_DEFAULT);
  }

  private static SourceTraits shards(int count) {
    return SourceTraits.defaultFor(SourceType.VLLM).withShards(count);
  }

  /** In another table: several groups, namespaces, names that mean different things. */
  private EventRecord ofOwn(RandomLog common) {
    int which = random.nextInt(engines.size());
    Engine engine = engines.get(which);
    if (random.nextInt(80) == 0) {
      engine.restart();
    }
    KvEvent[] events = new KvEvent[1 + random.nextInt(3)];
    for (int i = 0; i < events.length; i++) {
      events[i] = event(which, common);
    }
    return engine.batch(events);
  }

  private KvEvent event(int which, RandomLog common) {
    Prompt prompt = new Prompt(common.prompts().get(random.nextInt(common.prompts().size())));
    int length = prompt.path().length();
    int from = random.nextInt(3) > 0 ? 0 : random.nextInt(length);
    int to = from + 1 + random.nextInt(length - from);
    String medium = random.nextInt(3) > 0 ? "GPU" : "CPU";
    int group = which < 2 ? random.nextInt(random.nextInt(4) == 0 ? 3 : 2) : 0;
    Place place = new Place(medium, 0, group, null);
    int what = random.nextInt(40);
    if (what == 0) {
      return new Cleared(0, ClearScope.values()[random.nextInt(ClearScope.values().length)]);
    } else if (what < 18) {
      return prompt.removed(place, from, to);
    }
    String namespace = random.nextInt(4) == 0 ? "ns" : null;
    String lora = random.nextInt(8) == 0 ? "l" + random.nextInt(9) : null;
    StatedContext context = new StatedContext(lora, null, namespace, null);
    Parent parent =
        from == 0 ? Parent.ROOT : Parent.of(Prompt.engineHash(prompt.path().substring(0, from)));
    Stored stored = prompt.stored(place, context, parent, from, to);
    if (what == 18 && which > 1) {
      // Says something else of names that others use, too.
      Hashes locals = new Prompt(common.prompts().get(0)).locals(from, to);
      return new Stored(place, context, parent, stored.engineHashes(), locals, Hashes.EMPTY);
    }
    return stored;
  }
}
