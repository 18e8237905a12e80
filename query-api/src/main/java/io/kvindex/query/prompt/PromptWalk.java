// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.query.registration.TableRows;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Walks prompts through tables; the same for all dialects. Keeps its buffers, so that a walk
 * allocates nothing once they have grown. To be used by one thread at a time.
 */
public final class PromptWalk {
  private final PrefixReader reader = new PrefixReader();
  private final PromptKeys keys = new PromptKeys();
  private final TimedKeys timed = new TimedKeys();
  private final Map<HashProfile, SeqHash> hashes = new HashMap<>();
  private final Map<HashProfile, ContextKeys> contextKeys = new HashMap<>();

  /** A walk for one thread. */
  public PromptWalk() {}

  /**
   * Walks a prompt given by its tokens, or by its sequence hashes, until the first block nobody
   * holds in any of the contexts.
   *
   * @param view {@link TableView#within} the query's bounds
   * @param form {@link QueryForm#TOKENS}, else the hashes are taken for sequence hashes
   * @return number of blocks walked
   */
  public int walk(
      TableView view,
      QueryForm form,
      QueryBody query,
      List<Names> contexts,
      TableRows rows,
      RunVisitor counter) {
    HashProfile profile = rows.table().hashProfile();
    if (form == QueryForm.TOKENS) {
      ContextKeys prompt =
          contextKeys
              .computeIfAbsent(profile, ContextKeys::new)
              .ofTokens(
                  query.tokens(),
                  query.count(),
                  rows.table().blockSize(),
                  contexts,
                  rows::loraPaths);
      return walk(view, query, prompt, prompt.xors(), counter);
    }
    long[] xors = Contexts.keys(profile, Contexts.besideHashes(profile, contexts, view, rows));
    if (xors.length > 1) { // what tells them apart may be in the hashes given
      xors = Arrays.stream(xors).distinct().toArray();
    }
    return walk(view, query, keys.ofHashes(query.hashes(), query.count()), xors, counter);
  }

  /**
   * Walks a prompt given by the hashes of its single blocks.
   *
   * @param xors what to xor into the prefix hashes, one for each context
   * @return number of blocks walked
   */
  public int walkLocals(
      TableView view, QueryBody query, long[] xors, TableRows rows, RunVisitor counter) {
    SeqHash rule =
        hashes.computeIfAbsent(
            rows.table().hashProfile(), profile -> new SeqHash(profile.xxh3Seed()));
    return walk(view, query, keys.ofLocals(query.hashes(), query.count(), rule), xors, counter);
  }

  private int walk(
      TableView view, QueryBody query, BlockKeys prompt, long[] xors, RunVisitor counter) {
    query.deadline().check();
    BlockKeys asked = query.deadline().isSet() ? timed.of(prompt, query.deadline()) : prompt;
    return view.walk(reader, asked, xors, counter);
  }

  /**
   * The rolling hashes of one prompt as given, or rolled from those of single blocks. Reused; one
   * thread at a time.
   */
  private static final class PromptKeys implements BlockKeys {
    private final long[] pair = new long[2];
    private @Nullable SeqHash hash;
    private long[] given = {};
    private int blocks;
    private long previous;

    PromptKeys ofHashes(long[] hashes, int count) {
      given = hashes;
      blocks = count;
      hash = null;
      return this;
    }

    /** The given ones are those of single blocks and have to be rolled. */
    PromptKeys ofLocals(long[] locals, int count, SeqHash rule) {
      given = locals;
      blocks = count;
      hash = rule;
      return this;
    }

    @Override
    public int fill(long[] out, int from, int max) {
      int count = Math.min(max, blocks - from);
      SeqHash rule = hash;
      if (rule == null) {
        System.arraycopy(given, from, out, 0, Math.max(0, count));
        return count;
      }
      for (int i = 0; i < count; i++) {
        int block = from + i;
        previous = block == 0 ? given[block] : rule.roll(previous, given[block], pair);
        out[i] = previous;
      }
      return count;
    }
  }

  /**
   * A prompt's keys that end the walk when the deadline is past. Looks at the clock every few
   * thousand blocks, that is a few times in a millisecond. Reused; one thread at a time.
   */
  private static final class TimedKeys implements BlockKeys {
    private static final int EVERY = 4_096;

    private BlockKeys keys = (out, from, max) -> 0;
    private Deadline deadline = Deadline.NONE;
    private int next;

    BlockKeys of(BlockKeys prompt, Deadline end) {
      keys = prompt;
      deadline = end;
      next = EVERY; // whoever begins a walk has looked
      return this;
    }

    @Override
    public BlockKeys in(int context) {
      BlockKeys own = keys.in(context);
      return own == keys.in(0) ? this : own;
    }

    @Override
    public boolean isOptional(int context) {
      return keys.isOptional(context);
    }

    @Override
    public int fill(long[] out, int from, int max) {
      if (from >= next) {
        next = from + EVERY;
        deadline.check();
      }
      return keys.in(0).fill(out, from, max);
    }
  }
}
