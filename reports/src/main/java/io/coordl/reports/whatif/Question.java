package io.coordl.reports.whatif;

/**
 * One question about a job. Each looks at the {@link Pipeline} on its own, says what it found, how
 * sure that is, and names no argument that the agent does not have.
 */
interface Question {
  /** Its stable name, for programs. */
  String name();

  /** What is asked, in a few words. */
  String title();

  /** An answer, or what is missing for one. */
  Answer ask(Pipeline pipeline, Wishes wishes);
}
