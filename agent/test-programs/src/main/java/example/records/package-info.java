/** Programs that use DL4J's iterators over readers of text files and of in-memory records. */
package example.records;
