// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.follow.FollowLimits;
import io.kvindex.bridge.follow.GapPolicy;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.http.HttpSettings;
import java.nio.file.Path;

/**
 * Settings of everything in one process.
 *
 * @param dataDir where broker and tables live
 * @param bind address the HTTP API listens on
 * @param httpPort its port, 0 = any free one
 * @param conductor registrations from a file
 * @param defaultProfile hash profile of registrations that name none
 * @param rawQuarantine whether undecodable batches are kept with their bytes, which hold token ids
 * @param gapPolicy what becomes of blocks once events are lost for good
 * @param traceOneIn one batch of an engine in so many is traced, 0 = none
 */
public record AllInOneOptions(
    Path dataDir,
    String bind,
    int httpPort,
    ConductorConfig conductor,
    HashProfile defaultProfile,
    boolean rawQuarantine,
    GapPolicy gapPolicy,
    int traceOneIn) {

  /** Everything at its default, on a directory. */
  public static AllInOneOptions in(Path dataDir) {
    return new AllInOneOptions(
        dataDir,
        HttpSettings.DEFAULT.bind(),
        HttpSettings.DEFAULT_PORT,
        ConductorConfig.NONE,
        HashProfile.XXH3_DEFAULT,
        true,
        GapPolicy.KEEP,
        FollowLimits.DEFAULT.traceOneIn());
  }

  /** The same on another port of the loopback address; 0 = any free one. */
  public AllInOneOptions withHttpPort(int port) {
    return new AllInOneOptions(
        dataDir, bind, port, conductor, defaultProfile, rawQuarantine, gapPolicy, traceOneIn);
  }
}
