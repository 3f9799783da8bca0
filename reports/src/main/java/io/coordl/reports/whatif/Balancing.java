package io.coordl.reports.whatif;

/**
 * Computes how many samples locality-aware assignment still moves (Yang and Cong, HiPC'19). A
 * global batch is drawn at random; each host takes the samples that it caches, at most a local
 * batch. The surplus of one host fills the deficit of another, however they are paired. So the
 * number of moved samples is the sum of the surpluses, and follows from a binomial distribution.
 */
final class Balancing {
  private Balancing() {}

  /**
   * Returns the mean share of samples that move from one host to another, 0 to 1.
   *
   * @param hosts at least 1
   * @param batch samples of a local batch, at least 1
   * @param cached share of the data set that the hosts cache, equally divided; hosts that lack
   *     samples read the rest from storage
   */
  static double moved(int hosts, int batch, double cached) {
    if (hosts == 1 || cached <= 0) {
      return 0;
    }
    long draws = (long) hosts * batch;
    double hostShare = cached / hosts;
    // Probability that a host caches k of the drawn samples; at first, k = batch.
    double chance = probability(draws, batch, hostShare);
    double surplus = 0;
    for (long k = batch; k <= draws && chance > 1e-18; k++) {
      surplus += (k - batch) * chance;
      chance *= (draws - k) / (k + 1.0) * (hostShare / (1 - hostShare));
    }
    return surplus / batch;
  }

  private static double probability(long draws, int hits, double each) {
    double logarithm = hits * Math.log(each) + (draws - hits) * Math.log1p(-each);
    for (int i = 1; i <= hits; i++) {
      logarithm += Math.log((double) (draws - hits + i) / i);
    }
    return Math.exp(logarithm);
  }
}
