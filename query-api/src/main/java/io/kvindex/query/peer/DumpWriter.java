// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.PartitionView;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a dump as it is read, entry by entry; the events of one are {@link DumpedRuns}. For one
 * thread and one dump.
 */
final class DumpWriter {

  /** Written out beyond that, so that memory does not depend on what there is. */
  private static final int FLUSH_BYTES = 64 << 10;

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
    if (view == null) {
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
    DumpedRuns runs = new DumpedRuns(part, json, this::flushIfLong, blocks);
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

  private void flushIfLong() throws IOException {
    if (json.length() >= FLUSH_BYTES) {
      flush();
    }
  }

  private void flush() throws IOException {
    ByteBuffer bytes = json.asByteBuffer();
    while (bytes.hasRemaining()) {
      int length = Math.min(chunk.length, bytes.remaining());
      bytes.get(chunk, 0, length);
      out.write(chunk, 0, length);
    }
    json.clear();
  }
}
