// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The address other replicas reach one at: never a wildcard, never port 0. */
final class ReplicaAddress {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaAddress.class);
  private static final String SAY_IT = "; say it with --advertise HOST:PORT";
  private static final String LOOPBACK = "127.0.0.1";
  private static final int MAX_PORT = 65_535;

  private ReplicaAddress() {}

  /**
   * Host and port.
   *
   * @param advertise what the flag says, null = nothing
   * @param bind address the HTTP API listens on
   * @param port its port, never 0
   * @throws IllegalArgumentException if others could not reach it
   */
  static String of(@Nullable String advertise, String bind, int port) {
    if (advertise != null) {
      String told = checked(advertise, port);
      if (isLoopback(bind) && !isLoopback(host(told))) {
        LOG.warn(
            "others are told {}, but --bind {} listens to this machine alone: unless something here"
                + " forwards to it, say --bind 0.0.0.0",
            told,
            bind);
      }
      return told;
    }
    return Address.of(isWildcard(bind) ? own(bind) : bind, port);
  }

  /** The address others on the same machine reach one at. */
  static String onThisMachine(String bind, int port) {
    return Address.of(isWildcard(bind) ? LOOPBACK : bind, port);
  }

  private static String checked(String advertise, int port) {
    int colon = advertise.lastIndexOf(':');
    boolean bareIpv6 = advertise.indexOf(':') != colon && !advertise.startsWith("[");
    boolean hasPort = colon > advertise.lastIndexOf(']') && !bareIpv6;
    String host = hasPort ? advertise.substring(0, colon) : advertise;
    int stated = hasPort ? port(advertise.substring(colon + 1)) : port;
    if (host.isBlank() || isWildcard(host) || stated < 1 || stated > MAX_PORT) {
      throw new IllegalArgumentException(
          "--advertise must be an address others can reach, HOST:PORT, got `" + advertise + "`");
    }
    return Address.of(host, stated);
  }

  private static int port(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static boolean isWildcard(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    try {
      // Only addresses: a name is nobody's wildcard, and need not be known here.
      boolean address = bare.indexOf(':') >= 0 || bare.matches("[0-9.]+");
      return address && InetAddress.getByName(bare).isAnyLocalAddress();
    } catch (IOException e) {
      return false;
    }
  }

  private static String host(String address) {
    return address.substring(0, address.lastIndexOf(':'));
  }

  private static boolean isLoopback(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    return bare.equals("localhost") || bare.equals("::1") || bare.startsWith("127.");
  }

  /** What the machine is called for others, if there is one answer to that. */
  private static String own(String bind) {
    try {
      InetAddress named = InetAddress.getLocalHost();
      List<InetAddress> all =
          named.isLoopbackAddress()
              ? NetworkInterface.networkInterfaces()
                  .flatMap(NetworkInterface::inetAddresses)
                  .filter(one -> !one.isLoopbackAddress() && !one.isLinkLocalAddress())
                  .filter(one -> !(one instanceof Inet6Address))
                  .toList()
              : List.of(named);
      if (all.size() > 1) {
        throw new IllegalArgumentException(
            "this machine has several addresses and --bind " + bind + " chooses none" + SAY_IT);
      }
      String host = (all.isEmpty() ? named : all.get(0)).getHostAddress();
      LOG.info("other replicas reach this one at {} (--advertise says otherwise)", host);
      return host;
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--bind " + bind + " does not say where other replicas reach this one" + SAY_IT, e);
    }
  }

  /**
   * The port itself, or a free one for 0: what others are told has to be known before they are.
   *
   * @throws IllegalArgumentException if there is no such address here
   */
  static int portOn(String bind, int port) {
    if (port != 0) {
      return port;
    }
    try (ServerSocket free = new ServerSocket()) {
      free.bind(new InetSocketAddress(InetAddress.getByName(bind), 0));
      return free.getLocalPort();
    } catch (IOException e) {
      throw new IllegalArgumentException("--bind " + bind + " can not be used: " + e, e);
    }
  }
}
