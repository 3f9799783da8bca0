package io.coordl.reports.recording;

/** The totals of a recording, and the aggregates of its frequent events. */
public record JobActivity(JobRecording recording, Activity activity) {}
