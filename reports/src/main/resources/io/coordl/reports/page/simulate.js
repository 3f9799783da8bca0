  // The page of simulations: how long jobs take, how full the cluster is, and how many jobs wait.
  const RUNS = DATA.runs;
  const drawn = RUNS.map((run, index) => [run, index]).filter(([run]) => run.distribution.length > 0);

  const base = index => pointer("runs", index);
  const nameOf = index => show(below(base(index), "name"), "text");
  const hours = seconds => seconds / 3600;

  /** Only for generated workloads, where times of the finished jobs alone would be misleading. */
  const isOverloaded = run => run.overloaded && run.seed !== undefined;
  const SHARES = [["gpus", "GPUs"], ["cores", "cores"], ["memory", "memory"], ["storage", "storage rate"]];

  const perHour = {
    title: items => items.length === 0 ? "" : "hour " + fixed(items[0].parsed.x, 2),
  };

  const overTime = more => ["hours since the beginning", { type: "linear", min: 0, ...more }];

  function completion() {
    const made = section("completion", "Job completion times",
      soft("From the arrival of a job to its end. Each line rises to the share of the jobs that took no longer."));
    if (drawn.length > 0) {
      made.append(chart("Distribution of the job completion times",
        "One line for each run: the share of the jobs that finished within a number of hours. The folded table has the same figures.",
        () => ({
          type: "line",
          data: {
            datasets: drawn.map(([run, index]) => ({
              label: run.name, ...line(index), pointRadius: 0, pointHitRadius: 6,
              data: run.distribution.map(point => ({ x: hours(point.seconds), y: 100 * point.share })),
            })),
          },
          options: options(["job completion time, hours", { type: "linear", min: 0 }],
            ["% of the jobs", { min: 0, max: 100 }], {
              interaction: { mode: "nearest", axis: "xy", intersect: false },
              labels: { usePointStyle: true, pointStyleWidth: 14 },
              tooltip: {
                callbacks: {
                  title: items => items.length === 0 ? "" : fixed(items[0].parsed.y, 0) + " % of the jobs",
                  label: item => item.dataset.label + ": at most " + fixed(item.parsed.x, 2) + " h",
                },
              },
            }),
        })));
    }
    const several = RUNS.length > 1;
    made.append(table("Hours, and shares of the cluster allocated to jobs",
      [["run", "text"], ["jobs"], ["mean h"], ...(several ? [["mean, of the first"]] : []), ["p50 h"], ["p95 h"], ["p99 h"],
        ["makespan h"], ["unfinished"], ...SHARES.map(([, label]) => [label])],
      RUNS.map((run, index) => {
        const jct = below(base(index), "jct");
        const timed = isOverloaded(run) ? () => document.createTextNode("\u2013") : show;
        return [[nameOf(index), isOverloaded(run) ? " (overloaded: jobs wait forever)" : ""], show(below(jct, "jobs"), "count"),
          timed(below(jct, "meanSeconds"), "hours"),
          ...(several ? [(isOverloaded(RUNS[0]) ? () => "\u2013" : timed)(below(jct, "meanSeconds"), "times", { of: below(base(0), "jct", "meanSeconds") })] : []),
          ...["p50Seconds", "p95Seconds", "p99Seconds"].map(field => timed(below(jct, field), "hours")),
          timed(below(base(index), "makespanSeconds"), "hours"), show(below(base(index), "unfinished"), "count"),
          ...SHARES.map(([share]) => show(below(base(index), "utilisation", share), "percent"))];
      })));
    for (const [run, index] of drawn) {
      made.append(folded(["Distribution of ", nameOf(index)],
        table("Share of the jobs that finished within a number of hours", [["jobs"], ["hours"]],
          run.distribution.map((unused, at) => {
            const point = below(base(index), "distribution", at);
            return [show(below(point, "share"), "percent"), show(below(point, "seconds"), "hours")];
          }), { tall: true })));
    }
  }

  function utilisationChart(run) {
    return chart("Shares of the cluster allocated to jobs in " + run.name,
      "One line for each resource, over the hours of the run. The folded table has the same figures.",
      () => ({
        type: "line",
        data: {
          datasets: SHARES.map(([share, label], index) => ({
            label, ...line(index), pointRadius: 0, stepped: "after",
            data: run.timeline.map(point => ({ x: hours(point.atSeconds), y: 100 * point.utilisation[share] })),
          })),
        },
        options: options(overTime({}), ["% of the cluster", { min: 0, max: 100 }], {
          interaction: { mode: "nearest", axis: "x", intersect: false },
          labels: { usePointStyle: true, pointStyleWidth: 14 },
          tooltip: { callbacks: { ...perHour, label: item => item.dataset.label + ": " + fixed(item.parsed.y, 1) + " %" } },
        }),
      }), { height: "15rem" });
  }

  function overTimeTable(run, index) {
    return table("Means over consecutive rounds", [["hour"], ["waiting jobs"], ...SHARES.map(([, label]) => [label])],
      run.timeline.map((unused, at) => {
        const point = below(base(index), "timeline", at);
        return [show(below(point, "atSeconds"), "hours"), show(below(point, "queued"), "number"),
          ...SHARES.map(([share]) => show(below(point, "utilisation", share), "percent"))];
      }), { tall: true });
  }

  function utilisation() {
    const made = section("utilisation", "The cluster over time",
      soft("Shares of the cluster allocated to jobs, in the rounds with jobs."));
    const pair = element("div", { class: "pair" });
    made.append(pair);
    RUNS.forEach((run, index) => {
      if (run.timeline.length === 0) return;
      pair.append(element("div", {}, element("h3", {}, nameOf(index)), utilisationChart(run),
        folded("Table of this run over time", overTimeTable(run, index))));
    });
  }

  function queue() {
    const made = section("queue", "Waiting jobs",
      soft("Jobs that have arrived and hold no GPU. The tables over time have the same figures."));
    made.append(chart("Waiting jobs",
      "One line for each run, over its hours. The tables of the runs over time have the same figures.",
      () => ({
        type: "line",
        data: {
          datasets: RUNS.map((run, index) => ({
            label: run.name, ...line(index), pointRadius: 0, stepped: "after",
            data: run.timeline.map(point => ({ x: hours(point.atSeconds), y: point.queued })),
          })),
        },
        options: options(overTime({}), ["waiting jobs", { beginAtZero: true }], {
          interaction: { mode: "nearest", axis: "x", intersect: false },
          labels: { usePointStyle: true, pointStyleWidth: 14 },
          tooltip: { callbacks: { ...perHour, label: item => item.dataset.label + ": " + quantity(item.parsed.y) } },
        }),
      })),
    table("Peak of waiting jobs, from the means over time", [["run", "text"], ["jobs"], ["at hour"]],
      RUNS.flatMap((run, index) => {
        if (run.timeline.length === 0) return [];
        const most = run.timeline.reduce((best, point, at) => point.queued > run.timeline[best].queued ? at : best, 0);
        const point = below(base(index), "timeline", most);
        return [[nameOf(index), show(below(point, "queued"), "number"), show(below(point, "atSeconds"), "hours")]];
      })));
  }

  document.getElementById("head").append(
    element("h1", {}, "CoorDL: ", show("/title", "text")),
    ...DATA.remarks.map((unused, index) => soft(show(pointer("remarks", index), "text"))));
  completion();
  utilisation();
  queue();

  finish("All figures of this page are in its source as JSON, times in seconds and shares from zero to one, as ",
    code("coordl simulate --json"), " prints them, but with the distribution of completion times in place of each job's. In a",
    " chart, the arrow keys move from point to point. Charts: Chart.js.");
