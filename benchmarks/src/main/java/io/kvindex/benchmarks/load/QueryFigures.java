// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.util.Locale;

/**
 * What one measured load of one form came to.
 *
 * @param server CPU of the server over the measured time
 * @param own CPU of the load and its publishers
 * @param churned block operations a second that were stored or removed meanwhile
 */
record QueryFigures(
    LoadShape shape,
    int connections,
    WireForm form,
    QueryClient client,
    CpuMeter server,
    CpuMeter own,
    double churned) {

  boolean right() {
    return client.errors() == 0 && client.wrong() == 0;
  }

  private double rate() {
    return client.answers() / server.wallSeconds();
  }

  private double serverMicros() {
    return server.cpuSeconds() * 1e6 / client.answers();
  }

  private double clientMicros() {
    return client.ownCpuSeconds() * 1e6 / client.answers();
  }

  private double othersCores() {
    return Math.max(0, server.machineCores() - server.cores() - own.cores());
  }

  private double micros(double quantile) {
    return client.latencies().quantile(quantile) / 1e3;
  }

  /** Prints everything that is known. */
  void report() {
    say("");
    say("form                    %s", form.label());
    say("tokens a prompt         %d", shape.promptTokens());
    say("connections             %d", connections);
    say("block operations meanwhile  %,.0f/s (half stores, half removals)", churned);
    say("queries                 %,d in %.1f s", client.answers(), server.wallSeconds());
    say("requests/s              %,.0f", rate());
    say(
        "latency p50 / p99 / max %.0f / %.0f / %.0f us",
        micros(0.5), micros(0.99), client.latencies().max() / 1e3);
    say("errors                  %d", client.errors());
    say("answers checked / wrong %,d / %d", client.checked(), client.wrong());
    say(
        "server CPU per query    %.1f us (whole process: its broker, bridge and ingest included)",
        serverMicros());
    say("server CPU              %.2f cores: %s", server.cores(), server.threads());
    say(
        "client CPU per query    %.1f us (query thread), %.2f cores with the publishers",
        clientMicros(), own.cores());
    say("others on this machine  %.2f cores", othersCores());
  }

  /** Head of a table in Markdown; see {@link #row}. */
  static void tableHead(LoadShape shape, int connections) {
    say("");
    say(
        "%d tokens, %d instances, %d connections",
        shape.promptTokens(), shape.instances(), connections);
    say("");
    say(
        "| form | requests/s | prompts/s | p50 / p99 us | server CPU us | client CPU us"
            + " | checked / wrong / errors | others, cores |");
    say("|---|---|---|---|---|---|---|---|");
  }

  /** These figures as a line of the table, ready to paste. */
  String row() {
    return String.format(
        Locale.ROOT,
        "| %s | %,.0f | %,.0f | %.0f / %.0f | %.1f | %.1f | %,d / %d / %d | %.2f |",
        form.label(),
        rate(),
        rate() * form.promptsARequest(),
        micros(0.5),
        micros(0.99),
        serverMicros(),
        clientMicros(),
        client.checked(),
        client.wrong(),
        client.errors(),
        othersCores());
  }
}
