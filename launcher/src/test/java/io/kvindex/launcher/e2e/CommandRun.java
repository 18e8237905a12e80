// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import io.kvindex.launcher.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/** Runs {@code kvindex} commands in this process, and keeps what the last one said. */
final class CommandRun {

  private static final Logger LOG = LoggerFactory.getLogger(CommandRun.class);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** Runs one; its exit code. */
  int run(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    int code = commandLine.execute(arguments);
    LOG.info("kvindex {} {}: {}\n{}{}", arguments[0], arguments[1], code, out, err);
    return code;
  }

  /** Also while it runs, for another thread. */
  String out() {
    return out.toString();
  }

  String err() {
    return err.toString();
  }
}
