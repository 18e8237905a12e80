// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.registration.Registration;

/**
 * A registration as this replica sees it.
 *
 * @param registration what was registered
 * @param generation offset of the record that began it; records that continue it do not count
 */
public record Registered(Registration registration, long generation) {}
