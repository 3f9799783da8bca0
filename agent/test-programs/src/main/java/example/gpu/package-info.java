/** Programs that need a GPU driver but no library. */
package example.gpu;
