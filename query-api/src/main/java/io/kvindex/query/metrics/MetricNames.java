// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.metrics;

/** Every metric name of this module, in Micrometer's dotted form. Names are public API. */
public final class MetricNames {
  /** Timer by {@code route}: time from the first byte read to the answer handed to the socket. */
  public static final String QUERY_LATENCY = "kvindex.query.latency";

  /** Counter by {@code route}: tokens or hashes asked for. */
  public static final String QUERY_ITEMS = "kvindex.query.items";

  /** Counter by {@code reason}: requests refused, on all routes. */
  public static final String REFUSED = "kvindex.http.refused";

  /** Gauge: queries being read or answered. */
  public static final String IN_FLIGHT = "kvindex.http.in.flight";

  /** Counter: lines of the access log that were not written. */
  public static final String ACCESS_LOG_DROPPED = "kvindex.access.log.dropped";

  /** Gauge: registrations this replica sees. */
  public static final String REGISTRATIONS = "kvindex.registrations";

  /** Counter: records of the registrations topic that could not be read. */
  public static final String REGISTRATIONS_UNREADABLE = "kvindex.registrations.unreadable";

  private MetricNames() {}
}
