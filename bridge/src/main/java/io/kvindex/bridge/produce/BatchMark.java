// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.GroupSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * What a bridge that takes over has to know of a batch and no table needs; in headers of the
 * batch's last record.
 *
 * @param fingerprint of its payload, 0 = unknown
 * @param groups all attention groups that its life has told of, null = as before
 */
public record BatchMark(long fingerprint, @Nullable List<GroupSpec> groups) {

  private static final String FINGERPRINT = "fingerprint";
  private static final String GROUPS = "groups";

  /** To be written with the record. */
  List<Header> headers() {
    List<Header> headers = new ArrayList<>(2);
    headers.add(
        new RecordHeader(
            FINGERPRINT, ByteBuffer.allocate(Long.BYTES).putLong(fingerprint).array()));
    if (groups != null) {
      headers.add(new RecordHeader(GROUPS, BridgeProgressCodec.encodeGroups(groups)));
    }
    return headers;
  }

  /**
   * Reads it back; nothing is known where the record has none.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if a header is none of ours
   */
  public static BatchMark of(Headers headers) {
    Header fingerprint = headers.lastHeader(FINGERPRINT);
    Header groups = headers.lastHeader(GROUPS);
    return new BatchMark(
        fingerprint == null || fingerprint.value().length != Long.BYTES
            ? 0
            : ByteBuffer.wrap(fingerprint.value()).getLong(),
        groups == null ? null : BridgeProgressCodec.decodeGroups(groups.value()));
  }
}
