/** Ordinary training programs with both libraries: what they train on differs, and how. */
package example.training;
