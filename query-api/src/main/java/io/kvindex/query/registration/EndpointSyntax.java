// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import org.jspecify.annotations.Nullable;

/**
 * What a ZMQ address must look like. Source: Dynamo standalone indexer, endpoint check of {@code
 * POST /register}.
 */
final class EndpointSyntax {
  private static final int MAX_PORT = 65_535;

  private EndpointSyntax() {}

  /** What is wrong with an address, null if nothing is. */
  static @Nullable String problem(String endpoint) {
    int cut = endpoint.indexOf("://");
    if (cut < 0) {
      return "no `://`";
    }
    String scheme = endpoint.substring(0, cut);
    String address = endpoint.substring(cut + 3);
    if (address.isEmpty()) {
      return "the address is empty";
    }
    return switch (scheme) {
      case "tcp" -> tcpProblem(address);
      case "ipc", "inproc" -> null;
      default -> "unknown transport `" + scheme + "`, use tcp, ipc or inproc";
    };
  }

  private static @Nullable String tcpProblem(String address) {
    int colon = address.lastIndexOf(':');
    if (colon < 0 || colon < address.indexOf(']')) {
      return "the port is missing";
    }
    String host = address.substring(0, colon);
    if (host.isEmpty()) {
      return "the host is empty";
    }
    boolean bracketed = host.startsWith("[") && host.endsWith("]") && host.length() > 2;
    if (!bracketed && (host.indexOf(':') >= 0 || host.indexOf('[') >= 0)) {
      return "an IPv6 address must be in brackets";
    }
    if (host.chars().anyMatch(c -> c <= ' ' || c == '/')) {
      return "the host has characters no host has";
    }
    return isPort(address.substring(colon + 1)) ? null : "the port must be 0 to " + MAX_PORT;
  }

  private static boolean isPort(String text) {
    return !text.isEmpty()
        && text.length() <= 5
        && text.chars().allMatch(c -> c >= '0' && c <= '9')
        && Integer.parseInt(text) <= MAX_PORT;
  }
}
