// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.model.Media;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Which medium an address of a replica means. Immutable; safe for all threads. */
final class AddressMedia {

  private final Map<String, String> byPart = new LinkedHashMap<>();
  private final Set<String> all = new LinkedHashSet<>();

  /**
   * @param byPart medium by a part of the address, case ignored; the first one found counts
   */
  AddressMedia(Map<String, String> byPart) {
    byPart.forEach((part, medium) -> this.byPart.put(part.toLowerCase(Locale.ROOT), medium));
    all.addAll(byPart.values());
    all.add(Media.CPU);
  }

  /** The media of some addresses, each once. */
  Set<String> of(List<String> addresses) {
    Set<String> media = new LinkedHashSet<>();
    addresses.forEach(address -> media.add(of(address)));
    return media;
  }

  private String of(String address) {
    String lower = address.toLowerCase(Locale.ROOT);
    for (Map.Entry<String, String> entry : byPart.entrySet()) {
      if (lower.contains(entry.getKey())) {
        return entry.getValue();
      }
    }
    return Media.CPU;
  }

  /** Every medium an address may mean. */
  Set<String> all() {
    return all;
  }
}
