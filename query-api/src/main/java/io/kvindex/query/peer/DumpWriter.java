// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.peer.DumpParts.DumpPart;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.PartitionView;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a dump as it is read, entry by entry; memory does not depend on what there is. For one
 * thread and one dump.
 */
final class DumpWriter {
  /** Whose stream it is ends and flushes it: a short answer that is flushed has no length. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .disable(StreamWriteFeature.AUTO_CLOSE_CONTENT)
          .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
          .build();

  private final OutputStream out;
  private final Map<String, Long> blocks = new TreeMap<>();
  private boolean failed;

  DumpWriter(OutputStream out) {
    this.out = out;
  }

  /** Writes the whole answer. */
  void write(List<DumpPart> parts) throws IOException {
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      for (DumpPart part : parts) {
        json.writeObjectFieldStart(part.key());
        write(part, json);
        json.writeEndObject();
      }
      json.writeEndObject();
    }
  }

  /** Whether a partition could not be read, wholly or from some point on. */
  boolean hasFailed() {
    return failed;
  }

  /** How many blocks were told, or left out, by why. */
  Map<String, Long> blocks() {
    return blocks;
  }

  private void count(String what, long more) {
    blocks.merge(what, more, Long::sum);
  }

  private void write(DumpPart part, JsonGenerator json) throws IOException {
    PartitionView view = part.view();
    if (view == null) {
      failed = true;
      json.writeStringField("error", "not in this replica, or not loaded yet");
      return;
    }
    json.writeNumberField("block_size", part.table().blockSize());
    if (part.extended()) {
      HashProfile profile = part.table().hashProfile();
      json.writeObjectFieldStart("kvindex");
      json.writeStringField("tenant_id", part.table().tenantId());
      json.writeStringField("model", part.table().model());
      json.writeStringField("hash_algorithm", profile.algorithm().wireName());
      json.writeStringField("hash_seed", profile.seed());
      json.writeEndObject();
    }
    json.writeArrayFieldStart("events");
    Runs runs = new Runs(part, json);
    String problem = null;
    try {
      view.dump(part.table(), runs::wants, runs);
    } catch (DumpFailedException e) {
      problem = String.valueOf(e.getMessage());
    }
    json.writeEndArray();
    if (problem != null) {
      failed = true;
      json.writeStringField("error", problem);
    }
  }

  /**
   * The events of one entry: Dynamo's {@code RouterEvent}s, one stored event per run of blocks,
   * with what Dynamo has no member for in a member {@code kvindex} of ours.
   */
  private final class Runs implements DumpVisitor {
    private final DumpPart part;
    private final JsonGenerator json;
    private long eventId;

    Runs(DumpPart part, JsonGenerator json) {
      this.part = part;
      this.json = json;
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
    }

    private void event(
        Owner owner,
        @Nullable ContextNames context,
        Parent parent,
        long[] hashes,
        long[] locals,
        int from,
        int to)
        throws IOException {
      json.writeStartObject();
      unsigned("worker_id", WorkerId.of(owner.instanceId()));
      json.writeStringField("storage_tier", StorageTier.of(owner.medium()).wireName());
      json.writeStringField("residency_domain", "worker");
      json.writeObjectFieldStart("event");
      json.writeNumberField("event_id", eventId++);
      json.writeObjectFieldStart("data");
      json.writeObjectFieldStart("stored");
      if (parent.kind() == Parent.Kind.HASH) {
        unsigned("parent_hash", parent.hash());
      } else {
        json.writeNullField("parent_hash");
      }
      json.writeNullField("start_position");
      json.writeArrayFieldStart("blocks");
      for (int i = from; i < to; i++) {
        json.writeStartObject();
        unsigned("block_hash", hashes[i]);
        unsigned("tokens_hash", locals[i]);
        json.writeNullField("mm_extra_info");
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
      json.writeEndObject();
      json.writeNumberField("dp_rank", owner.rank());
      json.writeEndObject();
      extra(owner, context);
      json.writeEndObject();
    }

    private void unsigned(String name, long value) throws IOException {
      json.writeFieldName(name);
      if (value >= 0) {
        json.writeNumber(value);
      } else {
        json.writeNumber(Long.toUnsignedString(value));
      }
    }

    /** What the shape of Dynamo has no place for, where there is any. */
    private void extra(Owner owner, @Nullable ContextNames context) throws IOException {
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
      boolean unverified = PeerImport.isImported(owner.backendId());
      if (texts.isEmpty() && !otherRank && !unverified) {
        return;
      }
      json.writeObjectFieldStart("kvindex");
      if (otherRank) {
        json.writeNumberField("publisher_rank", owner.publisherRank());
      }
      if (unverified) {
        json.writeBooleanField("unverified", true);
      }
      for (Map.Entry<String, String> text : texts.entrySet()) {
        json.writeStringField(text.getKey(), text.getValue());
      }
      json.writeEndObject();
    }
  }

  private static void put(Map<String, String> to, String name, @Nullable String value) {
    if (value != null) {
      to.put(name, value);
    }
  }
}
