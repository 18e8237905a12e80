// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A server's certificate for the loopback address, made by the JDK's keytool and good for a day.
 *
 * @param keystore PKCS12, with the private key
 * @param password of the keystore and the key
 * @param authority who signed it, PEM: it has signed itself
 */
record Certificate(Path keystore, String password, Path authority) {

  static Certificate create(Path directory, String password)
      throws IOException, InterruptedException {
    Path keystore = directory.resolve("broker.p12");
    Path authority = directory.resolve("ca.pem");
    keytool(
        keystore,
        password,
        "-genkeypair",
        "-keyalg",
        "EC",
        "-dname",
        "CN=" + UUID.randomUUID(), // two of one name would be taken for one another
        "-ext",
        "SAN=ip:127.0.0.1",
        "-validity",
        "1");
    keytool(keystore, password, "-exportcert", "-rfc", "-file", authority.toString());
    return new Certificate(keystore, password, authority);
  }

  private static void keytool(Path keystore, String password, String... more)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(more));
    command.addAll(
        List.of(
            "-alias",
            "broker",
            "-keystore",
            keystore.toString(),
            "-storetype",
            "PKCS12",
            "-storepass",
            password));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0 || !Files.exists(keystore)) {
      throw new IllegalStateException("keytool: " + said);
    }
  }
}
