// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.quarantine.FrameReader;
import org.jspecify.annotations.Nullable;

/** Lends the bridge's decoders to the HTTP API. Thread-safe. */
final class QuarantineReader implements FrameReader {

  @Override
  public @Nullable String problem(Registration registration, byte[] payload) {
    try {
      DecodeResult read =
          EngineDecoder.forSource(registration.type())
              .decode(payload, registration.table().blockSize());
      if (read instanceof EngineBatch batch) {
        Normaliser.of(registration).normalise(batch);
        return null;
      }
      return ((BatchRejected) read).reason().label();
    } catch (RuntimeException e) {
      return e.toString();
    }
  }
}
