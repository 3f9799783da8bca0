/** Programs that need a GPU driver but no training library. */
package example.gpu;
