// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Commands and flags that are gone, so that who gives one is told what to do instead. */
public final class Gone {

  private static final List<String> OF_INDEX =
      List.of("--standbys", "--full-replicas", "--copy-delay", "--rack", "--instance-name");

  private static final String NO_STANDBYS = " are gone: what stands by for a copy is another copy.";

  private static final String INDEX =
      String.join(", ", OF_INDEX)
          + NO_STANDBYS
          + " Leave them out; --copy NAME names the copy that the process keeps"
          + " (docs/operate/copies.md)";

  private static final String NAME =
      "--app and --anew are gone. --copy NAME names what is made; it is kept, and goes on when it is"
          + " started again. To begin anew, give another name, or delete its directory and run"
          + " kvindex forget --copy NAME";

  private static final String SWAP =
      "--swap, --swap-wait and --although-cut are gone. The copy goes on serving at its own"
          + " --http-port: compare it with a replica (kvindex diff), have the load balancer send"
          + " routers there, then stop the replicas (docs/operate/rewind.md, \"Moving"
          + " routers to a rebuilt copy\")";

  private static final String REPLICAS =
      "--standbys, --full-replicas and --rack" + NO_STANDBYS + " Leave the flag out";

  private static final Map<String, String> OF_REPLAY =
      Map.of(
          "--app", NAME,
          "--anew", NAME,
          "--swap", SWAP,
          "--swap-wait", SWAP,
          "--although-cut", SWAP,
          "--standbys", REPLICAS,
          "--full-replicas", REPLICAS,
          "--rack", REPLICAS);

  private Gone() {}

  /**
   * What to do instead.
   *
   * @param command it was given to; the program's own name for a command
   * @param word the flag, maybe with its value, or the command
   * @return null = there never was such a thing
   */
  public static @Nullable String instead(String command, String word) {
    String flag = word.split("=", 2)[0];
    return switch (command) {
      case "index" -> OF_INDEX.contains(flag) ? INDEX : null;
      case "replay" -> OF_REPLAY.get(flag);
      case "kvindex" ->
          flag.equals("chaos") || flag.equals("drill")
              ? flag
                  + " is no command of the program any more: in a checkout, testing/run.sh "
                  + flag
              : null;
      default -> null;
    };
  }

  /**
   * Refuses flags of an indexer that the environment says.
   *
   * @throws IllegalArgumentException if one of the variables is set
   */
  static void check(Map<String, String> environment) {
    for (String flag : OF_INDEX) {
      String name = "KVINDEX_" + flag.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
      if (!environment.getOrDefault(name, "").isBlank()) {
        throw new IllegalArgumentException(name + " and " + INDEX);
      }
    }
  }
}
