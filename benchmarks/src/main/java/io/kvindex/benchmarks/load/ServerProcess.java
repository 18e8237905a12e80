// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** CPU time of a process as the kernel counts it, whole and by thread name. Linux only. */
final class ServerProcess {
  /** The kernel reports in 1/100 s on every Linux that matters (USER_HZ). */
  private static final double TICKS_PER_SECOND = 100;

  private static final int NAME_START = 1;
  private static final int FIELDS_BEFORE_UTIME = 11; // utime is field 14, the name field 2
  private static final Pattern DIGITS = Pattern.compile("[-#]?\\d+");

  private static final Pattern TOTAL = Pattern.compile("Total +\\d+ +(\\d+)");

  private final Path directory;

  ServerProcess(long pid) {
    directory = Path.of("/proc", Long.toString(pid));
  }

  /** The process that listens on a TCP port of this machine. */
  static ServerProcess listeningOn(int port) throws IOException {
    String inode = inodeOf(port);
    if (inode != null) {
      try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
        for (Path process : processes) {
          if (holds(process, "socket:[" + inode + "]")) {
            return new ServerProcess(Long.parseLong(process.getFileName().toString()));
          }
        }
      }
    }
    throw new IOException("no process of ours listens on port " + port + "; use --pid");
  }

  private static @Nullable String inodeOf(int port) throws IOException {
    String wanted = String.format(Locale.ROOT, ":%04X", port);
    for (String file : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      for (String line : Files.readAllLines(Path.of(file))) {
        String[] words = line.trim().split("\\s+", -1);
        if (words.length > 9 && words[1].endsWith(wanted) && words[3].equals("0A")) {
          return words[9];
        }
      }
    }
    return null;
  }

  private static boolean holds(Path process, String socket) {
    try (Stream<Path> files = Files.list(process.resolve("fd"))) {
      return files.anyMatch(file -> linksTo(file, socket));
    } catch (IOException e) {
      return false; // somebody else's process, or one that just ended
    }
  }

  private static boolean linksTo(Path file, String target) {
    try {
      return Files.readSymbolicLink(file).toString().equals(target);
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  /** utime + stime of the whole process, in seconds. */
  double cpuSeconds() throws IOException {
    return parse(Files.readString(directory.resolve("stat"), StandardCharsets.UTF_8));
  }

  /** Memory it has in use, VmRSS, in bytes. */
  long residentBytes() throws IOException {
    for (String line : Files.readAllLines(directory.resolve("status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    throw new IOException("no VmRSS in " + directory.resolve("status"));
  }

  /** Bytes of all live objects of a Java process; collects its garbage, which stops it. */
  long liveHeapBytes() throws IOException {
    Process jcmd =
        new ProcessBuilder("jcmd", directory.getFileName().toString(), "GC.class_histogram")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String all = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher total = TOTAL.matcher(all);
    if (!total.find()) {
      throw new IOException("jcmd has no total: " + all);
    }
    return Long.parseLong(total.group(1));
  }

  /** Busy time of all cores since boot, in seconds: user, nice, system, interrupts, stolen. */
  static double machineCpuSeconds() throws IOException {
    String[] words =
        Files.readString(Path.of("/proc/stat"), StandardCharsets.UTF_8).split("\\s+", 10);
    long ticks = 0;
    for (int field : new int[] {1, 2, 3, 6, 7, 8}) {
      ticks += Long.parseLong(words[field]);
    }
    return ticks / TICKS_PER_SECOND;
  }

  /** Seconds per thread name with its numbers replaced by {@code *}; ended threads are missing. */
  Map<String, Double> cpuSecondsByThread() throws IOException {
    Map<String, Double> byName = new TreeMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(directory.resolve("task"))) {
      for (Path thread : threads) {
        try {
          String stat = Files.readString(thread.resolve("stat"), StandardCharsets.UTF_8);
          String name = stat.substring(stat.indexOf('(') + NAME_START, stat.lastIndexOf(')'));
          byName.merge(DIGITS.matcher(name).replaceAll("*"), parse(stat), Double::sum);
        } catch (IOException e) {
          continue; // the thread ended between the listing and the read
        }
      }
    }
    return byName;
  }

  private static double parse(String stat) {
    String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long ticks =
        Long.parseLong(words[FIELDS_BEFORE_UTIME]) + Long.parseLong(words[FIELDS_BEFORE_UTIME + 1]);
    return ticks / TICKS_PER_SECOND;
  }
}
