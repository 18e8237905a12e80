// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;

/**
 * The figures of one table, shown as the process's own while it serves. Two tables that are here at
 * a time would else share names: gauges change hands with the table, counters go on where they are.
 */
final class TableMeters {

  private final CompositeMeterRegistry own = new CompositeMeterRegistry();
  private final MeterRegistry process;

  TableMeters(MeterRegistry process) {
    this.process = process;
  }

  /** Where the table registers its meters. */
  MeterRegistry registry() {
    return own;
  }

  /** They are the process's from now on. */
  void show() {
    own.add(process);
  }

  /** They are not any more: what another table registers under their names is its own. */
  void hide() {
    own.remove(process);
    for (Meter meter : own.getMeters()) {
      if (meter instanceof Gauge) {
        Gauge shown = process.find(meter.getId().getName()).tags(meter.getId().getTags()).gauge();
        if (shown != null) {
          process.remove(shown);
        }
      }
    }
  }
}
