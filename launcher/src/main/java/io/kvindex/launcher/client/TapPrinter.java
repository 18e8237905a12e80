// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.model.event.Hashes;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Prints batches and their events, one line each. Token ids are counted, not shown: they are
 * somebody's prompt.
 */
final class TapPrinter {

  private final EngineDecoder decoder;
  private final PrintWriter out;

  TapPrinter(EngineDecoder decoder, PrintWriter out) {
    this.decoder = decoder;
    this.out = out;
  }

  void print(Frame frame) {
    if (frame instanceof Frame.Batch batch) {
      print(batch, decoder.decode(batch.payload()));
    } else {
      out.printf("not an event message: %s%n", frame);
    }
    out.flush();
  }

  private void print(Frame.Batch frame, DecodeResult result) {
    if (result instanceof EngineBatch batch) {
      Instant time = Instant.EPOCH.plus(batch.timestampMicros(), ChronoUnit.MICROS);
      out.printf(
          "seq=%s topic=\"%s\" time=%s rank=%s%n",
          Long.toUnsignedString(frame.sequence()), frame.topic(), time, batch.rank());
      batch.events().forEach(event -> out.printf("  %s%n", line(event)));
      batch
          .skipped()
          .forEach(
              skipped -> out.printf("  event %d skipped: %s%n", skipped.index(), skipped.reason()));
    } else if (result instanceof BatchRejected rejected) {
      out.printf(
          "seq=%s topic=\"%s\" REJECTED: %s%n",
          Long.toUnsignedString(frame.sequence()), frame.topic(), rejected.reason());
    }
  }

  private static String line(EngineEvent event) {
    if (event instanceof EngineEvent.Stored stored) {
      return "stored  medium="
          + stored.scope().medium()
          + " blocks="
          + stored.hashes().size()
          + " block_size="
          + stored.blockSize()
          + " tokens="
          + stored.tokens().size()
          + " parent="
          + hex(stored.parent())
          + " first="
          + first(stored.hashes())
          + " lora="
          + stored.adapter().name()
          + " salt="
          + (stored.salt() == null ? "none" : "set")
          + " group="
          + stored.scope().group();
    }
    if (event instanceof EngineEvent.Removed removed) {
      return "removed medium="
          + removed.scope().medium()
          + " blocks="
          + removed.hashes().size()
          + " first="
          + first(removed.hashes())
          + " group="
          + removed.scope().group();
    }
    return "cleared";
  }

  private static String first(Hashes hashes) {
    return hashes.isEmpty() ? "none" : Long.toHexString(hashes.get(0));
  }

  private static String hex(@Nullable Long hash) {
    return hash == null ? "none" : Long.toHexString(hash);
  }
}
