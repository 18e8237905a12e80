// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.table.TableDump;
import io.kvindex.streams.view.DumpVisitor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableDumpTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);

  @TempDir Path dir;
  private StoredIndex store;

  @BeforeEach
  void open() throws Exception {
    store = new StoredIndex(dir);
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Notes everything; refuses a block that comes before its parent. */
  private static final class Collected implements DumpVisitor {
    private final Map<String, Set<Long>> blocks = new HashMap<>();
    private final List<String> runs = new ArrayList<>();
    private final List<LeftOut> leftOut = new ArrayList<>();
    private int longest;

    @Override
    public void run(
        Owner owner, long context, Parent parent, long[] hashes, long[] locals, int count) {
      String name = owner.instanceId() + "/" + owner.rank() + "/" + owner.medium();
      Set<Long> of = blocks.computeIfAbsent(name, o -> new HashSet<>());
      if (parent.kind() == Parent.Kind.HASH) {
        assertThat(of).as("parent first").contains(parent.hash());
      }
      for (int i = 0; i < count; i++) {
        assertThat(of.add(hashes[i])).as("told once").isTrue();
      }
      runs.add(name + " " + (parent.kind() == Parent.Kind.ROOT ? "root" : "child") + " " + count);
      longest = Math.max(longest, count);
    }

    @Override
    public void leftOut(LeftOut reason) {
      leftOut.add(reason);
    }
  }

  private Collected dump() throws Exception {
    Collected collected = new Collected();
    store.view().dump(Engine.TABLE, context -> true, collected);
    return collected;
  }

  private void take(io.kvindex.model.event.EventRecord record) {
    store.take(record);
  }

  @Test
  void shouldTellRunsDeviceFirst_whenSeveralTiersHoldBlocks() throws Exception {
    Engine engine = new Engine("a");
    take(engine.batch(new Prompt("abc").stored(new Place("CPU", 0, 0, null))));
    take(engine.batch(new Prompt("abc").stored(GPU), new Prompt("abd").stored(GPU, 2, 3)));

    Collected told = dump();

    assertThat(told.runs).hasSize(3).last().isEqualTo("a/0/CPU root 3");
    assertThat(told.runs).contains("a/0/GPU root 3", "a/0/GPU child 1");
  }

  @Test
  void shouldTellOnlyWhatCounts_whenBlocksWaitArePooledOrOfAFormerLife() throws Exception {
    Engine engine = new Engine("a");
    take(engine.batch(new Prompt("ab").stored(GPU), new Prompt("xyz").stored(GPU, 2, 3)));
    take(new Engine("pool").type(SourceType.MOONCAKE).batch(new Prompt("ab").stored(GPU)));
    take(
        PeerImport.record(
            Engine.TABLE,
            new PublisherId("c", "default", 0),
            SourceType.VLLM,
            1,
            List.of(new Prompt("ab").stored(PeerImport.place("GPU", 0)))));
    take(new Engine("gone").batch(new Prompt("ab").stored(GPU)));
    take(new Engine("gone").restart().opening());

    Collected told = dump();

    assertThat(told.runs).containsExactly("a/0/GPU root 2", "c/0/GPU root 2");
    assertThat(told.leftOut).containsExactly(DumpVisitor.LeftOut.ORPHAN);
  }

  @Test
  void shouldTellABlockOnceAndWhole_whenItHasSeveralGroups() throws Exception {
    Engine engine = new Engine("a").traits(new SourceTraits(CopyPolicy.SET, Set.of(), 0, 2));
    take(engine.batch(new Prompt("ab").stored(new Place("GPU", 0, 0, null))));
    take(engine.batch(new Prompt("a").stored(new Place("GPU", 0, 1, null))));

    Collected told = dump();

    assertThat(told.runs).containsExactly("a/0/GPU root 1");
    assertThat(told.leftOut).containsExactly(DumpVisitor.LeftOut.INCOMPLETE);
  }

  @Test
  void shouldTellWantedContextsOnly() throws Exception {
    StatedContext lora = new StatedContext("l", null, null, null);
    Prompt prompt = new Prompt("ab");
    Engine engine = new Engine("a");
    take(
        engine.batch(
            new Stored(
                GPU,
                lora,
                Parent.ROOT,
                io.kvindex.model.event.Hashes.of(new long[] {1, 2}),
                prompt.locals(0, 2),
                io.kvindex.model.event.Hashes.EMPTY),
            prompt.stored(GPU)));

    Collected plain = new Collected();
    store.view().dump(Engine.TABLE, context -> context == 0, plain);
    Collected adapter = new Collected();
    store
        .view()
        .dump(
            Engine.TABLE,
            context -> context == ContextHash.of(lora.loraName(), lora.namespace(), lora.salt()),
            adapter);

    assertThat(plain.blocks.get("a/0/GPU")).doesNotContain(1L, 2L).hasSize(2);
    assertThat(adapter.blocks.get("a/0/GPU")).containsExactlyInAnyOrder(1L, 2L);
  }

  @Test
  void shouldTellAllInOrder_whenFarMoreBlocksThanFit() throws Exception {
    long seed = TestSeed.of(TableDumpTest.class);
    Random random = new Random(seed);
    Engine engine = new Engine("a");
    List<String> paths = new ArrayList<>(List.of(""));
    Set<Long> expected = new HashSet<>();
    for (int i = 0; i < 5_000; i++) {
      String path = paths.get(random.nextInt(paths.size())) + (char) ('!' + random.nextInt(2_000));
      paths.add(path);
      take(engine.batch(new Prompt(path).stored(GPU, path.length() - 1, path.length())));
      expected.add(Prompt.engineHash(path));
    }

    for (int capacity : new int[] {2, 100, 1_500, 1_000_000}) {
      Collected told = new Collected();
      dump(); // has a checkpoint written
      store.checkpoint.read(
          rows -> {
            new TableDump(rows, capacity, context -> true, told).run(Engine.TABLE);
            return rows;
          });
      assertThat(told.blocks.get("a/0/GPU")).as("capacity %d", capacity).isEqualTo(expected);
      if (capacity == 2) {
        assertThat(told.longest).isLessThanOrEqualTo(2);
      }
    }
  }
}
