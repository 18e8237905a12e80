// SPDX-License-Identifier: Apache-2.0
/** What a site's settings of Kafka clients mean for each of our clients. */
@NullMarked
package io.kvindex.model.kafka;

import org.jspecify.annotations.NullMarked;
