/** Loops that prepare, abandon, repeat and disturb their batches in every way. */
package example.prefetch;
