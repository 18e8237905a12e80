// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.EngineEvent.Removed;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Media of LMCache's connector. Besides {@code cpu} it writes the torch device the tokens were on
 * ({@code cuda:0}), which is not where its chunks are, and it never says that one is gone: taken at
 * its word it would promise blocks on the device for ever. Engines themselves never spell a medium
 * like that. Source: LMCache, {@code CacheStoreEvent}.
 */
final class ConnectorMedia {

  /** What it writes otherwise. */
  static final String CPU = "cpu";

  private static final Pattern TORCH_DEVICE = Pattern.compile("cuda|[a-z]{2,16}:[0-9]{1,4}");

  private ConnectorMedia() {}

  /**
   * Whether a medium is written as only connectors to a store do: LMCache's, Mooncake's, Ascend's.
   */
  static boolean isItsOwn(@Nullable String medium) {
    return CPU.equals(medium) || isTorchDevice(medium);
  }

  /** The medium as it is to be read. */
  static @Nullable String of(@Nullable String medium) {
    return isTorchDevice(medium) ? CPU : medium;
  }

  static Stored read(Stored event) {
    return isTorchDevice(event.scope().medium())
        ? new Stored(
            onCpu(event.scope()),
            event.hashes(),
            event.parent(),
            event.tokens(),
            event.blockSize(),
            event.adapter(),
            event.salt(),
            event.extraHashes(),
            event.origin())
        : event;
  }

  static Removed read(Removed event) {
    return isTorchDevice(event.scope().medium())
        ? new Removed(onCpu(event.scope()), event.hashes(), event.remainingCopies())
        : event;
  }

  private static CacheScope onCpu(CacheScope scope) {
    return new CacheScope(
        CPU,
        scope.group(),
        scope.specKind(),
        scope.slidingWindow(),
        scope.locality(),
        scope.ownership());
  }

  private static boolean isTorchDevice(@Nullable String medium) {
    // The first letter alone spares nearly all events the pattern.
    return medium != null
        && !medium.isEmpty()
        && Character.isLowerCase(medium.charAt(0))
        && TORCH_DEVICE.matcher(medium).matches();
  }
}
