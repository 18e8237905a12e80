// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

/** A setting that is on or off. */
enum OnOff {
  ON,
  OFF;

  boolean isOn() {
    return this == ON;
  }
}
