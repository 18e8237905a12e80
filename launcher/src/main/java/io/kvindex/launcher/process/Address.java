// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.net.URI;

/** Addresses as URLs and Kafka want them: an IPv6 address stands in brackets before a port. */
final class Address {
  private Address() {}

  /**
   * Host and port in one.
   *
   * @param host name or address, IPv6 with brackets or without
   */
  static String of(String host, int port) {
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bare ? "[" + host + "]" : host) + ":" + port;
  }

  /** Of an HTTP server. */
  static URI http(String host, int port) {
    return URI.create("http://" + of(host, port));
  }
}
