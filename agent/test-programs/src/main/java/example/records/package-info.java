/** A program that uses DL4J's iterators over readers of text files and of in-memory records. */
package example.records;
