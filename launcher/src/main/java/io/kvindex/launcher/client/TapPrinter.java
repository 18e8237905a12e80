// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.decode.StoreObject;
import io.kvindex.model.event.Hashes;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;

/**
 * Prints batches and their events, one line each. Token ids, salts and keys of images are counted,
 * not shown: they are somebody's prompt.
 */
final class TapPrinter {

  private final EngineDecoder decoder;
  private final PrintWriter out;

  TapPrinter(EngineDecoder decoder, PrintWriter out) {
    this.decoder = decoder;
    this.out = out;
  }

  void print(Frame frame) {
    if (frame instanceof RawBatch batch) {
      print(batch, batch.decoded(decoder, 0));
    } else {
      out.printf("not an event message: %s%n", frame);
    }
    out.flush();
  }

  private void print(RawBatch frame, DecodeResult result) {
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
    if (event instanceof EngineEvent.Enveloped enveloped) {
      return line(enveloped.event()) + " event_id=" + enveloped.envelope().eventId();
    } else if (event instanceof EngineEvent.OfObject about) {
      StoreObject object = about.object();
      return line(about.event()) + " tenant=" + object.tenant() + " key=" + object.key();
    } else if (event instanceof EngineEvent.Stored stored) {
      return stored(stored);
    } else if (event instanceof EngineEvent.Removed removed) {
      return "removed medium="
          + removed.scope().medium()
          + " blocks="
          + removed.hashes().size()
          + " first="
          + first(removed.hashes())
          + group(removed.scope());
    }
    return "cleared medium=" + ((EngineEvent.Cleared) event).medium();
  }

  private static String stored(EngineEvent.Stored stored) {
    return "stored  medium="
        + stored.scope().medium()
        + " blocks="
        + stored.hashes().size()
        + " block_size="
        + stored.blockSize()
        + " tokens="
        + stored.tokens().size()
        + " parent="
        + (stored.parent().isNamed() ? Long.toHexString(stored.parent().hash()) : "none")
        + " first="
        + first(stored.hashes())
        + " lora="
        + stored.adapter().name()
        + (stored.adapter().id() < 0 ? "" : "(" + stored.adapter().id() + ")")
        + " salt="
        + (stored.salt() == null ? "none" : "set")
        + " extra_keys="
        + extraKeys(stored.extraHashes())
        + group(stored.scope());
  }

  /** What a hybrid model's blocks belong to: only groups that need every block are indexed. */
  private static String group(CacheScope scope) {
    return " group="
        + (scope.hasGroup() ? scope.group() : "none")
        + " kind="
        + (scope.specKind() == null ? "none" : scope.specKind())
        + " window="
        + (scope.slidingWindow() == 0 ? "none" : scope.slidingWindow());
  }

  /** Of how many blocks the content depends on more than tokens, adapter and salt. */
  private static String extraKeys(Hashes extra) {
    long with = Arrays.stream(extra.toArray()).filter(hash -> hash != 0).count();
    return with == 0 ? "none" : "on " + with + " of " + extra.size() + " blocks";
  }

  private static String first(Hashes hashes) {
    return hashes.isEmpty() ? "none" : Long.toHexString(hashes.get(0));
  }
}
