/** What a running job shows of itself to whoever looks from outside. */
@NullMarked
package io.coordl.live;

import org.jspecify.annotations.NullMarked;
