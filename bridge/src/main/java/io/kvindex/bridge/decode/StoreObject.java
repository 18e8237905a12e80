// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an event says of the object of a store it is about. Members are as sent, null = not stated.
 *
 * @param key the object's key
 * @param tenant tenant of the store
 * @param model model name
 * @param backendId which store
 * @param addresses where its replicas are, empty = nowhere
 */
public record StoreObject(
    @Nullable String key,
    @Nullable String tenant,
    @Nullable String model,
    @Nullable String backendId,
    @Nullable List<String> addresses) {

  /** That of an event which says nothing of any. */
  public static final StoreObject NONE = new StoreObject(null, null, null, null, null);

  public StoreObject {
    addresses = addresses == null ? null : List.copyOf(addresses);
  }
}
