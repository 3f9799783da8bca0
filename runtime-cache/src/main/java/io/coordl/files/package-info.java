/**
 * How the agent opens its own files and those that the user names: it checks their owner and type,
 * that no link leads elsewhere, and that storage answers. Knows nothing of their contents.
 */
@NullMarked
package io.coordl.files;

import org.jspecify.annotations.NullMarked;
