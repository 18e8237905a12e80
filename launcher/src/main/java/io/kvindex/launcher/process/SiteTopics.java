// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.registration.Generations;
import io.kvindex.model.site.Serving;
import io.kvindex.model.site.Site;

/**
 * A site's topics, checked.
 *
 * @param eventPartitions partitions of the events topic
 * @param site what its processes agree upon
 */
record SiteTopics(int eventPartitions, Site site) {

  Generations generations() {
    return site.generations();
  }

  Serving serving() {
    return site.serving();
  }
}
