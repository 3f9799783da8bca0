/** Programs that read files as user code does. They import nothing from CoorDL. */
package example.reads;
