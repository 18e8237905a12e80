// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.view.ContextNames;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A table other replicas hold, or hold a fresher copy of than this one does. For one query, one
 * thread.
 */
final class RemoteView implements TableView {
  /**
   * What is here and older is not told while others are said to keep up: as where this process
   * stood still, and all that came meanwhile is asked at once. Whoever is refused asks another
   * replica, which knows more.
   */
  static final long OLDEST_TOLD_MS = 4_000;

  private final Forwarding forwarding;
  private final TableId table;
  private final List<String> holders;
  private final Predicate<String> silent;
  private final Trust most;
  private final long untilNanos;
  private final @Nullable TableView own;
  private Deadline deadline = Deadline.NONE;
  private long notBefore = ANY_OFFSET;
  private @Nullable Told told;
  private @Nullable String answeredBy;
  private @Nullable TableNames names;

  /**
   * @param holders those to ask, at least one
   * @param silent which of them have not answered for a while, see {@link Race}
   * @param longestNanos how long they are waited for, whatever they are asked
   * @param own what this replica itself has, which is not up to date; null = nothing
   */
  RemoteView(
      Forwarding forwarding,
      TableId table,
      Holders holders,
      Predicate<String> silent,
      long longestNanos,
      @Nullable TableView own) {
    this.forwarding = forwarding;
    this.table = table;
    this.holders = holders.inOrder();
    // What lacks older blocks is no more to be relied on than what lacks newer ones.
    most = holders.areCut() ? Trust.STALE : Trust.EXACT;
    this.silent = silent;
    untilNanos = System.nanoTime() + longestNanos;
    this.own = own;
  }

  @Override
  public TableView within(Deadline deadline, long notBefore) {
    this.deadline = deadline;
    this.notBefore = notBefore;
    return this;
  }

  @Override
  public int walk(PrefixReader reader, BlockKeys keys, long[] xors, RunVisitor visitor) {
    WalkRequest request = WalkRequest.of(table, notBefore, keys, xors);
    return ask(
        (race, spare) -> forwarding.walk(race, request, deadline, spare),
        WalkAnswer::told,
        answer -> answer.replay(visitor),
        stale -> stale.walk(reader, request, xors, visitor));
  }

  /** Whether what is here may be told where nobody else answers. */
  static boolean mayBeTold(@Nullable TableView here) {
    return here != null && here.lagMs() <= OLDEST_TOLD_MS;
  }

  /** Whether what is here is better than an answer: whoever has the partition may know less yet. */
  private static boolean isFresher(@Nullable TableView here, Told answer) {
    return here != null
        && answer.trust() == Trust.STALE
        && Told.FRESHEST_FIRST.compare(Told.of(here), answer) < 0;
  }

  private void take(Told more, @Nullable String by) {
    Told before = told;
    told = before == null ? more : more.after(before);
    answeredBy = by;
  }

  /**
   * Asks the holders.
   *
   * @param how puts the question; told whether there is a spare answer
   * @param use what is made of an answer
   * @param orElse what is made of what is here, where that is better
   */
  private <A, R> R ask(
      BiFunction<Race<A>, Boolean, @Nullable A> how,
      Function<A, Told> tells,
      Function<A, R> use,
      Function<TableView, R> orElse) {
    Race<A> race = new Race<>(holders, silent, untilNanos - System.nanoTime());
    // What is here may lack the event that was waited for.
    TableView stale = notBefore == ANY_OFFSET ? own : null;
    A answer = how.apply(race, mayBeTold(stale));
    if (answer != null && !isFresher(stale, tells.apply(answer))) {
      take(tells.apply(answer).and(most), race.winner());
      return use.apply(answer);
    }
    deadline.check();
    if (stale == null || answer == null && !mayBeTold(stale)) {
      throw ErrorCode.NOT_READY.because(
          "no replica that holds the index of this model answers; try again ("
              + race.problems()
              + ")");
    }
    take(Told.of(stale).and(Trust.STALE), null);
    return orElse.apply(stale);
  }

  /** What is asked once for a query, where it is needed at all. */
  private TableNames names() {
    if (names == null) {
      names = ask(NamesRequest.of(table).from(notBefore));
    }
    return names;
  }

  private TableNames ask(NamesRequest request) {
    return ask(
        (race, spare) -> forwarding.names(race, request, deadline, spare),
        TableNames::told,
        answer -> answer,
        stale -> TableNames.of(stale, request));
  }

  @Override
  public long blockCount() {
    return names().blocks();
  }

  @Override
  public Collection<ContextNames> contexts() {
    return names().contexts();
  }

  @Override
  public Map<String, String> loraNames(long loraId, Collection<String> instances) {
    return ask(new NamesRequest(table, notBefore, loraId, List.copyOf(instances))).loraNames();
  }

  @Override
  public Trust trust() {
    return told == null ? Trust.STALE : told.trust();
  }

  @Override
  public long lagMs() {
    return told == null ? 0 : told.lagMs();
  }

  @Override
  public Set<PublisherId> degradedPublishers() {
    return told == null ? Set.of() : told.degraded();
  }

  @Override
  public @Nullable String answeredBy() {
    return answeredBy;
  }
}
