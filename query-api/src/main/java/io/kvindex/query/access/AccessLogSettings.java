// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.access;

import java.nio.file.Path;

/**
 * Where requests are logged and how.
 *
 * @param file appended to
 * @param traceHeader request header whose value is logged as {@code trace_id}
 * @param localTime whether times are in the machine's zone, else UTC
 */
public record AccessLogSettings(Path file, String traceHeader, boolean localTime) {
  /** Header Dynamo's clients put their trace id in. */
  public static final String DEFAULT_TRACE_HEADER = "x-trace-id";
}
