// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.PublisherId;
import io.kvindex.model.quarantine.QuarantinedFrame;
import org.jspecify.annotations.Nullable;

/**
 * A quarantined batch and what can be said of it now.
 *
 * @param frame the batch without its bytes
 * @param current whether it is of the life its publisher is in: only then anything is missing
 * @param readable whether it can be decoded now, null = its bytes are not kept, or nobody is
 *     registered who could have sent it
 */
record QuarantineEntry(
    PublisherId publisher, QuarantinedFrame frame, boolean current, @Nullable Boolean readable) {}
