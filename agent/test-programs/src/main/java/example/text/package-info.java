/** Programs that use the iterators over sentences of {@code deeplearning4j-nlp}. */
package example.text;
