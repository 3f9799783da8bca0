/**
 * Has only the entry class, which starts the agent. The boot loader loads {@code io.coordl.bridge},
 * and the isolated loader all other classes.
 */
@NullMarked
package io.coordl.agent;

import org.jspecify.annotations.NullMarked;
