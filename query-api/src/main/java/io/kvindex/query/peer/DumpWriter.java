// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.PartitionView;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a dump as it is read: Dynamo's {@code RouterEvent}s, one stored event per run of blocks,
 * with what Dynamo has no member for in a member {@code kvindex} of ours. For one thread and one
 * dump.
 */
final class DumpWriter {

  /** Written out beyond that, so that memory does not depend on what there is. */
  private static final int FLUSH_BYTES = 64 << 10;

  private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  private final OutputStream out;
  private final JsonBuffer json = new JsonBuffer();
  private final byte[] chunk = new byte[FLUSH_BYTES];
  private final Map<String, Long> blocks = new TreeMap<>();
  private boolean failed;

  DumpWriter(OutputStream out) {
    this.out = out;
  }

  /** Writes the whole answer. */
  void write(List<DumpPart> parts) throws IOException {
    json.raw('{');
    String separator = "";
    for (DumpPart part : parts) {
      if (!separator.isEmpty()) {
        json.raw(',');
      }
      separator = ",";
      write(part);
    }
    json.raw('}');
    flush();
  }

  /** Whether a partition could not be read, wholly or from some point on. */
  boolean hasFailed() {
    return failed;
  }

  /** How many blocks were told, or left out, by why. */
  Map<String, Long> blocks() {
    return blocks;
  }

  private void write(DumpPart part) throws IOException {
    PartitionView view = part.view();
    json.name(part.key()).raw('{');
    if (view == null || !view.complete()) {
      failed = true;
      json.name("error").string("not in this replica, or not loaded yet").raw('}');
      return;
    }
    json.name("block_size").number(part.table().blockSize());
    if (part.extended()) {
      json.raw(',').name("kvindex").raw('{');
      json.name("tenant_id").string(part.table().tenantId());
      json.raw(',').name("model").string(part.table().model());
      json.raw(',').name("hash_algorithm");
      json.string(part.table().hashProfile().algorithm().wireName());
      json.raw(',').name("hash_seed").string(part.table().hashProfile().seed()).raw('}');
    }
    json.raw(',').name("events").raw('[');
    Runs runs = new Runs(part);
    String problem = null;
    try {
      view.dump(part.table(), runs::wants, runs);
    } catch (DumpFailedException e) {
      problem = String.valueOf(e.getMessage());
    }
    json.raw(']');
    if (problem != null) {
      failed = true;
      json.raw(',').name("error").string(problem);
    }
    json.raw('}');
  }

  private void flush() throws IOException {
    java.nio.ByteBuffer bytes = json.asByteBuffer();
    while (bytes.hasRemaining()) {
      int length = Math.min(chunk.length, bytes.remaining());
      bytes.get(chunk, 0, length);
      out.write(chunk, 0, length);
    }
    json.clear();
  }

  /** The events of one entry. */
  private final class Runs implements DumpVisitor {
    private final DumpPart part;
    private long eventId;

    Runs(DumpPart part) {
      this.part = part;
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
    public void run(
        Owner owner, long context, Parent parent, long[] hashes, long[] locals, int count)
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
      if (json.length() >= FLUSH_BYTES) {
        flush();
      }
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
}
