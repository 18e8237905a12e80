// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.model.Media;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.registration.Registration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Brings the batches of one publisher to the normal form, by what the registration says and what
 * its batches taught. For one thread at a time.
 */
public final class Normaliser {

  private static final String LOCAL = "LOCAL";

  private final Registration registration;
  private final LocalHasher hasher;
  private final Contexts contexts;
  private final Learned learned;

  /**
   * @throws IllegalArgumentException if the registration's hash profile can not be computed here
   */
  public Normaliser(Registration registration) {
    this(registration, new Learned());
  }

  /**
   * @param learned what the publisher's batches taught before; goes on learning
   * @throws IllegalArgumentException if the registration's hash profile can not be computed here
   */
  public Normaliser(Registration registration, Learned learned) {
    this.registration = registration;
    this.learned = learned;
    this.hasher = new LocalHasher(registration.table().hashProfile());
    this.contexts = new Contexts(registration);
  }

  /** Normalises one batch; never fails for what the engine sent. */
  public NormalisedBatch normalise(EngineBatch batch) {
    return registration.type() == SourceType.KV_EVENTS
        ? new EnvelopeNormaliser(this, batch).run()
        : new BatchNormaliser(this, batch).run();
  }

  Registration registration() {
    return registration;
  }

  Learned learned() {
    return learned;
  }

  int blockSize() {
    return registration.table().blockSize();
  }

  int defaultRank() {
    return registration.publisher().dpRank();
  }

  LocalHasher hasher() {
    return hasher;
  }

  Contexts contexts() {
    return contexts;
  }

  static boolean isLocal(@Nullable String locality) {
    return locality == null || locality.toUpperCase(Locale.ROOT).equals(LOCAL);
  }

  /**
   * What a clear empties. One limited to a medium other than the device can not be told apart yet:
   * it hides all, as a miss is better than a dead block served.
   */
  ClearScope clearScope(@Nullable String medium) {
    if (medium != null) {
      boolean device = Media.standard().tier(medium) == Media.Tier.DEVICE;
      return device ? ClearScope.DEVICE : ClearScope.ALL;
    }
    return switch (registration.type()) {
      case VLLM -> ClearScope.DEVICE;
      case SGLANG -> ClearScope.DEVICE_AND_HOST;
      case MOONCAKE -> ClearScope.ALL;
      case KV_EVENTS -> ClearScope.STREAM;
    };
  }
}
