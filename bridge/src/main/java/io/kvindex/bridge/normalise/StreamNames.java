// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.Envelope;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Text form of the eight members that name a stream of the standard: percent-encoded, in the order
 * of the standard, each with a slash behind it. What is not stated is empty.
 */
final class StreamNames {

  /** Longest text that is kept; names come with every record and in progress. */
  static final int MAX_LENGTH = 1_024;

  private StreamNames() {}

  static String of(Envelope envelope) {
    StringBuilder text = new StringBuilder(64);
    add(text, envelope.model());
    add(text, envelope.blockSize());
    add(text, envelope.additionalSalt());
    add(text, envelope.loraName());
    add(text, envelope.tenantId());
    add(text, envelope.backendId());
    add(text, envelope.medium());
    add(text, envelope.dpRank());
    return text.toString();
  }

  private static void add(StringBuilder text, @Nullable Object member) {
    if (member != null) {
      text.append(URLEncoder.encode(member.toString(), StandardCharsets.UTF_8));
    }
    text.append('/');
  }
}
