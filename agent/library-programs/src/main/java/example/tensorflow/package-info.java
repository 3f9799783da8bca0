/** A training loop on TensorFlow for Java, as an ordinary user writes it. */
package example.tensorflow;
