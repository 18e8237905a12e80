// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.follow.BatchDecoder;
import io.kvindex.bridge.normalise.NormalisedBatch.BlockSizeMismatch;
import io.kvindex.model.Media;
import io.kvindex.model.registration.Registration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * From payload to normal form for publishers in an engine's own format: decodes by the registered
 * type, normalises by the rest of the registration. Stateless; safe for all threads.
 */
public final class EngineBatchDecoder implements BatchDecoder {

  private final EngineDecoder decoder;
  private final Normaliser normaliser;
  private final int blockSize;

  /**
   * @throws IllegalArgumentException if the registration's hash profile can not be computed here
   */
  public EngineBatchDecoder(Registration registration) {
    decoder = EngineDecoder.forSource(registration.type());
    normaliser = new Normaliser(registration);
    blockSize = registration.table().blockSize();
  }

  @Override
  public Decoded decode(byte[] payload) {
    DecodeResult result = decoder.decode(payload);
    if (result instanceof BatchRejected rejected) {
      return Decoded.rejected(rejected.reason().label());
    }
    NormalisedBatch batch = normaliser.normalise((EngineBatch) result);
    Map<String, Long> skipped = new HashMap<>();
    batch.skipped().forEach((reason, count) -> skipped.put(reason.label(), count.longValue()));
    return new Decoded(
        batch.timestampMicros(), batch.events(), skipped, null, explain(batch.mismatch()));
  }

  /** Chunks of a connector to a lower tier may differ in size; the engine's own blocks may not. */
  private @Nullable String explain(@Nullable BlockSizeMismatch mismatch) {
    if (mismatch == null || Media.standard().tier(mismatch.medium()) != Media.Tier.DEVICE) {
      return null;
    }
    int stated = mismatch.stated();
    String hint =
        stated % blockSize == 0
            ? " (" + stated / blockSize + " times it: dcp x pcp of the engine?)"
            : "";
    return "events have block_size "
        + stated
        + ", registered is "
        + blockSize
        + hint
        + ": register "
        + stated;
  }
}
