/**
 * The agent's only class on the program's class path: {@code premain}. Everything else of the agent
 * is loaded by the boot loader ({@code bridge}) or by the isolated loader ({@code install}).
 */
@NullMarked
package io.coordl.agent;

import org.jspecify.annotations.NullMarked;
