// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers all that is asked, until it stands still: its port stays open then. */
final class AnsweringProcess implements AutoCloseable {
  private final ServerSocket socket;
  private final Thread thread = new Thread(this::run, "answering");
  private final Semaphore turns = new Semaphore(1);
  private final AtomicInteger answered = new AtomicInteger();

  AnsweringProcess(ServerSocket socket) {
    this.socket = socket;
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        try (Socket one = socket.accept()) {
          turns.acquire();
          answer(one);
        }
      }
    } catch (IOException | InterruptedException e) {
      return; // closed
    }
  }

  /** Who only looks whether the port is open asks nothing, and may be gone. */
  private void answer(Socket one) {
    try {
      if (one.getInputStream().read() >= 0) {
        one.getOutputStream().write('H');
        answered.incrementAndGet();
      }
    } catch (IOException e) {
      return;
    } finally {
      turns.release();
    }
  }

  int answered() {
    return answered.get();
  }

  void standStill() {
    turns.acquireUninterruptibly();
  }

  void goOn() {
    turns.release();
  }

  @Override
  public void close() throws Exception {
    socket.close();
    thread.interrupt();
    thread.join();
  }
}
