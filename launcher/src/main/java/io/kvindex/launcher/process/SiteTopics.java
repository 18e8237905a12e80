// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.registration.Generations;

/**
 * A site's topics, checked.
 *
 * @param eventPartitions partitions of the events topic
 * @param generations of the site's epoch
 */
record SiteTopics(int eventPartitions, Generations generations) {}
