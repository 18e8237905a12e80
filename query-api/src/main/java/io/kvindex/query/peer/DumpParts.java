// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.PartitionView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which entries a dump has: one {@code model:tenant} for what Dynamo can match by itself, and
 * beside it, under names nobody asks for, what it can not: other contexts, other hash profiles,
 * further block sizes.
 */
final class DumpParts {

  private static final Comparator<TableId> ORDER =
      Comparator.comparing(TableId::model)
          .thenComparing(TableId::tenantId)
          .thenComparingInt(TableId::blockSize)
          .thenComparing(table -> table.hashProfile().label());

  private final IndexAccess index;
  private final RegistrationSnapshot registrations;
  private final List<DumpPart> parts = new ArrayList<>();

  private DumpParts(IndexAccess index, RegistrationSnapshot registrations) {
    this.index = index;
    this.registrations = registrations;
  }

  static List<DumpPart> of(IndexAccess index, RegistrationSnapshot registrations) {
    DumpParts dump = new DumpParts(index, registrations);
    dump.collect();
    return dump.parts;
  }

  private void collect() {
    Set<TableId> registered = registered();
    TreeSet<TableId> tables = new TreeSet<>(ORDER);
    tables.addAll(registered);
    for (PartitionView view : index.partitions()) {
      view.tables()
          .forEach(
              (table, prefixes) -> {
                if (prefixes.owners().count() > 0) {
                  tables.add(table);
                }
              });
    }
    Set<String> taken = new HashSet<>();
    for (TableId table : tables) {
      String key = table.model() + ":" + table.tenantId();
      boolean plain =
          isDynamos(table.hashProfile())
              && (registered.contains(table) || noneRegistered(registered, table))
              && taken.add(key);
      add(table, key, plain);
    }
  }

  /** What somebody asks for: pools serve the instances of such tables. */
  private Set<TableId> registered() {
    Set<TableId> tables = new HashSet<>();
    for (Registered one : registrations.all()) {
      if (!one.registration().type().isPool()) {
        tables.add(one.registration().table());
      }
    }
    return tables;
  }

  private static boolean noneRegistered(Set<TableId> registered, TableId table) {
    return registered.stream()
        .noneMatch(
            other ->
                other.model().equals(table.model()) && other.tenantId().equals(table.tenantId()));
  }

  private void add(TableId table, String key, boolean plain) {
    PartitionView view = index.partition(table);
    Map<Long, ContextNames> contexts = contexts(view, table);
    if (plain) {
      parts.add(new DumpPart(key, table, view, false, true, Map.of(), contexts.isEmpty()));
    }
    if (!plain || !contexts.isEmpty()) {
      String label = table.hashProfile().label().replace(':', '-');
      String name = key + "/kvindex/" + table.blockSize() + "/" + label;
      parts.add(new DumpPart(name, table, view, true, !plain, contexts, true));
    }
  }

  private static Map<Long, ContextNames> contexts(@Nullable PartitionView view, TableId table) {
    Map<Long, ContextNames> contexts = new HashMap<>();
    if (view != null) {
      view.contexts(table).forEach(context -> contexts.put(context.hash(), context));
    }
    return contexts;
  }

  /** Whether Dynamo's queries find blocks hashed that way. */
  static boolean isDynamos(HashProfile profile) {
    return !profile.algorithm().isEngineNamed()
        && profile.seed().equals(HashProfile.DEFAULT_XXH3_SEED);
  }

  /**
   * One entry of a dump: a table, or a part of it.
   *
   * @param key its name in the dump
   * @param view where its blocks are, null = not in this replica
   * @param extended whether it holds what Dynamo has no words for, so that it must not be taken for
   *     the model's own index
   * @param base whether it holds blocks outside any context
   * @param contexts names of the other contexts it holds, by hash
   * @param last whether no other entry holds what this one leaves out
   */
  record DumpPart(
      String key,
      TableId table,
      @Nullable PartitionView view,
      boolean extended,
      boolean base,
      Map<Long, ContextNames> contexts,
      boolean last) {

    /** Whether blocks of that context belong here; 0 = none. */
    boolean holds(long context) {
      return context == 0 ? base : contexts.containsKey(context);
    }

    /** Whether a block must have a hash of its tokens: its name alone says nothing. */
    boolean needsTokens() {
      return !table.hashProfile().algorithm().isEngineNamed();
    }
  }
}
