// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.query.peer.Peers;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Other indexers whose dump an indexer is started with. */
final class PeerOptions {

  private static final Logger LOG = LoggerFactory.getLogger(PeerOptions.class);

  /** Dynamo's bound for a whole dump; a longer one is taken over while this replica serves. */
  private static final long WAIT_SECONDS = 10;

  @Option(
      names = "--peers",
      paramLabel = "URL",
      split = ",",
      description =
          "Dynamo or kvindex indexers, separated by commas: the dump of the first one that answers"
              + " is taken over for engines registered from now on.")
  private List<String> peers = List.of();

  /**
   * Peers to be asked, in this order.
   *
   * @throws IllegalArgumentException if one is no URL
   */
  List<String> urls() {
    peers.forEach(Peers::requireUrl);
    return peers;
  }

  /** Takes the dump over before engines are registered, if it comes in time. */
  static void recover(Peers known, List<String> urls) throws InterruptedException {
    if (urls.isEmpty()) {
      return;
    }
    try {
      known.recover(urls).get(WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      LOG.warn("no peer's dump within {} s; serving meanwhile", WAIT_SECONDS);
    } catch (ExecutionException e) {
      LOG.warn("no peer's dump", e.getCause());
    }
  }
}
