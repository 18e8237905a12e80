// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes the bytes of TCP connections on to another port. */
final class TcpRelay implements AutoCloseable {

  private final ServerSocket server;
  private final URI target;
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;

  /** Listens on a port of the loopback address for an endpoint like {@code tcp://127.0.0.1:1}. */
  TcpRelay(int port, String endpoint) throws IOException {
    server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    target = URI.create(endpoint);
    daemon(this::accept);
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        clients.add(client);
        if (cut) {
          client.close();
          continue;
        }
        Socket engine = new Socket(target.getHost(), target.getPort());
        daemon(() -> copy(client, engine));
        daemon(() -> copy(engine, client));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException e) {
      // One of them has closed.
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "tcp-relay");
    thread.setDaemon(true);
    thread.start();
  }

  /** Breaks all connections, and those that are tried. */
  void cut() throws IOException {
    cut = true;
    for (Socket client : clients) {
      client.close();
    }
    clients.clear();
  }

  /** Lets connections come about again. */
  void mend() {
    cut = false;
  }

  /** Where it listens. */
  String endpoint() {
    return "tcp://127.0.0.1:" + server.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
