// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.registration.SourceOptions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What a publisher's batches taught that later ones leave out. Outlives normalisers; what must
 * outlive the bridge is in {@link #groups()}. One thread learns, any thread may read the groups.
 */
public final class Learned {

  /** Engines number groups from 0 without holes; beyond this they are not told apart. */
  private static final int MAX_GROUPS = 64;

  /** Adapters whose names are told apart. */
  private static final int MAX_ADAPTERS = 4_096;

  private final Map<Integer, GroupSpec> groups = new ConcurrentHashMap<>();
  private int changes;
  private @Nullable Depths depths;
  private SaltMemory salts;
  private NamedKeys names;
  private RemovalWatch removals = new RemovalWatch();
  private SideGroups sides;
  private SizeCheck sizes = new SizeCheck();
  private @Nullable String profileProblem;
  private final Map<String, Boolean> explained = new HashMap<>();
  private @Nullable String notice;
  private boolean connector;
  private boolean lmCachePools;

  /** Nothing known, as nothing was said. */
  public Learned() {
    this(List.of(), true);
  }

  /**
   * @param known groups an earlier bridge learned of in the same life
   * @param fromStart whether nothing can have been said of blocks before
   */
  public Learned(Collection<GroupSpec> known, boolean fromStart) {
    known.forEach(spec -> groups.put(spec.group(), spec));
    salts = new SaltMemory(fromStart);
    names = new NamedKeys(fromStart);
    sides = new SideGroups(fromStart);
  }

  /**
   * A new life may have another layout and another seed.
   *
   * @param keepsBlocks whether blocks outlive it, which what comes later may speak of
   */
  public void forget(boolean keepsBlocks) {
    groups.clear();
    changes++;
    depths = null;
    salts = new SaltMemory(!keepsBlocks);
    removals = new RemovalWatch();
    sides = new SideGroups(true); // those that outlive it lie elsewhere than on the device
    sizes = new SizeCheck();
    profileProblem = null;
    explained.clear();
    notice = null;
    if (!keepsBlocks) {
      names = new NamedKeys(true);
    }
  }

  /**
   * Whether the publisher was seen to speak for a connector to a store (LMCache's, Mooncake's,
   * Ascend's), which announces what it stores and never what is gone.
   */
  public boolean isConnector() {
    return connector;
  }

  /** It does, whatever its life. */
  void connector() {
    connector = true;
  }

  /**
   * Takes in what a batch was published under. Where an LMCache's pool was heard, a batch whose
   * topic is not told, as in replays of old framing, may be of it or of its node: then it is the
   * pool's.
   *
   * @return whether the batch speaks of a pool
   */
  public boolean learnTopic(String topic) {
    boolean pools = topic.startsWith(SourceOptions.LMCACHE_POOL);
    lmCachePools |= pools;
    connector |= pools || topic.startsWith(SourceOptions.LMCACHE_NODE);
    return pools || topic.isEmpty() && lmCachePools;
  }

  /** Attention groups known, any order. */
  public List<GroupSpec> groups() {
    return new ArrayList<>(groups.values());
  }

  /** Grows whenever other groups are known than before; the learning thread only. */
  public int changes() {
    return changes;
  }

  /** What is known of a group, null = nothing. */
  @Nullable GroupSpec group(int group) {
    return groups.get(group);
  }

  /** Takes in what a store states of its group; what it leaves out stays as it was. */
  void learn(CacheScope scope, int blockSize) {
    int group = AttentionGroups.groupOf(scope);
    GroupSpec known = groups.get(group);
    if (known == null ? groups.size() >= MAX_GROUPS : tellsNothing(scope, blockSize, known)) {
      return;
    }
    String kind = scope.specKind();
    Integer window = scope.slidingWindow() == 0 ? null : (Integer) scope.slidingWindow();
    changes++;
    groups.put(
        group,
        new GroupSpec(
            group,
            kind != null || known == null ? kind : known.kind(),
            blockSize != 0 || known == null ? blockSize : known.blockSize(),
            window != null || known == null ? window : known.slidingWindow()));
  }

  private static boolean tellsNothing(CacheScope scope, int blockSize, GroupSpec known) {
    String kind = scope.specKind();
    int window = scope.slidingWindow();
    return (kind == null || kind.equals(known.kind()))
        && (blockSize == 0 || blockSize == known.blockSize())
        && (window == 0 || Objects.equals(known.slidingWindow(), window));
  }

  /** Depths of blocks; made where they are needed. */
  Depths depths() {
    if (depths == null) {
      depths = new Depths();
    }
    return depths;
  }

  /** Salts of blocks. */
  SaltMemory salts() {
    return salts;
  }

  /** Hashes of a store's objects. */
  NamedKeys names() {
    return names;
  }

  /**
   * Takes in what a batch of several attention groups tells.
   *
   * @return places in the batch of stores that were computed, as far as known
   */
  BitSet computed(EngineBatch batch) {
    return sides.computed(batch, this);
  }

  /** Something was announced that could not be read, or never came. */
  public void lost() {
    sides.lost();
  }

  /** What removals of a store mean. */
  RemovalWatch removals() {
    return removals;
  }

  /** Whether batches so far have the registered block size. */
  SizeCheck sizes() {
    return sizes;
  }

  /** How batches so far contradict the hash profile, for people; null = not seen to. */
  @Nullable String profileProblem() {
    return profileProblem;
  }

  void profileProblem(@Nullable String problem) {
    profileProblem = problem;
  }

  /**
   * Whether the hash profile explains the names of an adapter's blocks.
   *
   * @param lora adapter, empty = base model
   * @return null = not known
   */
  @Nullable Boolean explained(String lora) {
    return explained.get(lora);
  }

  /** The same, as seen; adapters beyond the bound stay unknown. */
  void explained(String lora, boolean is) {
    if (explained.size() < MAX_ADAPTERS || explained.containsKey(lora)) {
      explained.put(lora, is);
    }
  }

  /** Something people should know of and that is no contradiction. */
  void notice(String text) {
    notice = text;
  }

  /** What there is to say since the last call, null = nothing. */
  @Nullable String takeNotice() {
    String taken = notice;
    notice = null;
    return taken;
  }
}
