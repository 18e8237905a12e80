// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.follow.EngineBatchDecoder;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.quarantine.FrameReader;
import org.jspecify.annotations.Nullable;

/** Lends the bridge's decoders to the HTTP API. Thread-safe. */
final class QuarantineReader implements FrameReader {

  @Override
  public @Nullable String problem(Registration registration, byte[] payload) {
    try {
      return new EngineBatchDecoder(registration, new Learned()).decode(payload).rejected();
    } catch (RuntimeException e) {
      return e.toString();
    }
  }
}
