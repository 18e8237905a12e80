// SPDX-License-Identifier: Apache-2.0
/**
 * A site's settings of Kafka clients: where they come from, whether they can be, what went wrong.
 */
@NullMarked
package io.kvindex.launcher.kafka;

import org.jspecify.annotations.NullMarked;
