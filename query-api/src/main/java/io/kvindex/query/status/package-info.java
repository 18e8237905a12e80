// SPDX-License-Identifier: Apache-2.0
/** What people and load balancers ask: health, readiness, metrics, workers. */
@NullMarked
package io.kvindex.query.status;

import org.jspecify.annotations.NullMarked;
