// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where checkpoints can be had. */
interface Lender {

  /**
   * By where it is.
   *
   * @param place {@code HOST:PORT} or {@code http://HOST:PORT} of a process, or a directory
   */
  static Lender of(String place) {
    boolean directory = place.contains("/") && !place.startsWith("http://");
    return directory || !place.contains(":")
        ? new BackupDirectory(Path.of(place))
        : new RemoteLender(place);
  }

  /**
   * What there is of a partition, null = nothing.
   *
   * @throws IOException if it can not be asked
   * @throws CheckpointRefusedException if what there is can not be read
   */
  @Nullable CheckpointOffer offer(int partition) throws IOException, CheckpointRefusedException;

  /**
   * Copies a partition's checkpoint; all of it is on the disk afterwards.
   *
   * @param wanted what it must be; if it is not, no file of it comes
   * @param into not there yet, its parent is; has a part of it if this throws
   * @param progress bytes of how many
   * @return whether it was copied; false = there is nothing, as another one is being lent
   * @throws IOException if it does not come, or not as it was sent
   * @throws CheckpointRefusedException if it is not what is wanted
   */
  boolean fetch(Wanted wanted, Path into, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException;
}
