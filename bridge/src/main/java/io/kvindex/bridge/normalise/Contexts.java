// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.registration.Registration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Adapter, namespace and salt of stored blocks: the event's own where it has them, else the
 * registration's. Immutable; safe for all threads.
 */
final class Contexts {

  private static final int NO_ADAPTER = -1;

  private final @Nullable String namespace;
  private final @Nullable String defaultLora;
  private final boolean singleAdapter;
  private final StatedContext plain;

  Contexts(Registration registration) {
    namespace = registration.namespace();
    defaultLora = registration.defaultLora();
    singleAdapter = registration.loraNames().size() == 1 && defaultLora != null;
    plain = new StatedContext(defaultLora, null, namespace, null);
  }

  StatedContext of(Adapter adapter, @Nullable String salt) {
    Long id = adapter.id();
    Long lora = id == null || id == NO_ADAPTER ? null : id;
    String name = isEmpty(adapter.name()) ? defaultName(lora) : adapter.name();
    if (lora == null
        && isEmpty(salt)
        && Objects.equals(name, defaultLora)) { // the usual case: nothing to build
      return plain;
    }
    return new StatedContext(name, lora, namespace, isEmpty(salt) ? null : salt);
  }

  /** A number without a name is the registered adapter only where just that one is registered. */
  private @Nullable String defaultName(@Nullable Long lora) {
    return lora == null || singleAdapter ? defaultLora : StatedContext.nameOf(lora);
  }

  private static boolean isEmpty(@Nullable String text) {
    return text == null || text.isEmpty();
  }
}
