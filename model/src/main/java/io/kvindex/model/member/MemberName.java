// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Name of a process in its Kafka group, made when it starts, that says where the process listens:
 * {@code HOST_PORT_RANDOM}. Kafka takes letters, digits, dots, dashes and underscores: what else a
 * host has is written as an underscore and two hexadecimal digits. Kafka Streams adds a dash and
 * the number of the thread for each of a process's members. Immutable.
 *
 * @param host name or address, IPv6 without brackets
 * @param port 1 to 65535
 * @param start eight hexadecimal digits, others after each start
 */
public record MemberName(String host, int port, String start) {

  /** Longest {@code group.instance.id} (Kafka's Topic.java), less what Kafka Streams adds. */
  private static final int MAX_LENGTH = 240;

  private static final int START_DIGITS = 8;
  private static final int MAX_PORT = 65_535;
  private static final int HEX = 16;
  private static final int ASCII = 0x80;
  private static final Pattern TEXT =
      Pattern.compile("((?:[a-zA-Z0-9.-]|_[0-9a-f]{2})+)_(\\d{1,5})_([0-9a-f]{8})(?:-\\d+)?");
  private static final Pattern ESCAPED = Pattern.compile("_([0-9a-f]{2})");

  /**
   * A name for this start of a process.
   *
   * @param address where it listens, {@code host:port} or {@code [IPv6]:port}
   * @return null if a name can not say so
   */
  public static @Nullable MemberName at(String address) {
    int colon = address.lastIndexOf(':');
    String start = UUID.randomUUID().toString().substring(0, START_DIGITS);
    String host = address.substring(0, Math.max(0, colon));
    String bare =
        host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    String text = escaped(bare) + "_" + address.substring(colon + 1) + "_" + start;
    boolean ascii = bare.chars().allMatch(c -> c < ASCII);
    return ascii && text.length() <= MAX_LENGTH ? of(text) : null;
  }

  /**
   * What such a name says.
   *
   * @param text a member's {@code group.instance.id}
   * @return null if it is a name of another kind
   */
  public static @Nullable MemberName of(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    int port = Integer.parseInt(matcher.group(2));
    return port < 1 || port > MAX_PORT
        ? null
        : new MemberName(plain(matcher.group(1)), port, matcher.group(3));
  }

  private static String escaped(String host) {
    StringBuilder text = new StringBuilder();
    host.chars()
        .forEach(
            c -> {
              boolean plain = c < ASCII && Character.isLetterOrDigit(c) || c == '.' || c == '-';
              text.append(plain ? String.valueOf((char) c) : String.format("_%02x", c));
            });
    return text.toString();
  }

  private static String plain(String text) {
    return ESCAPED
        .matcher(text)
        .replaceAll(
            hex ->
                Matcher.quoteReplacement(
                    String.valueOf((char) Integer.parseInt(hex.group(1), HEX))));
  }

  /** The name itself, a {@code group.instance.id}. */
  public String text() {
    return escaped(host) + "_" + port + "_" + start;
  }

  @Override
  public String toString() {
    return text();
  }
}
