// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpVisitor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The events of one entry of a dump: Dynamo's {@code RouterEvent}s, one stored event per run of
 * blocks, with what Dynamo has no member for in a member {@code kvindex} of ours. For one thread.
 */
final class DumpedRuns implements DumpVisitor {

  private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  /** Called behind each run. */
  interface Written {
    void run() throws IOException;
  }

  private final DumpPart part;
  private final JsonBuffer json;
  private final Written written;
  private final Map<String, Long> blocks;
  private long eventId;

  /**
   * @param json where they go
   * @param blocks how many blocks were told, or left out, by why; added to
   */
  DumpedRuns(DumpPart part, JsonBuffer json, Written written, Map<String, Long> blocks) {
    this.part = part;
    this.json = json;
    this.written = written;
    this.blocks = blocks;
  }

  boolean wants(long context) {
    boolean held = part.holds(context);
    if (!held && context != 0 && part.last()) {
      count("unnamed_context", 1);
    }
    return held;
  }

  @Override
  public void leftOut(LeftOut reason) {
    if (part.last()) {
      count(reason.name().toLowerCase(Locale.ROOT), 1);
    }
  }

  private void count(String what, long more) {
    blocks.merge(what, more, Long::sum);
  }

  @Override
  public void run(Owner owner, long context, Parent parent, long[] hashes, long[] locals, int count)
      throws IOException {
    int from = 0;
    for (int i = 0; i <= count; i++) {
      boolean ends = i == count || part.needsTokens() && locals[i] == 0;
      if (ends && i > from) {
        Parent before = from == 0 ? parent : Parent.of(hashes[from - 1]);
        event(owner, part.contexts().get(context), before, hashes, locals, from, i);
        count("told", i - from);
      }
      if (ends && i < count) {
        from = i + 1;
        count("no_tokens", 1);
      }
    }
    written.run();
  }

  private void event(
      Owner owner,
      @Nullable ContextNames context,
      Parent parent,
      long[] hashes,
      long[] locals,
      int from,
      int to) {
    if (eventId > 0) {
      json.raw(',');
    }
    json.raw('{');
    json.name("worker_id").unsigned(WorkerId.of(owner.instanceId()));
    json.raw(',').name("storage_tier").string(StorageTier.of(owner.medium()).wireName());
    json.raw(',').name("residency_domain").string("worker");
    json.raw(',').name("event").raw('{').name("event_id").number(eventId++);
    json.raw(',').name("data").raw('{').name("stored").raw('{').name("parent_hash");
    number(parent.kind() == Parent.Kind.HASH, parent.hash());
    json.raw(',').name("start_position");
    number(false, 0);
    json.raw(',').name("blocks").raw('[');
    for (int i = from; i < to; i++) {
      if (i > from) {
        json.raw(',');
      }
      json.raw('{').name("block_hash").unsigned(hashes[i]);
      json.raw(',').name("tokens_hash").unsigned(locals[i]);
      json.raw(',').name("mm_extra_info");
      number(false, 0);
      json.raw('}');
    }
    json.raw(']').raw('}').raw('}').raw(',').name("dp_rank").number(owner.rank()).raw('}');
    extra(owner, context);
    json.raw('}');
  }

  private void number(boolean there, long value) {
    if (there) {
      json.unsigned(value);
    } else {
      json.raw(NULL);
    }
  }

  /** What the shape of Dynamo has no place for, where there is any. */
  private void extra(Owner owner, @Nullable ContextNames context) {
    Map<String, String> texts = new TreeMap<>();
    if (!WorkerId.isNumber(owner.instanceId())) {
      texts.put("instance_id", owner.instanceId());
    }
    String medium = owner.medium();
    if (medium != null && !StorageTier.of(medium).standsFor(medium)) {
      texts.put("medium", medium);
    }
    if (context != null) {
      put(texts, "lora_name", context.loraName());
      put(texts, "additionalsalt", context.namespace());
      put(texts, "cache_salt", context.salt());
    }
    boolean otherRank = owner.publisherRank() != owner.rank();
    boolean hearsay = PeerImport.isImported(owner.backendId());
    if (texts.isEmpty() && !otherRank && !hearsay) {
      return;
    }
    json.raw(',').name("kvindex").raw('{');
    boolean first = true;
    if (otherRank) {
      json.name("publisher_rank").number(owner.publisherRank());
      first = false;
    }
    if (hearsay) {
      if (!first) {
        json.raw(',');
      }
      json.name("unverified").raw(TRUE);
      first = false;
    }
    for (Map.Entry<String, String> text : texts.entrySet()) {
      if (!first) {
        json.raw(',');
      }
      first = false;
      json.name(text.getKey()).string(text.getValue());
    }
    json.raw('}');
  }

  private static void put(Map<String, String> to, String name, @Nullable String value) {
    if (value != null) {
      to.put(name, value);
    }
  }
}
