/** Checkpoints for other processes, and for backups. */
@NullMarked
package io.kvindex.query.lend;

import org.jspecify.annotations.NullMarked;
