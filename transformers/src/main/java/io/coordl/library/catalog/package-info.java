/** The list of libraries: each has one entry here, and its own folder beside this one. */
@NullMarked
package io.coordl.library.catalog;

import org.jspecify.annotations.NullMarked;
