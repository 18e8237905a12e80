// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import java.util.HexFormat;
import java.util.List;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whose blocks, on which medium, in which life: what must be equal in two copies for their blocks
 * to be compared. Without the clears of a life: they are counted from where the log was read.
 *
 * @param rank data-parallel rank of the blocks
 * @param medium as sent, null = none named
 * @param backendId cache owner inside the publisher, null = none named
 * @param pool whether its blocks serve other instances
 * @param generation of the registration
 * @param life of the publisher's process
 * @param expiresAtMs time of the log from which its blocks count no more, 0 = none
 */
public record OwnerIdentity(
    TableId table,
    PublisherId publisher,
    int rank,
    @Nullable String medium,
    @Nullable String backendId,
    boolean pool,
    long generation,
    long life,
    long expiresAtMs) {

  /** The same 16 hex digits for the same owner, wherever it is asked for. */
  public String id() {
    List<Object> parts =
        List.of(
            table.tenantId(),
            table.model(),
            table.blockSize(),
            table.hashProfile().label(),
            publisher.key(),
            rank,
            // No medium and one without letters are two things.
            medium == null ? "-" : "=" + medium,
            backendId == null ? "-" : "=" + backendId,
            pool,
            generation,
            life,
            expiresAtMs);
    return HexFormat.of().toHexDigits(LongHashFunction.xx3().hashChars(parts.toString()));
  }
}
