// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.remote.WalkAnswer.AnswerWriter;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.view.ContextNames;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A walk that went to another replica and came back is the walk that would have been made here. */
class WalkBytesTest {
  private static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final int ROUNDS = 2_000;

  private final Random random = new Random(TestSeed.of(WalkBytesTest.class));

  /** Writes down all it is told. */
  private static final class Diary implements RunVisitor {
    final List<String> lines = new ArrayList<>();
    private @Nullable OwnerView owners;

    @Override
    public void begin(OwnerView view) {
      owners = view;
    }

    @Override
    public boolean change(int position, long[] ownerBits) {
      StringBuilder held = new StringBuilder(position + ":");
      OwnerView view = java.util.Objects.requireNonNull(owners);
      for (int slot = 0; slot < view.slots(); slot++) {
        if ((ownerBits[slot >>> 6] & 1L << slot) != 0) {
          held.append(' ').append(view.owner(slot));
        }
      }
      lines.add(held.toString());
      return true;
    }

    @Override
    public void end(int position) {
      lines.add("end " + position);
    }
  }

  private record Prompt(long[][] chains, int[] chainOf) implements BlockKeys {

    @Override
    public BlockKeys in(int context) {
      long[] chain = chains[chainOf[context]];
      return chainOf[context] == chainOf[0]
          ? this
          : (out, from, max) -> fill(chain, out, from, max);
    }

    @Override
    public int fill(long[] out, int from, int max) {
      return fill(chains[chainOf[0]], out, from, max);
    }

    private static int fill(long[] chain, long[] out, int from, int max) {
      int count = Math.max(0, Math.min(max, chain.length - from));
      System.arraycopy(chain, from, out, 0, count);
      return count;
    }
  }

  private final BareIndex index = new BareIndex();

  private Prompt prompt() {
    int blocks = random.nextInt(700);
    int count = 1 + random.nextInt(3);
    long[][] chains = new long[count][];
    for (int c = 0; c < count; c++) {
      chains[c] = random.longs(blocks).toArray();
    }
    int[] chainOf = IntStream.range(0, count + random.nextInt(2)).map(i -> i % count).toArray();
    Arrays.sort(chainOf);
    int until = blocks == 0 ? 0 : random.nextInt(blocks + 1);
    for (int holder = 0; holder < 1 + random.nextInt(5); holder++) {
      String name = (random.nextInt(4) == 0 ? "pool:" : "") + "e" + random.nextInt(90);
      int upTo = until == 0 ? 0 : random.nextInt(until + 1);
      for (int block = 0; block < upTo; block++) {
        int context = random.nextInt(chainOf.length);
        index.put(
            name + "/" + random.nextInt(2) + "/GPU", chains[chainOf[context]][block] ^ context);
      }
    }
    return new Prompt(chains, chainOf);
  }

  @Test
  void shouldTellTheSame_whenAWalkIsMadeElsewhere() {
    PrefixReader reader = new PrefixReader();
    OwnerView known = null;
    int runs = 0;
    index.degraded = Set.of(new PublisherId("e|1", "t", 0));
    index.lagMs = 17;
    for (int round = 0; round < ROUNDS; round++) {
      Prompt prompt = prompt();
      long[] contexts = IntStream.range(0, prompt.chainOf().length).asLongStream().toArray();
      Diary here = new Diary();
      int end = index.walk(reader, prompt, contexts, here);

      byte[] sent =
          WalkRequest.of(TABLE, 5, prompt, contexts)
              .encode(known == null ? WalkRequest.NO_OWNERS : known.id());
      WalkRequest received = WalkRequest.decode(sent);
      assertThat(received.table()).isEqualTo(TABLE);
      assertThat(received.notBefore()).isEqualTo(5);
      AnswerWriter writer = new AnswerWriter(index, received.ownersId());
      index.walk(reader, received, received.contexts(), writer);
      WalkAnswer answer = WalkAnswer.decode(writer.toByteArray(), known);
      Diary there = new Diary();

      assertThat(answer.replay(there)).isEqualTo(end);
      assertThat(there.lines).isEqualTo(here.lines);
      assertThat(answer.told()).isEqualTo(new Told(Trust.EXACT, 17, index.degraded));
      known = answer.owners();
      runs += here.lines.size();
    }
    assertThat(runs).isGreaterThan(2 * ROUNDS);
  }

  @Test
  void shouldEndWhereTheVisitorSaysSo_whenItDeclines() {
    index.put("a/0/GPU", 1);
    index.put("a/0/GPU", 2);
    index.put("b/0/GPU", 2);
    PrefixReader reader = new PrefixReader();
    WalkRequest request =
        WalkRequest.of(
            TABLE,
            TableView.ANY_OFFSET,
            new Prompt(new long[][] {{1, 2, 3}}, new int[] {0}),
            new long[] {0});
    AnswerWriter writer = new AnswerWriter(index, WalkRequest.NO_OWNERS);
    index.walk(reader, request, request.contexts(), writer);
    int[] seen = new int[2];
    int walked =
        WalkAnswer.decode(writer.toByteArray(), null)
            .replay(
                new RunVisitor() {
                  @Override
                  public boolean change(int position, long[] ownerBits) {
                    seen[0]++;
                    return position < 1;
                  }

                  @Override
                  public void end(int position) {
                    seen[1] = position;
                  }
                });
    assertThat(walked).isEqualTo(1);
    assertThat(seen).containsExactly(2, 1);
  }

  @Test
  void shouldRefuse_whenBytesAreDamagedOrOfAnotherVersion() {
    Prompt prompt = prompt();
    long[] contexts = IntStream.range(0, prompt.chainOf().length).asLongStream().toArray();
    PrefixReader reader = new PrefixReader();
    byte[] request = WalkRequest.of(TABLE, TableView.ANY_OFFSET, prompt, contexts).encode(1);
    AnswerWriter writer = new AnswerWriter(index, 1);
    index.walk(reader, prompt, contexts, writer);
    byte[] answer = writer.toByteArray();
    for (int i = 0; i < 20_000; i++) {
      onlyRefuses(() -> WalkRequest.decode(damaged(request)));
      onlyRefuses(() -> assertWhole(WalkAnswer.decode(damaged(answer), null)));
    }
    request[0] = 9;
    answer[0] = 9;
    assertThatThrownBy(() -> WalkRequest.decode(request))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("version 9");
    assertThatThrownBy(() -> WalkAnswer.decode(answer, null)).hasMessageContaining("version 9");
  }

  @Test
  void shouldRefuse_whenThereAreMoreContextsThanAnybodyAsksFor() {
    int[] chainOf = new int[WalkRequest.MAX_CONTEXTS + 1];
    Prompt prompt = new Prompt(new long[][] {{1}}, chainOf);
    byte[] request =
        WalkRequest.of(TABLE, TableView.ANY_OFFSET, prompt, new long[chainOf.length])
            .encode(WalkRequest.NO_OWNERS);
    assertThatThrownBy(() -> WalkRequest.decode(request))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("65 contexts, at most 64");
  }

  @Test
  void shouldRefuse_whenTheAnswerGrowsBeyondItsBound() {
    OwnerView owners = OwnerView.of(1, new Owner[64 * 100]);
    AnswerWriter writer = new AnswerWriter(index, WalkRequest.NO_OWNERS);
    writer.begin(owners);
    long[] bits = new long[owners.words()];
    int fit = AnswerWriter.MAX_BYTES / (bits.length * Long.BYTES + 3) - 10;
    for (int block = 0; block < fit; block++) {
      writer.change(block, bits);
    }
    assertThatThrownBy(
            () -> {
              for (int block = fit; block < fit + 100; block++) {
                writer.change(block, bits);
              }
            })
        .isInstanceOfSatisfying(
            ApiException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.TOO_MANY_ITEMS))
        .hasMessageContaining("more than 16777216 bytes");
  }

  /** Whatever was done to it, it goes forward, and speaks of owners that it names. */
  private static void assertWhole(WalkAnswer answer) {
    Diary diary = new Diary();
    int end = answer.replay(diary);
    assertThat(diary.lines).noneMatch(line -> line.contains(" null"));
    List<Integer> positions =
        diary.lines.stream()
            .filter(line -> !line.startsWith("end"))
            .map(line -> Integer.valueOf(line.substring(0, line.indexOf(':'))))
            .toList();
    assertThat(positions).isSorted().doesNotHaveDuplicates().allMatch(position -> position <= end);
  }

  private byte[] damaged(byte[] whole) {
    byte[] bytes =
        random.nextBoolean()
            ? whole.clone()
            : Arrays.copyOf(whole, random.nextInt(whole.length + 1));
    for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
      bytes[random.nextInt(Math.min(bytes.length, 200))] = (byte) random.nextInt();
    }
    return bytes;
  }

  private static void onlyRefuses(Runnable reading) {
    try {
      reading.run();
    } catch (MalformedRecordException | IllegalArgumentException e) {
      // what a refusal looks like
    }
  }

  @Test
  void shouldCarryNames_whenTheyAreAskedFor() {
    index.put("a/0/GPU", 1);
    index.announce(new ContextNames(7, "sql", null, "s"));
    index.learn("a", 3, "sql");
    NamesRequest request =
        wired(new NamesRequest(TABLE, TableView.ANY_OFFSET, 3, List.of("a", "b")));
    TableNames names = TableNames.decode(PlainMessage.encode(TableNames.of(index, request)));
    assertThat(names.blocks()).isEqualTo(1);
    assertThat(names.contexts()).containsExactly(new ContextNames(7, "sql", null, "s"));
    assertThat(names.loraNames()).isEqualTo(Map.of("a", "sql"));
    assertThat(TableNames.of(index, NamesRequest.of(TABLE)).loraNames()).isEmpty();
  }

  @Test
  void shouldCarryTheOffset_whenNamesOfAnEventAreAskedFor() {
    NamesRequest any = NamesRequest.of(TABLE);
    NamesRequest sinceEvent = any.from(300);
    assertThat(wired(sinceEvent)).isEqualTo(sinceEvent);
    assertThat(wired(any)).isEqualTo(any);
  }

  private static NamesRequest wired(NamesRequest request) {
    return PlainMessage.decode(request.encode(), NamesRequest.class);
  }
}
