// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.testing.chaos.IndexApi.Answer;
import java.io.IOException;

/** Compares what is answered of one engine while others go on. */
final class EngineCheck {

  private final OwnProcesses processes;
  private final Findings findings;

  EngineCheck(OwnProcesses processes, Findings findings) {
    this.processes = processes;
    this.findings = findings;
  }

  /**
   * Compares what is answered of one engine, which has to be quiet, for all prompts it was given.
   */
  void compare(ChaosEngine engine) throws InterruptedException {
    try {
      for (Prompt prompt : engine.prompts()) {
        Answer answer = processes.api().query(engine.tenant(), prompt);
        if (answer.degraded().contains(engine.name())) {
          findings.wrong(engine.name() + " is marked degraded though nothing of it was lost");
        }
        new RowCheck().check(engine, prompt, answer.rows().path(engine.name()), findings);
      }
    } catch (IOException e) {
      findings.wrong("nothing was answered about " + engine.name() + ": " + e);
    }
  }

  /** Whatever is lost of an engine: nothing may be answered of its former lives. */
  void compareDead(ChaosEngine engine) throws InterruptedException {
    try {
      for (EngineLife life : engine.lives().subList(0, engine.lives().size() - 1)) {
        for (Prompt prompt : life.own()) {
          JsonNode row = processes.api().query(engine.tenant(), prompt).rows().path(engine.name());
          if (row.path("longest_matched").asInt() > 0) {
            findings.ghost(engine.name() + ", dead, " + prompt.name() + ": answered " + row);
          }
        }
      }
    } catch (IOException e) {
      findings.wrong("nothing was answered about " + engine.name() + ": " + e);
    }
  }
}
