// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** A command that is gone, so that who gives it is told what to do instead. */
@Command(name = "chaos", hidden = true)
final class GoneCommand implements Runnable {

  @Spec private CommandSpec spec;
  @Unmatched private List<String> options = new ArrayList<>();

  @Override
  public void run() {
    throw new ParameterException(
        spec.parent().commandLine(),
        "chaos is no command of the program any more: in a checkout, testing/run.sh chaos");
  }
}
