// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.query.lookup.LocalView;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One table's index without any stream behind it; the test's thread is the writer. */
public final class BareIndex extends EmptyIndex implements LocalView {
  private final PrefixIndex index = new PrefixIndex();
  private final SeqHash hash = new SeqHash(1337);
  private final Map<Owner, Integer> slots = new HashMap<>();
  private final Map<String, String> adapters = new HashMap<>();
  private final List<ContextNames> contexts = new ArrayList<>();
  public boolean readable = true;
  public Trust trust = Trust.EXACT;
  public long lagMs;
  public Set<PublisherId> degraded = Set.of();

  /** {@code holder} is {@code instance/rank/medium}, {@code pool:} in front makes it a pool. */
  public void store(String holder, long context, int[] tokens, int blockSize, int... blocks) {
    long[] seq = hash.rolled(hash.locals(tokens, tokens.length, blockSize));
    for (int block : blocks) {
      put(holder, seq[block] ^ context);
    }
  }

  /** One block by its lookup key. */
  public void put(String holder, long key) {
    String[] parts = holder.replace("pool:", "").split("/");
    int rank = Integer.parseInt(parts[1]);
    Owner owner =
        new Owner(
            "default",
            parts[0],
            rank,
            rank,
            parts[2],
            holder.startsWith("pool:"),
            null,
            new Incarnation(1, 1, 0));
    index.add(key, slots.computeIfAbsent(owner, index::addOwner));
  }

  /** Blocks were announced in that context. */
  public void announce(ContextNames context) {
    contexts.add(context);
  }

  public void learn(String instance, long loraId, String name) {
    adapters.put(instance + "/" + loraId, name);
  }

  @Override
  public @Nullable TableView view(TableId table) {
    return readable ? this : null;
  }

  @Override
  public @Nullable String notReadyReason() {
    return readable ? null : "restoring";
  }

  @Override
  public PrefixIndex index() {
    return index;
  }

  @Override
  public Trust trust() {
    return trust;
  }

  @Override
  public long lagMs() {
    return lagMs;
  }

  @Override
  public Set<PublisherId> degradedPublishers() {
    return degraded;
  }

  @Override
  public Collection<ContextNames> contexts() {
    return contexts;
  }

  @Override
  public Map<String, String> loraNames(long loraId, Collection<String> instances) {
    Map<String, String> names = new HashMap<>();
    for (String instance : instances) {
      String name = adapters.get(instance + "/" + loraId);
      if (name != null) {
        names.put(instance, name);
      }
    }
    return names;
  }
}
