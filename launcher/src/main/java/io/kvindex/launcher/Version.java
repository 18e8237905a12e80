// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import picocli.CommandLine.IVersionProvider;

/** Version of the running program, from the jar's manifest. */
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    String version = Main.class.getPackage().getImplementationVersion();
    return new String[] {"kvindex " + (version == null ? "(not packaged)" : version)};
  }
}
