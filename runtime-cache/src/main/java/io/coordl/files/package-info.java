/**
 * How the agent opens the files that it writes: it checks their owner and type, and that no link
 * leads elsewhere. Knows nothing of their contents.
 */
@NullMarked
package io.coordl.files;

import org.jspecify.annotations.NullMarked;
