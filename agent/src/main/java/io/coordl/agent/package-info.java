/**
 * The agent's only class on the program's class path, which has {@code premain}. The boot loader
 * ({@code bridge}) or the isolated loader ({@code install}) loads everything else.
 */
@NullMarked
package io.coordl.agent;

import org.jspecify.annotations.NullMarked;
