// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Registration;
import java.util.List;
import java.util.Map;

/**
 * A registration as this replica sees it.
 *
 * @param registration what was registered
 * @param generation of the record that began it; records that continue it do not count
 */
public record Registered(Registration registration, long generation) {

  /** Whether it was written for a generation that another replica had ended meanwhile. */
  boolean isCrossed() {
    return Generations.isCrossed(registration, generation);
  }

  /** A record that names the generation it really has, with these adapters. */
  Registration withLoraNames(List<String> names) {
    return registration.withLoraNames(names, generation);
  }

  /** The same with what an adapter more brings. */
  Registration withAdapters(List<String> names, Map<String, String> loraPaths) {
    return registration.withLoraPaths(loraPaths).withLoraNames(names, generation);
  }
}
