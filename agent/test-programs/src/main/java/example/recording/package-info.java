/** Starts a recording of JFR at a moment of a job's start that a test has chosen. */
package example.recording;
