// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

/**
 * A change of whose table serves, as it was found in the log.
 *
 * @param before what it replaced
 * @param now what the log said after it: another one's statement where two were made at once
 */
public record ServingChange(Serving before, Serving now) {}
