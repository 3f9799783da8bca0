/** Programs that read files in every way that user code does. Imports nothing of CoorDL. */
package example.reads;
