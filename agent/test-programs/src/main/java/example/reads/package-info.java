/** Programs that read files in every way that user code does. They import nothing of CoorDL. */
package example.reads;
