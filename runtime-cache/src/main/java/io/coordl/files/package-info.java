/**
 * How the agent opens the files that it writes: whose they are, what they are, and that nothing
 * leads elsewhere. Knows nothing of what is in them.
 */
@NullMarked
package io.coordl.files;

import org.jspecify.annotations.NullMarked;
