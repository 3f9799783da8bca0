/**
 * The description of a training library for the agent: methods to mark and to intercept,
 * capabilities, and texts for the user. Uses no type of a library and names no library.
 */
@NullMarked
package io.coordl.library;

import org.jspecify.annotations.NullMarked;
