// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

/** Where a command keeps its data if no flag says so. */
final class DataDirectory {
  /** Picocli's default of {@code --data-dir}. */
  static final String DEFAULT = "${env:KVINDEX_DATA_DIR:-./kvindex-data}";

  private DataDirectory() {}
}
