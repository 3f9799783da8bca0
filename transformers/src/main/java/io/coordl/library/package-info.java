/**
 * What the agent knows about a training library: its methods to mark and to intercept, its
 * capabilities, and texts for the user. Neither uses a type of a library nor names one.
 */
@NullMarked
package io.coordl.library;

import org.jspecify.annotations.NullMarked;
