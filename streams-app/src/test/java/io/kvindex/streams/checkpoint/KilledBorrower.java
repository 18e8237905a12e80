// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;

/** A process that borrows one checkpoint after the other until it is killed. */
final class KilledBorrower {

  private KilledBorrower() {}

  /**
   * @param args directory, place of the lender
   */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    Borrower borrower = new Borrower(() -> List.of(args[1]), new SimpleMeterRegistry());
    Replacement.settle(directory);
    System.out.println("running");
    while (true) {
      borrower.borrow(
          new Wanted(0, KilledWriter.TOPIC, Long.MAX_VALUE, 0), directory, Progress.NONE);
    }
  }
}
