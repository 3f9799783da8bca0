package io.coordl.peers.hosts.membership;

import java.util.ArrayList;
import java.util.List;

/** A Slurm node list, as in {@code SLURM_JOB_NODELIST}: {@code node[08-11,20],login}. */
final class NodeList {
  private NodeList() {}

  /**
   * Returns the names of the nodes, in list order.
   *
   * @param max maximum number of nodes
   * @throws IllegalArgumentException if the list is malformed or has more than {@code max} nodes
   */
  static List<String> expand(String list, int max) {
    List<String> names = new ArrayList<>();
    for (String entry : list.split(",(?![^\\[]*])", -1)) { // Commas outside brackets.
      expand("", entry.trim(), list, max, names);
    }
    return names;
  }

  /**
   * Adds the names of one entry; each joins the text before the first bracket, a number, and the
   * rest.
   */
  private static void expand(String done, String rest, String list, int max, List<String> names) {
    int open = rest.indexOf('[');
    if (open < 0) {
      String name = done + rest;
      if (!name.matches("[A-Za-z0-9._-]+")) {
        throw malformed(list);
      }
      if (names.size() == max) {
        throw new IllegalArgumentException(
            "'" + list + "' names more than " + max + " nodes, which is the maximum");
      }
      names.add(name);
      return;
    }
    int close = rest.indexOf(']', open);
    if (close < 0) {
      throw malformed(list);
    }
    for (String range : rest.substring(open + 1, close).split(",", -1)) {
      if (!range.trim().matches("[0-9]{1,9}(-[0-9]{1,9})?")) {
        throw malformed(list);
      }
      String[] ends = range.trim().split("-", -1);
      int last = Integer.parseInt(ends[ends.length - 1]);
      int first = Integer.parseInt(ends[0]);
      if (last < first) {
        throw malformed(list);
      }
      for (int number = first; number <= last; number++) {
        String digits = String.valueOf(number);
        String padded = "0".repeat(Math.max(0, ends[0].length() - digits.length())) + digits;
        expand(
            done + rest.substring(0, open) + padded, rest.substring(close + 1), list, max, names);
      }
    }
  }

  private static IllegalArgumentException malformed(String list) {
    return new IllegalArgumentException("'" + list + "' is not a node list such as node[01-04,7]");
  }
}
