/** What needs a driver for GPUs and no library. */
package example.gpu;
