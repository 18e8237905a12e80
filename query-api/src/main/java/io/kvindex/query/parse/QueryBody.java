// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.model.TableId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.lookup.TableView;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One parsed query, made to be reused: the arrays grow to the largest body seen and are handed out
 * without a copy. Defaults are applied already, so absent, null and empty are not told apart here.
 * Not thread-safe; valid until the next parse into it.
 */
public final class QueryBody {
  /** {@link #blockSize()} of a body that names none. */
  public static final int NO_BLOCK_SIZE = 0;

  /** {@link #loraId()} of a body without one. Source: reference 002, default of {@code lora_id}. */
  public static final long NO_LORA_ID = -1;

  /** Largest block size anybody may state. */
  public static final int MAX_BLOCK_SIZE = 1 << 20;

  /** Tenant of a body that names none. */
  public static final String DEFAULT_TENANT = "default";

  /** Arrays beyond this many elements are given back after use, so one huge prompt is not kept. */
  private static final int KEPT_ITEMS = 1 << 17;

  /**
   * Where the event is that a query waited for: an answer of that table which shows the offset
   * shows the event. Offsets of other tables' partitions have nothing to do with it.
   *
   * @param table of the event's publisher
   * @param offset of the events topic, in the table's partition
   */
  public record EventPlace(TableId table, long offset) {}

  /** Nothing was ever parsed into it. */
  private static final QueryBody FRESH = new QueryBody();

  private int[] tokens = new int[1024];
  private long[] hashes = new long[64];
  private int count;
  Dialect dialect = Dialect.CONDUCTOR;
  String model = "";
  int blockSize = NO_BLOCK_SIZE;
  String tenant = DEFAULT_TENANT;
  String loraName = "";
  long loraId = NO_LORA_ID;
  String cacheSalt = "";
  @Nullable String instanceId;
  @Nullable MinEvent minEvent;
  private Deadline deadline = Deadline.NONE;
  private @Nullable EventPlace awaited;

  void reset() {
    count = 0;
    takeNames(FRESH);
    deadline = Deadline.NONE;
    awaited = null;
    if (tokens.length > KEPT_ITEMS) {
      tokens = new int[KEPT_ITEMS];
    }
    if (hashes.length > KEPT_ITEMS) {
      hashes = new long[KEPT_ITEMS];
    }
  }

  /** Takes over everything but the items. */
  void takeNames(QueryBody other) {
    dialect = other.dialect;
    model = other.model;
    blockSize = other.blockSize;
    tenant = other.tenant;
    loraName = other.loraName;
    loraId = other.loraId;
    cacheSalt = other.cacheSalt;
    instanceId = other.instanceId;
    minEvent = other.minEvent;
  }

  void resetItems() {
    count = 0;
  }

  void setCount(int items) {
    count = items;
  }

  /** The token array, room for at least {@code items} elements; contents up to there are kept. */
  int[] tokensWithRoom(int items) {
    if (items > tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.max(items, tokens.length * 2));
    }
    return tokens;
  }

  /** The hash array, room for at least {@code items} elements; contents up to there are kept. */
  long[] hashesWithRoom(int items) {
    if (items > hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(items, hashes.length * 2));
    }
    return hashes;
  }

  void addToken(long token) {
    tokensWithRoom(count + 1)[count] = (int) token;
    count++;
  }

  void addHash(long hash) {
    hashesWithRoom(count + 1)[count] = hash;
    count++;
  }

  /** Reused array of u32 token ids as raw bits; only the first {@link #count()} are valid. */
  public int[] tokens() {
    return tokens;
  }

  /** Whose answer is wanted; known even where the rest of a body is refused. */
  public Dialect dialect() {
    return dialect;
  }

  /**
   * Reused array of u64 hashes as raw bits, of prefixes, in Dynamo's dialect of single blocks; only
   * the first {@link #count()} are valid.
   */
  public long[] hashes() {
    return hashes;
  }

  /** Number of tokens or hashes, whichever the form asks for. */
  public int count() {
    return count;
  }

  /** Model, never empty. */
  public String model() {
    return model;
  }

  /** Tokens per block, 1 to {@link #MAX_BLOCK_SIZE}, or {@link #NO_BLOCK_SIZE}. */
  public int blockSize() {
    return blockSize;
  }

  public String tenant() {
    return tenant;
  }

  /** Adapter name, empty for the base model or where only an id was given. */
  public String loraName() {
    return loraName;
  }

  /** Deprecated adapter id, or {@link #NO_LORA_ID}. */
  public long loraId() {
    return loraId;
  }

  /** {@code cache_salt}, empty for none. */
  public String cacheSalt() {
    return cacheSalt;
  }

  /** The only instance asked for, null for all. */
  public @Nullable String instanceId() {
    return instanceId;
  }

  /** States when an answer will be of no use, until the next parse. */
  public void answerBy(Deadline end) {
    deadline = end;
  }

  /** When an answer is of no use any more; asked while a long prompt is looked up. */
  public Deadline deadline() {
    return deadline;
  }

  /** States where the awaited event is, null = not known, until the next parse. */
  public void awaited(@Nullable EventPlace place) {
    awaited = place;
  }

  /**
   * Offset of the events topic an answer of a table must not be from before, or {@link
   * TableView#ANY_OFFSET}.
   */
  public long visibleFrom(TableId table) {
    EventPlace place = awaited;
    return place != null && place.table().equals(table) ? place.offset() : TableView.ANY_OFFSET;
  }

  /** What has to be visible before this may be answered, null for nothing. */
  public @Nullable MinEvent minEvent() {
    return minEvent;
  }
}
