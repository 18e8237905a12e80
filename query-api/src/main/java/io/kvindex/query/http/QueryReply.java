// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.query.reply.MsgpackBuffer;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a query answers: a body, JSON, MessagePack or octets, and how far to trust it. Reused; not
 * thread-safe.
 */
public final class QueryReply {
  /** {@link #lagMs} where nothing is known. */
  public static final long NO_LAG = -1;

  /** Stands for all instances of the answer where the names of the degraded ones are too long. */
  public static final String ALL = "*";

  /** Characters of names that go into one header: servers and proxies end at 8 KiB for all. */
  private static final int MAX_NAMES = 4_096;

  private final JsonBuffer body = new JsonBuffer();
  private final MsgpackBuffer packed = new MsgpackBuffer();
  private byte @Nullable [] octets;
  private boolean isPacked;
  private @Nullable Trust trust;
  private long lagMs = NO_LAG;
  private @Nullable String degraded;

  /** Whose names were worded last: a table's list is the same object until it changes. */
  private List<String> lastInstances = List.of();

  private String lastNames = "";

  void clear() {
    body.clear();
    packed.clear();
    octets = null;
    isPacked = false;
    trust = null;
    lagMs = NO_LAG;
    degraded = null;
  }

  /** The body as JSON, empty when the answer begins. */
  public JsonBuffer body() {
    return body;
  }

  /** The body as MessagePack, empty when the answer begins; who asks for it answers with it. */
  public MsgpackBuffer packed() {
    isPacked = true;
    return packed;
  }

  /** Makes these bytes the whole body. */
  public void octets(byte[] bytes) {
    octets = bytes;
  }

  boolean isPacked() {
    return isPacked;
  }

  boolean isOctets() {
    return octets != null;
  }

  ByteBuffer content() {
    if (octets != null) {
      return ByteBuffer.wrap(octets);
    }
    return isPacked ? packed.asByteBuffer() : body.asByteBuffer();
  }

  /**
   * Sets the trust headers.
   *
   * @param lag age of the oldest event not yet visible, in ms, or {@link #NO_LAG}
   * @param instances comma-separated degraded instances, null for none
   */
  public void trust(Trust howFar, long lag, @Nullable String instances) {
    trust = howFar;
    lagMs = lag;
    degraded = instances != null && instances.length() > MAX_NAMES ? ALL : instances;
  }

  /** Begins an answer that is exact as far as the tables it is made from are. */
  public void begin() {
    trust(Trust.EXACT, 0, null);
  }

  /**
   * A table the answer is made from.
   *
   * @param instances the degraded ones; the same object until they change
   */
  public void madeFrom(TableView view, List<String> instances) {
    if (instances != lastInstances) {
      lastNames = instances.stream().map(QueryReply::safe).collect(Collectors.joining(","));
      lastInstances = instances;
    }
    Trust own = view.trust();
    if (instances.isEmpty()) {
      madeFrom(own, view.lagMs(), null);
    } else {
      madeFrom(own.and(Trust.DEGRADED), view.lagMs(), lastNames);
    }
  }

  /** Another answer this one is made from. */
  void madeFrom(QueryReply part) {
    if (part.trust != null) {
      madeFrom(part.trust, part.lagMs, part.degraded);
    }
  }

  /** It is trusted as far as the worst of all. */
  private void madeFrom(Trust howFar, long lag, @Nullable String names) {
    String all = degraded;
    if (all == null) {
      all = names;
    } else if (names != null && !names.equals(all)) {
      Set<String> each = new LinkedHashSet<>(List.of(all.split(",")));
      each.addAll(List.of(names.split(",")));
      all = each.contains(ALL) ? ALL : String.join(",", each);
    }
    trust(trust == null ? howFar : trust.and(howFar), Math.max(lagMs, lag), all);
  }

  /** Instance names are free text, header values are not: what is unusual is percent-encoded. */
  private static String safe(String instance) {
    boolean plain = instance.chars().allMatch(c -> c > ' ' && c < 0x7F && c != ',' && c != '%');
    if (instance.equals(ALL)) {
      return "%2A";
    }
    // A form's + for a blank would read as the plus of a plain name.
    return plain
        ? instance
        : URLEncoder.encode(instance, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** What {@code X-KvIndex-State} says, null = not set. */
  public @Nullable Trust trust() {
    return trust;
  }

  long lagMs() {
    return lagMs;
  }

  /** Value of {@code X-KvIndex-Degraded}, null = nobody is. */
  public @Nullable String degraded() {
    return degraded;
  }
}
