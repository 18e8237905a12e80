// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a child's JVM has the program from: the class path of this one, or the jar that tests name,
 * whose classes may be in an archive (see {@code deploy/class-archive.sh}) and then cost two thirds
 * of the processor time of a start.
 */
public final class ChildProgram {

  /** System property: a jar with its libraries beside it. */
  static final String JAR = "kvindex.child.jar";

  private ChildProgram() {}

  /** Options for {@code java}. */
  static List<String> options() {
    return options("");
  }

  /**
   * Options for {@code java} and a program that is made of this one.
   *
   * @param more class path behind ours, "" = none
   */
  public static List<String> options(String more) {
    String named = System.getProperty(JAR, "");
    String classPath = isFile(named) ? named : System.getProperty("java.class.path");
    List<String> options = new ArrayList<>();
    if (classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator)) {
      Path archive = Path.of(classPath.replaceFirst("jar$", "jsa"));
      if (isArchiveOf(archive, Path.of(classPath))) {
        options.add("-XX:SharedArchiveFile=" + archive);
        options.addAll(List.of("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"));
      }
    }
    options.add("-cp");
    options.add(more.isEmpty() ? classPath : classPath + File.pathSeparator + more);
    return options;
  }

  private static boolean isFile(String name) {
    return !name.isEmpty() && Files.isRegularFile(Path.of(name));
  }

  /** It is made after its jar. */
  private static boolean isArchiveOf(Path archive, Path jar) {
    try {
      return Files.isRegularFile(archive)
          && Files.getLastModifiedTime(archive).compareTo(Files.getLastModifiedTime(jar)) > 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
