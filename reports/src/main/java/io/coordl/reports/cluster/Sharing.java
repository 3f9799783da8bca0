package io.coordl.reports.cluster;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Divides a cluster among jobs, for a single point in time, by an {@link Allocation}. */
public final class Sharing {
  /**
   * A job that requests GPUs.
   *
   * @param models a table that contains its model
   * @param model its model's name
   * @param ownMemoryGib GiB that it needs in addition to the cache in its table
   */
  public record Request(ModelTable models, String model, int gpus, double ownMemoryGib) {}

  /** GPUs of one server; servers are numbered from 0. */
  public record Part(int server, int gpus) {}

  /**
   * The resources that a job gets; none if it waits.
   *
   * @param parts its GPUs by server; none for {@link Allocation#OPT}, which places nothing
   * @param cores cores for the whole job; likewise the other resources
   * @param speed relative to the speed at its proportional share
   */
  public record Share(
      boolean waits,
      List<Part> parts,
      double cores,
      double memoryGib,
      double storageMbs,
      double speed) {
    private static final Share NONE = new Share(true, List.of(), 0, 0, 0, 0);
  }

  private final Cluster cluster;
  private final List<Needs> needs = new ArrayList<>();
  private final List<Request> requests;

  /**
   * @param requests by priority, highest first; each must fit at its proportional share
   */
  public Sharing(Cluster cluster, List<Request> requests) {
    this.cluster = cluster;
    this.requests = requests;
    for (Request request : requests) {
      needs.add(
          new Needs(
              cluster,
              request.models(),
              request.models().named(request.model()),
              request.gpus(),
              request.ownMemoryGib()));
    }
  }

  /** Returns one share per job, in the order of the requests. */
  public List<Share> by(Allocation allocation) throws InputException {
    return allocation == Allocation.OPT ? optimum() : placed(allocation);
  }

  private List<Share> placed(Allocation allocation) {
    List<Tenant> tenants = new ArrayList<>();
    for (int i = 0; i < needs.size(); i++) {
      Needs need = needs.get(i);
      boolean proportional = allocation == Allocation.PROPORTIONAL;
      tenants.add(
          new Tenant(
              requests.get(i).gpus(),
              proportional ? need.fair() : need.ideal(),
              need.fair(),
              false));
    }
    Placer placer = new Placer(cluster, allocation);
    placer.place(tenants);
    if (allocation == Allocation.TUNE) {
      Leftovers.distribute(cluster, placer.servers(), needs, tenants);
    }
    List<Share> shares = new ArrayList<>();
    for (int i = 0; i < tenants.size(); i++) {
      Placement placement = tenants.get(i).placement;
      shares.add(
          placement == null
              ? Share.NONE
              : share(i, placement.perGpu(), placement, needs.get(i).speed(placement.perGpu())));
    }
    return shares;
  }

  private Share share(int job, double[] perGpu, @Nullable Placement at, double speed) {
    int gpus = requests.get(job).gpus();
    List<Part> parts = new ArrayList<>();
    for (int i = 0; at != null && i < at.spread(); i++) {
      parts.add(new Part(at.server(i), at.gpus(i)));
    }
    return new Share(
        false,
        parts,
        gpus * perGpu[Resource.CORES],
        gpus * perGpu[Resource.MEMORY],
        gpus * perGpu[Resource.STORAGE],
        speed / needs.get(job).fairSpeed());
  }

  /** Returns the optimum for the jobs that get GPUs; a job gets them if enough are free. */
  private List<Share> optimum() throws InputException {
    Map<Object, List<Integer>> jobsByRequest = new LinkedHashMap<>();
    int free = cluster.gpus();
    for (int i = 0; i < requests.size(); i++) {
      Request request = requests.get(i);
      if (request.gpus() <= free) {
        free -= request.gpus();
        jobsByRequest.computeIfAbsent(request, any -> new ArrayList<>()).add(i);
      }
    }
    List<List<Integer>> classes = List.copyOf(jobsByRequest.values());
    List<Optimum.Point> means =
        Optimum.of(
                cluster,
                classes.stream().map(jobs -> needs.get(jobs.get(0)).jobClass(jobs.size())).toList())
            .means();
    Map<Integer, Optimum.Point> byJob = new LinkedHashMap<>();
    for (int i = 0; i < classes.size(); i++) {
      for (int job : classes.get(i)) {
        byJob.put(job, means.get(i));
      }
    }
    List<Share> shares = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      Optimum.Point mean = byJob.get(i);
      shares.add(mean == null ? Share.NONE : share(i, mean.perGpu(), null, mean.speed()));
    }
    return shares;
  }
}
