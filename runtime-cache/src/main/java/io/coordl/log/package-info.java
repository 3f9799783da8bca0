/** What the agent tells the user. Knows nothing of what it is about, nor of how it is printed. */
@NullMarked
package io.coordl.log;

import org.jspecify.annotations.NullMarked;
