// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** The tiers a simulated engine has. */
public enum Medium {
  GPU,
  HOST
}
