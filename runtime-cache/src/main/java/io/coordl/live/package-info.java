/** Live status that a running job shows to other processes. */
@NullMarked
package io.coordl.live;

import org.jspecify.annotations.NullMarked;
