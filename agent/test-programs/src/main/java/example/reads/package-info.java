/** Programs that read files in the ways that user code does. They import nothing of CoorDL. */
package example.reads;
