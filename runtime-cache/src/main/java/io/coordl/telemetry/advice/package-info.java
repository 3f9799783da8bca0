/**
 * Shared by the summary at exit and every report: how the epochs of a job are counted, the one
 * advice on them, and how figures are formatted. Both the agent and the reports may use it; it
 * knows only the events.
 */
@NullMarked
package io.coordl.telemetry.advice;

import org.jspecify.annotations.NullMarked;
