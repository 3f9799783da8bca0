/**
 * What the agent knows of a training library: its methods to mark and to intercept, what it can do,
 * and its words for the user. No type of a library, and no name of one.
 */
@NullMarked
package io.coordl.library;

import org.jspecify.annotations.NullMarked;
