/**
 * Shared by the exit summary and all reports: counts the epochs of a job, derives the advice from
 * their figures, and formats figures. Depends only on the events.
 */
@NullMarked
package io.coordl.telemetry.advice;

import org.jspecify.annotations.NullMarked;
