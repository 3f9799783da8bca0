/** A training loop on TensorFlow for Java, as an ordinary user would write it. */
package example.tensorflow;
