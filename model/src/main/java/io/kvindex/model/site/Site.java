// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import io.kvindex.model.registration.Generations;

/**
 * What all processes of a site agree upon.
 *
 * @param generations of the site's epoch
 * @param serving whose table is answered from
 */
public record Site(Generations generations, Serving serving) {}
