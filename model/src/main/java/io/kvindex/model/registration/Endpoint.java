// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a publisher's socket is, as a registration names it: the one place that decides which
 * addresses there can be. Nothing here looks a name up.
 *
 * <ul>
 *   <li>{@code tcp://HOST:PORT}: an address or a name to connect to. {@code 0.0.0.0} and {@code
 *       [::]}, which engines bind, mean this host.
 *   <li>{@code tcp://*:PORT}: a port to bind, because the engine connects.
 * </ul>
 *
 * @param host a name, an IPv4 address, an IPv6 address without brackets, or {@code *}
 * @param port 1 to 65,535
 * @param addresses what the host stands for without being looked up, in the order to try them;
 *     empty if it is a name, an address of one link ({@code fe80::1%eth0}) or {@code *}
 */
public record Endpoint(String host, int port, List<InetAddress> addresses) {

  private static final String ANY = "*";
  private static final int MAX_PORT = 65_535;

  /** Of a name in DNS, without a dot at its end. */
  private static final int MAX_NAME = 253;

  private static final int BROADCAST_AND_RESERVED = 240;

  /** Labels of letters, digits, hyphens and, as in names of containers, underscores. */
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?");

  private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*");

  public Endpoint {
    Objects.requireNonNull(host);
    addresses = List.copyOf(addresses);
  }

  /**
   * Reads the address of an event socket.
   *
   * @throws IllegalArgumentException if there can be no such address; the message says what is
   *     wrong and what to write instead
   */
  public static Endpoint parse(String text) {
    String address = addressOf(text);
    int colon = address.lastIndexOf(':');
    if (colon < 0 || colon < address.indexOf(']')) {
      throw new IllegalArgumentException("the port is missing, write tcp://HOST:PORT");
    }
    int port = port(address.substring(colon + 1));
    return at(address.substring(0, colon), port);
  }

  /**
   * The same of a replay socket, which is always connected to.
   *
   * @throws IllegalArgumentException as {@link #parse}, and for {@code tcp://*:PORT}
   */
  public static Endpoint parseReplay(String text) {
    Endpoint endpoint = parse(text);
    if (endpoint.isBound()) {
      throw new IllegalArgumentException(
          "a replay socket is connected to: write the engine's host, tcp://HOST:" + endpoint.port);
    }
    return endpoint;
  }

  /** {@link #isBound()} of a text, whatever it is. */
  public static boolean isBound(String text) {
    return text.startsWith("tcp://" + ANY + ":");
  }

  /** Whether it is bound here, because the engine connects. */
  public boolean isBound() {
    return host.equals(ANY);
  }

  /** Whether its host has to be looked up. */
  public boolean isName() {
    return addresses.isEmpty() && !isBound();
  }

  private static String addressOf(String text) {
    int cut = text.indexOf("://");
    if (cut < 0) {
      throw new IllegalArgumentException("no `://`, write tcp://HOST:PORT");
    }
    String transport = text.substring(0, cut);
    switch (transport) {
      case "tcp" -> {}
      case "ipc" ->
          throw new IllegalArgumentException(
              "`ipc` sockets cannot be read, let the engine publish at tcp://127.0.0.1:PORT and"
                  + " write that");
      case "inproc" ->
          throw new IllegalArgumentException(
              "an `inproc` address ends at its process, let the engine publish at"
                  + " tcp://127.0.0.1:PORT and write that");
      default ->
          throw new IllegalArgumentException(
              "unknown transport `" + transport + "`, write tcp://HOST:PORT");
    }
    return text.substring(cut + 3);
  }

  private static int port(String text) {
    boolean number =
        !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    int port = number ? Integer.parseInt(text) : 0;
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException(
          "the port must be 1 to " + MAX_PORT + ", write the one the engine has bound");
    }
    return port;
  }

  private static Endpoint at(String host, int port) {
    if (host.isEmpty()) {
      throw new IllegalArgumentException("the host is empty, write tcp://HOST:PORT");
    } else if (host.equals(ANY)) {
      return new Endpoint(host, port, List.of());
    } else if (host.startsWith("[") && host.endsWith("]")) {
      String bare = host.substring(1, host.length() - 1);
      int scope = bare.indexOf('%');
      String unscoped = scope < 0 ? bare : bare.substring(0, scope);
      List<InetAddress> addresses = reached(literal(unscoped, IPV6.matcher(unscoped).matches()));
      // Which link a scope means, only the host that connects can tell.
      return new Endpoint(bare, port, scope < 0 ? addresses : List.of());
    } else if (host.indexOf(':') >= 0 || host.indexOf('[') >= 0) {
      throw new IllegalArgumentException(
          "an IPv6 address must be in brackets, write tcp://[ADDRESS]:PORT");
    }
    String last = host.substring(host.lastIndexOf('.') + 1);
    if (!last.isEmpty() && last.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return new Endpoint(host, port, reached(literal(host, isIpv4(host))));
    } else if (!isName(host)) {
      throw new IllegalArgumentException(
          "the host has characters or a length no host has, write tcp://HOST:PORT");
    }
    return new Endpoint(host, port, List.of());
  }

  private static boolean isName(String host) {
    String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    if (name.length() > MAX_NAME) {
      return false;
    }
    for (String label : name.split("\\.", -1)) {
      if (!NAME.matcher(label).matches()) {
        return false;
      }
    }
    return true;
  }

  /** Four numbers; what else ends in a number would be looked up, or read as another address. */
  private static boolean isIpv4(String host) {
    String[] parts = host.split("\\.", -1);
    for (String part : parts) {
      if (part.isEmpty()
          || part.length() > 3
          || !part.chars().allMatch(c -> c >= '0' && c <= '9')
          || Integer.parseInt(part) > 255) {
        return false;
      }
    }
    return parts.length == 4;
  }

  /**
   * @param wellFormed whether it may be given to {@link InetAddress}, which looks up what it does
   *     not take for an address
   */
  private static InetAddress literal(String host, boolean wellFormed) {
    InetAddress address = wellFormed ? addressOrNull(host) : null;
    if (address == null) {
      throw new IllegalArgumentException(
          "`" + host + "` is no IP address, write one, or the host's name");
    }
    return address;
  }

  private static @Nullable InetAddress addressOrNull(String host) {
    try {
      // In brackets an address that is none is refused at once, never looked up.
      return InetAddress.getByName(host.indexOf(':') >= 0 ? "[" + host + "]" : host);
    } catch (UnknownHostException e) {
      return null;
    }
  }

  /** Whom one connects to who is told that address. */
  private static List<InetAddress> reached(InetAddress address) {
    if (address.isAnyLocalAddress()) {
      // Who binds [::] listens to IPv4, too; who binds 0.0.0.0 to nothing else.
      return address instanceof Inet4Address
          ? List.of(loopback("127.0.0.1"))
          : List.of(loopback("::1"), loopback("127.0.0.1"));
    }
    int first = address.getAddress()[0] & 0xff;
    boolean unreachable =
        address.isMulticastAddress()
            || address instanceof Inet4Address && (first == 0 || first >= BROADCAST_AND_RESERVED);
    if (unreachable) {
      throw new IllegalArgumentException(
          "nobody can be connected to at " + address.getHostAddress() + ", write the engine's own");
    }
    return List.of(address);
  }

  private static InetAddress loopback(String literal) {
    return Objects.requireNonNull(addressOrNull(literal));
  }
}
