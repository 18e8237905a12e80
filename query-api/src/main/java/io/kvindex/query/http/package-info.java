// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP server: Jetty with a handler for the two query routes in front of Javalin, which serves
 * all others. Knows limits, buffers and status codes; knows nothing of the index.
 */
@NullMarked
package io.kvindex.query.http;

import org.jspecify.annotations.NullMarked;
