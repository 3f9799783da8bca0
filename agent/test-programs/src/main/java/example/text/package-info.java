/** Programs that use the iterators of {@code deeplearning4j-nlp} over sentences. */
package example.text;
