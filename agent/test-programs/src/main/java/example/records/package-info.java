/** Programs that go through records with DL4J's iterators over readers of text and of memory. */
package example.records;
