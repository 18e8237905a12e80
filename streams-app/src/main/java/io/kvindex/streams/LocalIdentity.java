// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.row.RowKind;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Whose rows a directory holds: of another cluster, or of a changelog that was deleted and created
 * again, they would be served beside rows they have nothing to do with.
 *
 * @param cluster Kafka's id of the cluster
 * @param changelog Kafka's id of the changelog topic, empty = there was none yet
 * @param layout version of the rows
 */
record LocalIdentity(String cluster, String changelog, int layout) {

  private static final String CLUSTER = "cluster.id";
  private static final String CHANGELOG = "changelog.topic.id";
  private static final String LAYOUT = "row.layout";

  /** That of rows written now. */
  static LocalIdentity of(String cluster, String changelog) {
    return new LocalIdentity(cluster, changelog, RowKind.LAYOUT_VERSION);
  }

  /** What is written there, null = nothing that can be read. */
  static @Nullable LocalIdentity read(Path file) {
    Properties text = new Properties();
    try (Reader in = Files.newBufferedReader(file)) {
      text.load(in);
      return new LocalIdentity(
          text.getProperty(CLUSTER, ""),
          text.getProperty(CHANGELOG, ""),
          Integer.parseInt(text.getProperty(LAYOUT, "")));
    } catch (IOException | IllegalArgumentException e) {
      return null;
    }
  }

  void write(Path file) throws IOException {
    Properties text = new Properties();
    text.setProperty(CLUSTER, cluster);
    text.setProperty(CHANGELOG, changelog);
    text.setProperty(LAYOUT, Integer.toString(layout));
    try (Writer out = Files.newBufferedWriter(file)) {
      text.store(out, "whose tables these are; read at start");
    }
  }

  /** Why rows of {@code found} can not go on as this one's, null = they can. */
  @Nullable String objectionTo(LocalIdentity found) {
    if (found.layout() != layout) {
      return "their layout is version " + found.layout() + ", this program's is " + layout;
    }
    if (!found.cluster().equals(cluster)) {
      return "they are of Kafka cluster " + found.cluster() + ", this is " + cluster;
    }
    // Whoever has rows had a changelog: only before the first start there is none.
    if (changelog.isEmpty()) {
      return "their changelog topic is gone";
    }
    // A first start is before the topic; one that ends at once never writes down which it was.
    if (found.changelog().isEmpty()) {
      return "nothing says of which changelog topic they are";
    }
    return found.changelog().equals(changelog)
        ? null
        : "their changelog topic was deleted and created again";
  }
}
