/**
 * From the bytes of a ZMQ message to engine events: frames, msgpack and the layouts of each engine
 * family. Functions of their input alone: nothing here waits or logs, and all that is kept is with
 * a batch what was found in it.
 */
@NullMarked
package io.kvindex.bridge.decode;

import org.jspecify.annotations.NullMarked;
