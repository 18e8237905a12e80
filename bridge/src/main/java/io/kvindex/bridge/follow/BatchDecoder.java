// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.registration.Registration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * From the bytes of one publisher's batches to events in normal form. May learn from what it saw,
 * so each publisher has its own; used by the I/O thread only.
 */
public interface BatchDecoder {

  /** Makes the decoder for a publisher. */
  interface Factory {
    /**
     * A new one.
     *
     * @param learned what the publisher's batches taught before; goes on learning
     */
    BatchDecoder create(Registration registration, Learned learned);
  }

  /**
   * Reads one payload; never throws for what it holds, and learns nothing from it.
   *
   * @param topic what it was published under; empty = nothing, or not told
   */
  Parsed parse(String topic, byte[] payload);

  /** Decodes one payload of a batch that is taken, published under no topic. */
  default Decoded decode(byte[] payload) {
    return parse("", payload).toNormalForm();
  }

  /** A payload read, of which it is not said yet whose it is. */
  interface Parsed {

    /** The engine's time, microseconds since the epoch, 0 = unknown. */
    long sourceMicros();

    /** Why the whole batch is unusable, null if it is not. */
    @Nullable String rejected();

    /** Brings it to normal form and learns from it: for batches that are taken, once. */
    Decoded toNormalForm();
  }

  /** A payload that is unusable as a whole. */
  record Rejected(String reason) implements Parsed {

    @Override
    public long sourceMicros() {
      return 0;
    }

    @Override
    public String rejected() {
      return reason;
    }

    @Override
    public Decoded toNormalForm() {
      return Decoded.rejected(reason);
    }
  }

  /**
   * What a payload held.
   *
   * @param sourceMicros the engine's time, microseconds since the epoch, 0 = unknown
   * @param events what happened, in order
   * @param skipped events left out by reason
   * @param remarks kept events worth counting, by remark
   * @param rejected why the whole batch is unusable, null if it is not
   * @param mismatch how this batch and those before it contradict the registration, for people;
   *     null if they do not, or not any more
   * @param notice what else there is to say, for people; null = nothing, or nothing new
   * @param numbers stream and number of each event where events have their own, else empty
   * @param doubtful whether an event left out may have taken blocks away
   */
  record Decoded(
      long sourceMicros,
      List<KvEvent> events,
      Map<String, Long> skipped,
      Map<String, Long> remarks,
      @Nullable String rejected,
      @Nullable String mismatch,
      @Nullable String notice,
      List<StreamNumber> numbers,
      boolean doubtful) {

    /** A batch that is unusable as a whole. */
    public static Decoded rejected(String reason) {
      return new Decoded(0, List.of(), Map.of(), Map.of(), reason, null, null, List.of(), false);
    }
  }
}
