package io.coordl.reports.whatif;

/**
 * What locality-aware assignment still moves (Yang and Cong, HiPC'19). A global batch is drawn at
 * random; each host takes those of its samples that it keeps, but no more than a local batch; the
 * surplus of one host fills the deficit of another, whatever pairs them up. So the number of
 * samples that move is the sum of the surpluses, and follows from a binomial distribution alone.
 */
final class Balancing {
  private Balancing() {}

  /**
   * The part of the samples that moves from one host to another, on average; 0 to 1.
   *
   * @param hosts at least 1
   * @param batch samples of a local batch, at least 1
   * @param kept part of the data set that the hosts keep, each as much; what nobody keeps is read
   *     from storage by whoever lacks samples
   */
  static double moved(int hosts, int batch, double kept) {
    if (hosts == 1 || kept <= 0) {
      return 0;
    }
    long drawn = (long) hosts * batch;
    double mine = kept / hosts;
    // P(k) of k of the drawn samples being mine; its mean is kept * batch, near which it begins.
    double chance = probability(drawn, batch, mine);
    double surplus = 0;
    for (long k = batch; k <= drawn && chance > 1e-18; k++) {
      surplus += (k - batch) * chance;
      chance *= (drawn - k) / (k + 1.0) * (mine / (1 - mine));
    }
    return surplus / batch;
  }

  private static double probability(long drawn, int wanted, double each) {
    double logarithm = wanted * Math.log(each) + (drawn - wanted) * Math.log1p(-each);
    for (int i = 1; i <= wanted; i++) {
      logarithm += Math.log((double) (drawn - wanted + i) / i);
    }
    return Math.exp(logarithm);
  }
}
