// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.model.TableId;

/**
 * Where the event is that a query waited for: an answer of that table which shows the offset shows
 * the event. Offsets of other tables' partitions have nothing to do with it.
 *
 * @param table of the event's publisher
 * @param offset of the events topic, in the table's partition
 */
public record EventPlace(TableId table, long offset) {}
