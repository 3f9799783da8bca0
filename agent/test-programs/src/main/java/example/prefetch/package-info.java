/** Loops that prepare, leave, repeat and disturb their batches in every way. */
package example.prefetch;
