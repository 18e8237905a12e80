// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.hash.HashProfile;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs everything in one process. */
@Command(
    name = "all",
    description = {
      "Runs everything in one process: Kafka broker, bridge, indexer, HTTP API. Durable in its data directory.",
      "Stop it with Ctrl-C or SIGTERM; start it again on the same directory and it goes on where it was.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class AllCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ServerOptions server;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Where everything is kept (default: ${DEFAULT-VALUE}).",
      defaultValue = DataDirectory.DEFAULT)
  private Path dataDir;

  @Mixin private ReadingOptions reading;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ConductorConfig file = server.read();
    AllInOneOptions options =
        new AllInOneOptions(
            dataDir,
            server.bind(),
            server.port(file),
            file,
            defaultProfile(System.getenv()),
            reading.rawQuarantine(),
            reading.gapPolicy(),
            reading.traceOneIn());
    AllInOne all = AllInOne.start(options, server.peers(), server.dynamo());
    spec.commandLine()
        .getOut()
        .printf(
            "kvindex: ready at %s, data in %s%n", all.uri(), dataDir.toAbsolutePath().normalize());
    spec.commandLine().getOut().flush();
    StopSignal.runUntil(all);
    return 0;
  }

  /**
   * {@code CONDUCTOR_SEED}: an integer, signed or unsigned, is the XXH3 seed of registrations that
   * name none.
   */
  static HashProfile defaultProfile(Map<String, String> environment) {
    String seed = environment.get("CONDUCTOR_SEED");
    if (seed == null || seed.isBlank()) {
      return HashProfile.XXH3_DEFAULT;
    }
    try {
      BigInteger number = new BigInteger(seed.strip());
      if (number.bitLength() > Long.SIZE - (number.signum() < 0 ? 1 : 0)) {
        throw new NumberFormatException("more than 64 bits");
      }
      return HashProfile.xxh3(number.longValue());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "CONDUCTOR_SEED must be an integer of 64 bits, got " + seed, e);
    }
  }
}
