  // The page of recordings: one of them, or several to compare.
  const RECORDINGS = DATA.recordings;
  const SEVERAL = RECORDINGS.length > 1;

  const PARTS = [
    ["computeNanos", "compute", "compute", "plain"],
    ["fetchStallNanos", "fetch stall", "fetch", "rising"],
    ["prepStallNanos", "prep stall", "prep", "falling"],
    ["gcStallNanos", "GC stall", "gc", "crossed"],
    ["queueStallNanos", "queueing", "queue", "dotted"],
    ["checkpointNanos", "checkpoint", "checkpoint", "level"],
  ];

  // ---- what a recording is

  const base = index => pointer("recordings", index);
  const nameOf = index => show(below(base(index), "name"), "text");

  function program(index) {
    const summary = below(base(index), "summary");
    const parts = [];
    const add = (before, path, after = "") => {
      if (at(path) !== undefined) parts.push(before, show(path, "text"), after);
    };
    add("", below(summary, "program", "mainClass"));
    add(", ", below(summary, "program", "frameworks"));
    add(", process ", below(summary, "program", "pid"));
    add(", ", below(summary, "program", "jvm"));
    return parts;
  }

  /** Where it ran, and on what. */
  function machine(index) {
    const path = below(base(index), "summary", "program");
    const parts = [["host", "text"], ["cores", "count", " cores"], ["memoryBytes", "bytes"], ["system", "text"],
      ["libraries", "text"], ["agent", "text"], ["arguments", "text"], ["started", "text"]]
      .filter(([name]) => at(below(path, name)) !== undefined && at(below(path, name)) !== "")
      .map(([name, how, after = ""]) => [{ agent: "agent ", arguments: "arguments ", started: "started " }[name] ?? "",
        show(below(path, name), how), after]);
    return parts.flatMap((part, place) => place === 0 ? part : [", ", ...part]);
  }

  function warnings(index) {
    const summary = RECORDINGS[index].summary;
    const made = [];
    if (summary.recording.endsEarly) {
      made.push(element("p", { class: "warn" }, nameOf(index),
        summary.recording.stillRunning
          ? " covers the job so far: its JVM is still running."
          : " ends early: its JVM was killed or kept running. The last events are missing."));
    }
    if (summary.totals.origin !== "job") {
      made.push(element("p", { class: "warn" }, nameOf(index),
        ": the totals are the sum of the finished epochs, because the agent's own were not written."));
    }
    if ((summary.configuration.profile || "off") !== "off") {
      made.push(element("p", { class: "warn" }, nameOf(index),
        " is the recording of a profile: its totals, epochs and stalls include the effects of the phases."));
    }
    if (summary.faults.count > 0) {
      made.push(element("p", { class: "warn" }, nameOf(index), ": ",
        show(below(base(index), "summary", "faults", "count"), "count"),
        summary.faults.count === 1 ? " fault" : " faults", " inside the agent; the program continued without it. See \u201cThe recording\u201d."));
    }
    return made;
  }

  function advice(index, level) {
    const next = below(base(index), "summary", "next");
    const words = at(below(next, "arguments"));
    return element("div", { class: "next" },
      element(level, {}, SEVERAL ? ["Try next for ", nameOf(index), ", the ", show("/advised/as", "text")] : "Try next"),
      paragraph(show(below(next, "sentence"), "text")),
      words.length === 0 ? null : paragraph("Arguments: ", words.map((word, at) => [
        at === 0 ? "" : " ",
        code([at === 0 ? "-javaagent:coordl-agent.jar=" : ",", show(below(next, "arguments", at), "text")]),
      ]).flat()));
  }

  // ---- sections

  function key(title, value, detail) {
    return element("div", {}, element("dt", {}, title),
      element("dd", {}, value, detail ? element("small", {}, detail) : null));
  }

  /** Epochs and evaluations; without a model update the two look alike. */
  function counts(totals) {
    const found = at(totals);
    const counted = (field, one, more) => [show(below(totals, field), "count"), " ", found[field] === 1 ? one : more];
    if (found.updates === 0) return [...counted("epochs", "epoch", "epochs"), " without a model update"];
    return [...counted("epochs", "epoch", "epochs"),
      ...(found.leftEarly === 0 ? [] : found.epochs === 1 ? [", left early"] : [", ", show(below(totals, "leftEarly"), "count"), " of them left early"]),
      ...(found.evaluations === 0 ? [] : [", ", ...counted("evaluations", "evaluation", "evaluations")])];
  }

  /** The path of the hits on decoded or prepared items, which come from memory without a fetch; null without hits. */
  function keptHits(index, form) {
    const kept = RECORDINGS[index].summary.stores.findIndex(store => store.store === form && store.hits > 0);
    return kept < 0 ? null : below(base(index), "summary", "stores", kept, "hits");
  }
  const decodedHits = index => keptHits(index, "decoded");

  function fromMemory(index, totals) {
    const decoded = decodedHits(index);
    if (decoded === null) {
      return key("Items from memory", show(below(totals, "memoryItems"), "percent", { of: below(totals, "items") }),
        ["of ", show(below(totals, "items"), "count")]);
    }
    const hits = at(decoded);
    const { items, memoryItems } = at(totals);
    return key("Items from memory", UNITS.percent((memoryItems + hits) / (items + hits)),
      [show(decoded, "count"), " decoded, ",
        show(below(totals, "memoryItems"), "count"), " of ", show(below(totals, "items"), "count"), " fetched"]);
  }

  function keys(index) {
    const totals = below(base(index), "summary", "totals");
    const wall = { of: below(totals, "wallNanos") };
    const speed = below(base(index), "summary", "speed");
    return element("dl", { class: "keys" },
      at(speed) === undefined ? null : key("Speed", show(below(speed, "samplesPerSecond"), "in samples/s"),
        show(below(speed, "of"), "text")),
      key("Wall time", show(below(totals, "wallNanos"), "nanos"),
        [...counts(totals), ", ", show(below(totals, "batches"), "count"), " batches"]),
      key("Compute", show(below(totals, "computeNanos"), "percent", wall),
        show(below(totals, "computeNanos"), "nanos")),
      key("Data stall", show(below(totals, "stallNanos"), "percent", wall),
        show(below(totals, "stallNanos"), "nanos")),
      key("Fetch stall", show(below(totals, "fetchStallNanos"), "percent", wall),
        show(below(totals, "fetchStallNanos"), "nanos")),
      key("Prep stall", show(below(totals, "prepStallNanos"), "percent", wall),
        show(below(totals, "prepStallNanos"), "nanos")),
      fromMemory(index, totals),
      at(below(totals, "peerItems")) === 0 ? null : key("Items from other hosts",
        show(below(totals, "peerItems"), "percent", { of: below(totals, "items") }),
        show(below(totals, "peerBytes"), "bytes")));
  }

  function partRow(heading, figures, sum) {
    const cells = [heading, show(below(figures, "samplesPerSecond"), "number"), show(below(figures, "wallNanos"), "seconds")];
    for (const [part] of PARTS) cells.push(show(below(figures, part), "seconds"));
    cells.push(show(below(figures, "stallNanos"), "percent", { of: below(figures, "wallNanos") }));
    cells.push(show(below(figures, "batches"), "count"));
    return { cells, sum };
  }

  const PART_COLUMNS = [["epoch"], ["samples/s"], ["wall s"], ...PARTS.map(([, label]) => [label + " s"]), ["stalled"], ["batches"]];

  const kindOf = epoch => epoch.kind === "evaluation" ? "eval. " : "";

  const epochLabel = epoch =>
    kindOf(epoch) + epoch.number + (epoch.complete ? "" : " (left early)");

  /** Without evaluations, which would look like quick epochs. */
  const epochsOf = recording => recording.summary.epochs.filter(epoch => epoch.kind !== "evaluation");

  function epochTable(index) {
    const summary = below(base(index), "summary");
    const epochs = at(below(summary, "epochs"));
    // A column with the same name in every row would say nothing; with evaluations, there are two names.
    const name = epochs.some(epoch => epoch.dataset) ? "dataset" : "source";
    const named = new Set(epochs.map(epoch => epoch[name])).size > 1;
    return table(
      "Times of the training thread in seconds, by epoch and evaluation" +
        (SEVERAL ? ": " + RECORDINGS[index].name : ""),
      named ? [...PART_COLUMNS, ["data set", "text"]] : PART_COLUMNS,
      [...epochs.map((epoch, at) => {
        const row = partRow([kindOf(epoch), show(below(summary, "epochs", at, "number"), "count"),
          epoch.complete ? "" : " (left early)"], below(summary, "epochs", at), false);
        if (named) row.cells.push(show(below(summary, "epochs", at, name), "text"));
        return row;
      }), (() => {
        const row = partRow("job", below(summary, "totals"), true);
        if (named) row.cells.push("");
        return row;
      })()], { tall: epochs.length > 20 });
  }

  const tooltipSeconds = {
    callbacks: { label: item => item.dataset.label + ": " + UNITS.seconds(item.raw * 1e9) + " s" },
  };

  /** Bars of epochs: one each, or one of each recording side by side. */
  function epochChart() {
    const most = Math.max(...RECORDINGS.map(each => epochsOf(each).length));
    if (most === 0) return soft("No epoch has ended.");
    return chart("Where the time went in each epoch",
      "Stacked bars of seconds, one bar " + (SEVERAL ? "of each recording " : "") +
        "for each epoch. The table below has the same figures.",
      () => ({
        type: "bar",
        data: {
          labels: Array.from({ length: most }, (unused, index) =>
            SEVERAL ? String(index + 1) : epochLabel(epochsOf(RECORDINGS[0])[index])),
          datasets: RECORDINGS.flatMap((recording, index) => PARTS.map(part => ({
            ...look(part),
            label: part[1],
            recording: recording.name,
            stack: String(index),
            barPercentage: 0.92,
            categoryPercentage: 0.85,
            maxBarThickness: 110,
            data: epochsOf(recording).map(epoch => epoch[part[0]] / 1e9),
          }))),
        },
        options: options(["epoch", { stacked: true, grid: { display: false } }],
          ["seconds", { stacked: true, beginAtZero: true }], {
            labels: { filter: item => item.datasetIndex < PARTS.length },
            tooltip: {
              callbacks: {
                label: item => (SEVERAL ? item.dataset.recording + ": " : "") +
                  item.dataset.label + " " + UNITS.seconds(item.raw * 1e9) + " s",
              },
            },
          }),
      }));
  }

  function epochs() {
    const made = section("epochs", "Where the time went",
      soft("Times of the training thread in each epoch. Compute is the model; a stall is a",
        " wait for a batch, divided by what the batch was waiting for; queueing is waiting for a free",
        " worker or for the hand-over.",
        SEVERAL ? " Bars of one epoch stand side by side in the order of the recordings." : ""),
      epochChart());
    RECORDINGS.forEach((unused, index) => made.append(SEVERAL
      ? folded(["Epochs of ", nameOf(index)], epochTable(index)) : epochTable(index)));
  }

  const IDLE = ["deviceIdleNanos", "device idle"];
  /** The lines of a time line: its parts, and idle devices if any was sampled. */
  const linesOf = times => times.deviceIdleNanos ? [...PARTS, IDLE] : PARTS;
  const seconds = (slots, width) => String(Number((slots * width / 1e9).toFixed(slots * width < 1e11 ? 3 : 1)));

  /**
   * Shares of the time, from first to last, in as many bars as fit the chart. If there are more slots than bars,
   * each bar is the mean of its own slots and as many on both sides: a moving average.
   */
  function smoothed(fine, first, last, most) {
    const slots = last - first;
    const count = Math.min(slots, most);
    const step = slots / count;
    const reach = count < slots ? 1.5 * step : 0.5;
    const bars = Array.from({ length: count }, (unused, bar) => {
      const middle = first + (bar + 0.5) * step;
      return [Math.max(0, Math.floor(middle - reach)), Math.min(fine.computeNanos.length, Math.ceil(middle + reach))];
    });
    return {
      at: bars.map((unused, bar) => first + bar * step),
      window: count < slots ? Math.round(2 * reach) : 0,
      shares: linesOf(fine).map(([part]) => {
        const sums = [0];
        for (const nanos of fine[part]) sums.push(sums[sums.length - 1] + nanos);
        return bars.map(([from, to]) => 100 * (sums[to] - sums[from]) / ((to - from) * fine.slotNanos));
      }),
    };
  }

  const LEAST_SLOTS = 10;
  const BAR_PIXELS = 4;

  /** Shares of a slot: at most 100 % for one training thread, more for several. */
  function timeLineChart(index) {
    const fine = RECORDINGS[index].timeLine.fine;
    const all = fine.computeNanos.length;
    let [first, last] = [0, all];
    const note = soft();
    const data = width => {
      const { at, window, shares } = smoothed(fine, first, last, Math.max(LEAST_SLOTS, Math.floor(width / BAR_PIXELS)));
      note.textContent = "Shown: " + seconds(first, fine.slotNanos) + " to " + seconds(last, fine.slotNanos) + " s; " +
        (window > 0 ? "each bar is the mean over " + UNITS.nanos(window * fine.slotNanos) + " around it."
          : "not smoothed, each bar is one slot of " + UNITS.nanos(fine.slotNanos) + ".");
      return {
        labels: at.map(slot => seconds(slot, fine.slotNanos)),
        datasets: linesOf(fine).map((part, which) => part === IDLE
          ? { label: IDLE[1], type: "line", stack: "device", order: -1, pointRadius: 0, borderWidth: 2,
            borderColor: style("text"), backgroundColor: style("text"), data: shares[which] }
          : { ...look(part), barPercentage: 1, categoryPercentage: 1, data: shares[which] }),
      };
    };
    const figure = chart("What the training thread did over time" + (SEVERAL ? ", " + RECORDINGS[index].name : ""),
      "Stacked bars of shares of the time, over the seconds of the run. Plus and minus zoom, 0 shows the whole run, " +
        "and the buttons below do the same. The folded table has the figures of the whole run.",
      () => ({
        type: "bar",
        data: data(figure.clientWidth),
        options: {
          ...options(["seconds since the first batch was requested", {
            stacked: true, grid: { display: false },
            ticks: { callback(unused, bar) { return String(Number(Number(this.getLabelForValue(bar)).toFixed(last - first < 1e3 ? 3 : 1))); }, autoSkipPadding: 30 },
          }],
            ["% of the time", {
              stacked: true, beginAtZero: true, suggestedMax: 100,
              afterDataLimits(axis) { if (axis.max < 101) axis.max = 100; }, // Rounding must not look like a second thread.
            }], {
              tooltip: {
                filter: item => item.raw > 0,
                callbacks: {
                  title: items => items.length === 0 ? "" : items[0].label + " s",
                  label: item => item.dataset.label + ": " + UNITS.percent(item.raw / 100),
                },
              },
            }),
          onResize: (drawn, size) => { drawn.data = data(size.width); },
        },
      }));
    const canvas = figure.querySelector("canvas");
    const show = (from, to) => {
      const length = Math.min(all, Math.max(LEAST_SLOTS, Math.round(to - from)));
      first = Math.min(all - length, Math.max(0, Math.round(from)));
      last = first + length;
      point(canvas, -1);
      const drawn = Chart.getChart(canvas);
      drawn.data = data(figure.clientWidth);
      drawn.update();
      document.getElementById("said").textContent = note.textContent;
    };
    /** Around the bar selected with the arrow keys, else around the middle. */
    const zoom = factor => {
      const bars = Chart.getChart(canvas).data.labels.length;
      const bar = Number(canvas.dataset.at ?? -1);
      const middle = first + (last - first) * (bar < 0 ? 0.5 : (bar + 0.5) / bars);
      show(middle - factor * (last - first) / 2, middle + factor * (last - first) / 2);
    };
    const move = direction => show(first + direction * (last - first) / 2, last + direction * (last - first) / 2);
    const ways = [["Zoom in", () => zoom(1 / 4)], ["Zoom out", () => zoom(4)], ["Earlier", () => move(-1)],
      ["Later", () => move(1)], ["Whole run", () => show(0, all)]];
    const keys = { "+": ways[0][1], "=": ways[0][1], "-": ways[1][1], 0: ways[4][1] };
    canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    drag(canvas, (from, to) => show(first + from * (last - first), first + to * (last - first)));
    figure.append(element("div", { class: "ways", role: "group", "aria-label": "Zoom" }, ways.map(([title, go]) => {
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", go);
      return button;
    })), note);
    return figure;
  }

  /** Calls back with where a drag over the bars began and ended, as shares of their width. */
  function drag(canvas, chosen) {
    const mark = element("div", { class: "mark" });
    let began = null;
    const share = event => {
      const { left, right } = Chart.getChart(canvas).chartArea;
      return Math.min(1, Math.max(0, (event.offsetX - left) / (right - left)));
    };
    canvas.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      began = share(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (began === null) return;
      const { left, right, top, bottom } = Chart.getChart(canvas).chartArea;
      const [from, to] = [began, share(event)].sort((one, other) => one - other);
      Object.assign(mark.style, { left: left + from * (right - left) + "px", width: (to - from) * (right - left) + "px",
        top: top + "px", height: bottom - top + "px" });
      canvas.parentElement.append(mark);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, event => {
        mark.remove();
        if (began === null) return;
        const [from, to] = [began, share(event)].sort((one, other) => one - other);
        began = null;
        if (end === "pointerup" && to - from > 0.01) chosen(from, to);
      });
    }
  }

  function timeLineTable(index) {
    const times = below(base(index), "timeLine");
    const slots = at(below(times, "computeNanos")).length;
    const lines = linesOf(RECORDINGS[index].timeLine);
    const made = folded("Table of the time-line",
      table("Time of each part in slots of " + UNITS.nanos(at(below(times, "slotNanos"))), [["slot"], ...lines.map(([, label]) => [label])],
        Array.from({ length: slots }, (unused, slot) => [element("span", { "data-index": String(slot) }, String(slot + 1)),
          ...lines.map(([part]) => show(below(times, part, slot), "nanos"))]), { tall: true }));
    made.className = "screen";
    return made;
  }

  function deviceTable(index) {
    const path = below(base(index), "summary", "gpus");
    return table("GPUs, sampled once a second while the job took batches; MLPerf Storage requires them to be busy for 90 % of the time with most models",
      [["device", "text"], ["busy"], ["idle in data stalls, at most"], ["memory in use"], ["of this process"], ["synchronized steps"]],
      RECORDINGS[index].summary.gpus.map((gpu, at) => {
        const sampled = { of: below(path, at, "sampledNanos") };
        return [[show(below(path, at, "device"), "text"), " ", show(below(path, at, "name"), "text")],
          show(below(path, at, "busyNanos"), "percent", sampled),
          show(below(path, at, "idleInStallsNanos"), "percent", sampled),
          gpu.usedMemoryBytes < 0 ? document.createTextNode("\u2013") : show(below(path, at, "usedMemoryBytes"), "bytes"),
          gpu.ownMemoryBytes < 0 ? document.createTextNode("\u2013") : show(below(path, at, "ownMemoryBytes"), "bytes"),
          gpu.synchronizedStepsNanos ? show(below(path, at, "synchronizedStepsNanos"), "percent", sampled)
            : document.createTextNode("\u2013")];
      }));
  }

  function timeLine() {
    const made = section("time", "The run over time",
      soft("From the events of every batch. White is time outside of any epoch: the program did something",
        " else, or JFR was not recording yet. Several training threads add up to more than 100 %."));
    RECORDINGS.forEach((recording, index) => {
      if (SEVERAL) made.append(element("h3", {}, nameOf(index)));
      if (recording.timeLine.computeNanos.length === 0) {
        made.append(soft("The recording has no batch events."));
        return;
      }
      made.append(timeLineChart(index),
        timeLineTable(index));
      if (recording.summary.gpus.length > 0) made.append(deviceTable(index));
    });
  }

  const KINDS = {
    fetch: "fetch", decode: "decode", transform: "transform", batch: "batch", stall: "wait", step: "step",
    checkpoint: "checkpoint", "peer found": "found at another host", "peer absent": "absent at another host",
    "peer kept": "kept at another host", "peer late": "late answer", "peer failed": "no answer",
  };
  const NINES = [0, 50, 90, 99, 99.9, 99.99, 99.999];
  const nines = percentile => percentile >= 100 ? null : -Math.log10(1 - percentile / 100);

  function curves(sets) {
    return () => ({
      type: "line",
      data: {
        datasets: sets.map(({ label, curve }, index) => ({
          label,
          data: curve.points.filter(point => point.percentile < 100 && point.nanos > 0)
            .map(point => ({ x: nines(point.percentile), y: point.nanos, percentile: point.percentile })),
          ...line(index),
          pointRadius: 3,
          tension: 0,
        })),
      },
      options: options(["percentile", {
        type: "linear", min: 0,
        afterBuildTicks: axis => {
          axis.ticks = NINES.map(nines).filter(value => value <= axis.max).map(value => ({ value }));
        },
        ticks: { callback: value => String(Number((100 * (1 - 10 ** -value)).toFixed(3))) },
      }], ["", {
        type: "logarithmic",
        ticks: {
          callback: value => Number.isInteger(Math.round(1e6 * Math.log10(value)) / 1e6)
            ? UNITS.nanos(value).replace(/\.0+ /, " ") : null,
        },
      }], {
        interaction: { mode: "nearest", axis: "xy", intersect: false },
        labels: { usePointStyle: true, pointStyleWidth: 14 },
        tooltip: {
          callbacks: {
            title: items => items.length === 0 ? "" : items[0].raw.percentile + " % take at most",
            label: item => item.dataset.label + ": " + UNITS.nanos(item.raw.y),
          },
        },
      }),
    });
  }

  const LATENCY_COLUMNS = [["kind"], ["count"], ["total"], ["minimum"], ["mean"], ["p50"], ["p90"], ["p99"], ["p99.9"],
    ["maximum"]];
  const LATENCY_FIELDS = ["totalNanos", "minimumNanos", "meanNanos", "p50Nanos", "p90Nanos", "p99Nanos", "p999Nanos",
    "maximumNanos"];

  function latencyRows(index, kinds) {
    return RECORDINGS[index].summary.latencies.flatMap((latency, at) => {
      if (kinds && !kinds.includes(latency.kind)) return [];
      const path = below(base(index), "summary", "latencies", at);
      return [[
        SEVERAL ? nameOf(index) : KINDS[latency.kind] || show(below(path, "kind"), "text"),
        show(below(path, "count"), "count"), ...LATENCY_FIELDS.map(field => show(below(path, field), "nanos"))]];
    });
  }

  function latencies() {
    const kinds = [...new Set(RECORDINGS.flatMap(each => each.latencies.map(latency => latency.kind)))]
      .sort((one, other) => Object.keys(KINDS).indexOf(one) - Object.keys(KINDS).indexOf(other));
    if (kinds.length === 0) return;
    const made = section("latencies", "Latencies",
      soft("Covers every fetch, decode, transform, batch, wait and step, whatever the recording's thresholds.",
        " The percentile axis is logarithmic."));
    const curveOf = (recording, kind) => recording.latencies.find(latency => latency.kind === kind);
    if (!SEVERAL) {
      made.append(chart("Latencies by percentile",
        "One line for each kind, durations on a logarithmic axis. The table below has the usual percentiles.",
        curves(kinds.map(kind => ({ label: KINDS[kind] || kind, curve: curveOf(RECORDINGS[0], kind) })))));
      made.append(table("Durations", LATENCY_COLUMNS, latencyRows(0)));
    } else {
      const pair = element("div", { class: "pair" });
      made.append(pair);
      for (const kind of kinds) {
        const sets = RECORDINGS.map(recording => ({ label: recording.name, curve: curveOf(recording, kind) }))
          .filter(set => set.curve);
        pair.append(element("div", {}, element("h3", {}, KINDS[kind] || kind),
          chart("Durations of " + (KINDS[kind] || kind) + " by percentile",
            "One line for each recording, durations on a logarithmic axis. The table below has the usual percentiles.",
            curves(sets), { height: "14rem" }),
          table("Durations of " + (KINDS[kind] || kind), [["recording"], ...LATENCY_COLUMNS.slice(1)],
            RECORDINGS.flatMap((unused, index) => latencyRows(index, [kind])))));
      }
    }
    if (RECORDINGS.some(each => each.latencies.some(latency => !latency.exact))) {
      made.append(soft("If a recording lacks the full distribution, its line joins only the usual percentiles."));
    }
    if (!SEVERAL) {
      made.append(folded("Table of the lines", ...RECORDINGS[0].latencies.map((latency, at) => {
        const path = below(base(0), "latencies", at);
        return table("Durations of " + (KINDS[latency.kind] || latency.kind), [["percentile"], ["at most"]],
          latency.points.map((unused, point) => [
            show(below(path, "points", point, "percentile"), "percentile"),
            show(below(path, "points", point, "nanos"), "nanos")]));
      })));
    }
  }

  /** Where items come from; other hosts only if there are any. */
  const ORIGINS = [
    ["memoryItems", "from memory", "memory", "plain"], ["peerItems", "from other hosts", "peer", "falling"],
    ["storageItems", "from storage", "storage", "rising"],
  ].filter(([items]) => items !== "peerItems" || RECORDINGS.some(each => each.summary.peers.length > 0 ||
    each.summary.epochs.some(epoch => epoch.peerItems > 0)));

  const peersOnly = column => ORIGINS.length === 3 ? [column] : [];

  function itemsChart(index) {
    const epochs = RECORDINGS[index].summary.epochs;
    return chart("Items by where they came from" + (SEVERAL ? ", " + RECORDINGS[index].name : ""),
      "Stacked bars of items from memory, other hosts and storage, one bar for each epoch or evaluation. The table below has the same figures.",
      () => ({
        type: "bar",
        data: {
          labels: epochs.map(epochLabel),
          datasets: ORIGINS
            .map(part => ({
              ...look(part), maxBarThickness: 110, data: epochs.map(epoch => epoch[part[0]]),
            })),
        },
        options: options(["epoch", { stacked: true, grid: { display: false } }],
          ["items", { stacked: true, beginAtZero: true }]),
      }), { height: "14rem" });
  }

  function cache() {
    const made = section("cache", "Cache",
      soft("An item from storage is one opened file. A store does not evict: what it has cached stays available in later epochs."));
    RECORDINGS.forEach((recording, index) => {
      const summary = below(base(index), "summary");
      if (SEVERAL) made.append(element("h3", {}, nameOf(index)));
      if (recording.summary.epochs.length > 0) {
        made.append(itemsChart(index), folded("Table of the items",
          table("Items and bytes, by epoch and evaluation",
            [["epoch"], ["items"], ...ORIGINS.flatMap(([, label]) => [[label], ["share"]]),
              ...ORIGINS.map(([, label]) => ["bytes " + label])],
            recording.summary.epochs.map((epoch, at) => {
              const path = below(summary, "epochs", at);
              return [[kindOf(epoch), show(below(path, "number"), "count")], show(below(path, "items"), "count"),
                ...ORIGINS.flatMap(([items]) => [show(below(path, items), "count"),
                  show(below(path, items), "percent", { of: below(path, "items") })]),
                ...ORIGINS.map(([items]) => show(below(path, items.replace("Items", "Bytes")), "bytes"))];
            }), { tall: recording.summary.epochs.length > 20 })));
      }
      made.append(recording.summary.stores.length === 0
        ? paragraph("No store was on", recording.summary.totals.memoryItems > 0 ? "." : ": every item was read from storage in every epoch.")
        : table("Stores at the end of the job",
          [["store", "text"], ["used"], ["capacity"], ["full"], ["items"], ["hits"], ["misses"], ["hit ratio"], ...peersOnly(["from other hosts"]), ["not cached"],
            ["bytes hit"], ["jobs"]],
          recording.summary.stores.map((unused, at) => {
            const path = below(summary, "stores", at);
            return [[show(below(path, "store"), "text"), ", ", show(below(path, "scope"), "text")],
              show(below(path, "usedBytes"), "bytes"), show(below(path, "capacityBytes"), "bytes"),
              show(below(path, "usedBytes"), "percent", { of: below(path, "capacityBytes") }),
              show(below(path, "items"), "count"), show(below(path, "hits"), "count"),
              show(below(path, "misses"), "count"), show(below(path, "hitRatio"), "percent"),
              ...peersOnly(show(below(path, "peer"), "count")),
              show(below(path, "bypassed"), "count"), show(below(path, "hitBytes"), "bytes"),
              show(below(path, "jobs"), "count")];
          })));
      if (recording.summary.peers.length > 0) made.append(peerTable(index));
    });
  }

  function peerTable(index) {
    const peers = below(base(index), "summary", "peers");
    return table("Requests of this job to other hosts",
      [["host", "text"], ["found"], ["bytes received"], ["time each"], ["absent"], ["kept there"], ["bytes sent"], ["late"],
        ["failed"], ["time lost"]],
      at(peers).map((unused, at) => {
        const path = below(peers, at);
        return [show(below(path, "peer"), "text"), show(below(path, "found"), "count"),
          show(below(path, "receivedBytes"), "bytes"),
          show(below(path, "foundTimeNanos"), "nanos", { of: below(path, "found") }),
          show(below(path, "absent"), "count"), show(below(path, "kept"), "count"),
          show(below(path, "sentBytes"), "bytes"), show(below(path, "late"), "count"),
          show(below(path, "failed"), "count"), show(below(path, "lostTimeNanos"), "nanos")];
      }), { tall: RECORDINGS[index].summary.peers.length > 20 });
  }

  function nameTable(index, which, caption, heading, ofFiles) {
    const path = below(base(index), which);
    const names = at(path);
    const row = (place, name, sum) => ({
      sum,
      cells: [name, show(below(place, "totalNanos"), "nanos"), show(below(place, "count"), "count"),
        show(below(place, "meanNanos"), "nanos"), show(below(place, "longestNanos"), "nanos"),
        ...(ofFiles ? [show(below(place, "bytes"), "bytes"), show(below(place, "memory"), "count")] : [])],
    });
    const rows = names.slowest.map((unused, at) =>
      row(below(path, "slowest", at), show(below(path, "slowest", at, "name"), "text"), false));
    if (names.others.count > 0) rows.push(row(below(path, "others"), "all others", true));
    return [
      table(caption, [[heading, "text"], ["total"], ["times"], ["mean"], ["longest"],
        ...(ofFiles ? [["bytes"], ["from memory"]] : [])], rows),
      names.unnamed > 0 ? soft("Only the first ", show(below(path, "known"), "count"),
        " names are counted separately. The others include ", show(below(path, "unnamed"), "count"),
        " events of later names, some of which may be slower than those listed.") : null,
    ];
  }

  const PREP_PARTS = [
    ["fetchNanos", "fetch", "fetch", "rising"], ["decodeNanos", "decode", "prep", "falling"],
    ["transformNanos", "transforms", "queue", "dotted"], ["otherNanos", "other", "other", "level"],
  ];

  function sourceTable(index) {
    const path = below(base(index), "sources");
    return table("Preparation of batches, by data set",
      [["data set", "text"], ["batches"], ["items"], ["prepared in"], ...PREP_PARTS.map(([, label]) => [label])],
      at(path).map((unused, at) => [show(below(path, at, "name"), "text"), show(below(path, at, "batches"), "count"),
        show(below(path, at, "items"), "count"), show(below(path, at, "wallNanos"), "nanos"),
        ...PREP_PARTS.map(([part]) => show(below(path, at, part), "nanos"))]));
  }

  const shorten = name => name.length <= 34 ? name : "\u2026" + name.slice(-33);

  function slowestChart(index, which, what) {
    const names = RECORDINGS[index][which].slowest;
    return chart("Slowest " + what, "Bars of total time, the slowest first. The table below has the same figures.",
      () => ({
        type: "bar",
        data: {
          labels: names.map(each => shorten(each.name)),
          datasets: [{ ...look(["", "total time", which === "files" ? "fetch" : "prep", "plain"]), maxBarThickness: 16,
            data: names.map(each => each.totalNanos / 1e6) }],
        },
        options: options(["milliseconds", { beginAtZero: true }], ["", { grid: { display: false }, ticks: { autoSkip: false } }], {
          indexAxis: "y", legend: false,
          tooltip: { callbacks: { title: items => items.length === 0 ? "" : names[items[0].dataIndex].name,
            label: item => UNITS.nanos(item.raw * 1e6) } },
        }),
      }), { height: (5 + 1.35 * names.length) + "rem" });
  }

  function slowest() {
    const some = which => RECORDINGS.some(each => each[which].slowest.length > 0);
    const made = section("slowest", "Slowest");
    const block = (which, title, remark, caption, heading, ofFiles) => {
      if (!some(which)) return;
      made.append(element("h3", {}, title), soft(remark));
      RECORDINGS.forEach((recording, index) => {
        if (recording[which].slowest.length === 0) return;
        if (SEVERAL) {
          made.append(folded(["In ", nameOf(index)], ...nameTable(index, which, caption, heading, ofFiles).filter(Boolean)));
        } else {
          made.append(slowestChart(index, which, title.toLowerCase()),
            ...nameTable(index, which, caption, heading, ofFiles).filter(Boolean));
        }
      });
    };
    block("files", "Files", "By total fetch time; only fetches of 0.1 ms or longer.",
      "Files that took the most time to fetch", "file", true);
    block("transforms", "Transforms", "Those that take at least the recording's threshold (1 ms by default), on all threads.",
      "Transforms that took the most time", "transform", false);
    block("codecs", "Codecs", "Decodes that take at least the recording's threshold (1 ms by default), on all threads, with the bytes read" +
      " in them. Quicker ones, and converting pixels to arrays, are only in the totals of the job.",
      "Codecs that took the most time", "codec", false);
    if (RECORDINGS.some(each => each.sources.length > 0)) {
      made.append(element("h3", {}, "Preparation of batches"),
        soft("Self times of the batches taken, on the thread that prepared each; other is assembly, labels",
          " and everything else. The totals of the job also include preparation outside of batches."));
      RECORDINGS.forEach((recording, index) => {
        if (recording.sources.length === 0) return;
        made.append(SEVERAL ? folded(["In ", nameOf(index)], sourceTable(index)) : sourceTable(index));
      });
    }
    if (!made.querySelector("h3")) made.append(soft("The recording has no event of a slow item or transform."));
  }

  function groups() {
    if (!RECORDINGS.some(each => each.summary.stagings.length > 0)) return;
    const made = section("group", "Coordinated prep",
      soft("Batches that jobs of one host prepared for each other, by pipeline."));
    RECORDINGS.forEach((recording, index) => {
      const path = below(base(index), "summary", "stagings");
      if (recording.summary.stagings.length === 0) return;
      if (SEVERAL) made.append(element("h3", {}, nameOf(index)));
      const column = (title, field, unit) => ({ title, field, unit });
      const columns = [column("jobs", "jobs", "count"), column("epochs shared", "sharedEpochs", "count"),
        column("of", "epochs", "count"), column("from the group", "taken", "count"),
        column("prepared for all", "prepared", "count"), column("not prepared", "nobody", "count"),
        column("late", "late", "count"), column("lost", "lost", "count"),
        column("not staged", "notStaged", "count"), column("waited", "waitedNanos", "nanos"),
        column("waited for", "waitedForNanos", "nanos"), column("buffer", "capacityBytes", "bytes")];
      made.append(table("Pipelines of the group", [["pipeline", "text"], ...columns.map(each => [each.title])],
        recording.summary.stagings.map((unused, at) => [
          [show(below(path, at, "group"), "text"), ", ", show(below(path, at, "pipeline"), "text")],
          ...columns.map(each => show(below(path, at, each.field), each.unit))])));
      recording.summary.stagings.forEach((staging, at) => {
        if (staging.slowestJob > 0) {
          made.append(paragraph("In ", show(below(path, at, "pipeline"), "text"), " the jobs waited mostly for process ",
            show(below(path, at, "slowestJob"), "text"), ": ", show(below(path, at, "waitedForSlowestNanos"), "nanos"), "."));
        }
      });
    });
  }

  function recordings() {
    const made = section("recording", SEVERAL ? "The recordings" : "The recording");
    RECORDINGS.forEach((recording, index) => {
      const summary = below(base(index), "summary");
      if (SEVERAL) made.append(element("h3", {}, nameOf(index)));
      made.append(paragraph(code(show(below(summary, "recording", "file"), "text")), ", ",
        show(below(summary, "recording", "fileBytes"), "bytes"), ", ",
        show(below(summary, "recording", "events"), "count"), " events."));
      const settings = Object.keys(recording.summary.configuration);
      if (!SEVERAL && settings.length > 0) {
        made.append(folded("Arguments of the agent", table("Arguments in force", [["argument", "text"], ["value", "text"]],
          settings.map(setting => [setting, show(below(summary, "configuration", setting), "text")]))));
      }
      recording.summary.faults.examples.forEach((fault, at) => {
        const path = below(summary, "faults", "examples", at);
        made.append(element("p", { class: "warn" }, "Fault in ", show(below(path, "where"), "text"), ": ",
          show(below(path, "cause"), "text"), "; ", show(below(path, "action"), "text"), "."));
      });
    });
    if (SEVERAL) {
      const names = [...new Set(RECORDINGS.flatMap(each => Object.keys(each.summary.configuration)))].sort();
      if (names.length > 0) {
        made.append(table("Arguments of the agent", [["argument", "text"], ...RECORDINGS.map(each => [each.name, "text"])],
          names.map(name => [name, ...RECORDINGS.map((unused, index) =>
            show(below(base(index), "summary", "configuration", name), "text"))])));
      }
    }
  }

  // ---- comparison

  const COMPARED = [
    ["wall time", "wallNanos", "nanos"], ["batches", "batches", "count"],
    ["compute", "computeNanos", "nanos"], ["\u2003waiting for a core", "computeCoreWaitNanos", "nanos"],
    ["preparing threads waiting for a core", "prepCoreWaitNanos", "nanos"], ["held back by the CPU limit", "throttledNanos", "nanos"],
    ["data stall", "stallNanos", "nanos"],
    ...PARTS.slice(1, 5).map(([field, label]) => ["\u2003" + label, field, "nanos"]),
    ["checkpoint", "checkpointNanos", "nanos"],
    ["fetching, all threads", "fetchTimeNanos", "nanos"], ["decoding and making arrays, all threads", "decodeTimeNanos", "nanos"],
    ["transforms, all threads", "transformTimeNanos", "nanos"], ["other preparation, all threads", "otherTimeNanos", "nanos"],
    ["items", "items", "count"], ["from memory", "memoryItems", "count"], ["from other hosts", "peerItems", "count"],
    ["from storage", "storageItems", "count"], ["bytes from memory", "memoryBytes", "bytes"],
    ["bytes from other hosts", "peerBytes", "bytes"], ["bytes from storage", "storageBytes", "bytes"],
  ];

  function comparison() {
    const first = below(base(0), "summary", "totals");
    const rest = RECORDINGS.map((unused, index) => index).slice(1);
    const columns = [["figure", "text"], [RECORDINGS[0].name],
      ...rest.flatMap(index => [[RECORDINGS[index].name], ["change"], ["ratio"]])];
    const rows = COMPARED.map(([title, field, unit]) => [title, show(below(first, field), unit),
      ...rest.flatMap(index => {
        const path = below(base(index), "summary", "totals", field);
        return [show(path, unit), show(path, unit, { minus: below(first, field) }),
          show(path, "times", { of: below(first, field) })];
      })]);
    if (RECORDINGS.some((unused, index) => decodedHits(index) !== null)) {
      const hits = index => decodedHits(index) === null ? "\u2013" : show(decodedHits(index), "count");
      rows.push(["decoded images from memory", hits(0), ...rest.flatMap(index => [hits(index), "", ""])]);
    }
    if (RECORDINGS.some((unused, index) => keptHits(index, "prepared") !== null)) {
      const hits = index => keptHits(index, "prepared") === null ? "\u2013" : show(keptHits(index, "prepared"), "count");
      rows.push(["prepared samples from memory", hits(0), ...rest.flatMap(index => [hits(index), "", ""])]);
    }
    rows.splice(4, 0, ["stalled share of the time",
      show(below(first, "stallNanos"), "percent", { of: below(first, "wallNanos") }),
      ...rest.flatMap(index => {
        const totals = below(base(index), "summary", "totals");
        return [show(below(totals, "stallNanos"), "percent", { of: below(totals, "wallNanos") }), "", ""];
      })]);
    rows.splice(2, 0, ["wall time of a batch",
      show(below(first, "wallNanos"), "nanos", { of: below(first, "batches") }),
      ...rest.flatMap(index => {
        const totals = below(base(index), "summary", "totals");
        return [show(below(totals, "wallNanos"), "nanos", { of: below(totals, "batches") }), "", ""];
      })]);
    if (RECORDINGS.every(each => each.summary.speed)) {
      const speed = index => below(base(index), "summary", "speed", "samplesPerSecond");
      rows.unshift(["speed", show(speed(0), "in samples/s"), ...rest.flatMap(index => [
        show(speed(index), "in samples/s"), show(speed(index), "in samples/s", { minus: speed(0) }),
        show(speed(index), "times", { of: speed(0) })])]);
    }
    section("comparison", "Compared",
      soft("Totals of each job. Changes and ratios are relative to the first recording. Compare jobs of different",
        " length by the time of a batch."),
      chart("Where the time of each job went",
        "Stacked bars of seconds, one bar for each recording. The table below has the same figures.",
        () => ({
          type: "bar",
          data: {
            labels: RECORDINGS.map(each => each.name),
            datasets: PARTS.map(part => ({ ...look(part), maxBarThickness: 34,
              data: RECORDINGS.map(each => each.summary.totals[part[0]] / 1e9) })),
          },
          options: options(["seconds", { stacked: true, beginAtZero: true }], ["", { stacked: true, grid: { display: false } }],
            { indexAxis: "y", tooltip: tooltipSeconds }),
        }), { height: (7 + 3 * RECORDINGS.length) + "rem" }),
      table("Figures of each job", columns, rows));
  }

  // ---- profile and predictions

  const measure = (path, unit) => at(path) === undefined ? document.createTextNode("\u2013")
    : element("span", {}, show(below(path, "value"), "in " + unit),
      at(below(path, "error")) > 0 ? [" \u00b1 ", show(below(path, "error"), "in " + unit)] : null);

  const PART_NAMES = {
    compute: PARTS[0], fetchStall: PARTS[1], prepStall: PARTS[2], gcStall: PARTS[3], queueStall: PARTS[4],
    checkpoint: PARTS[5],
  };

  function differential() {
    const found = RECORDINGS[0].differential;
    if (SEVERAL || !found) return;
    const path = below(base(0), "differential");
    const made = section("profile", "The differential profile",
      soft("The same samples three times: already prepared (ingestion), from memory (cached), from storage (cold). The",
        " differences are the stalls. Live shares are those that the agent observed while the program ran. Errors are",
        " 95 % confidence intervals."));
    const known = found.shares.filter(share => share.share);
    if (known.length > 0) {
      made.append(chart("Shares of the time, from the phases and live",
        "Two stacked bars of shares of the time. The table below has the same figures.",
        () => ({
          type: "bar",
          data: {
            labels: found.live ? ["by phases", "live"] : ["by phases"],
            datasets: found.shares.map(share => ({
              ...look(PART_NAMES[share.part] || ["", share.part, "other", "plain"]), maxBarThickness: 34,
              data: [share.share ? 100 * share.share.value : 0, share.live === undefined ? 0 : 100 * share.live],
            })),
          },
          options: options(["% of the time", { stacked: true, beginAtZero: true }],
            ["", { stacked: true, grid: { display: false } }], {
              indexAxis: "y",
              tooltip: { callbacks: { label: item => item.dataset.label + ": " + UNITS.percent(item.raw / 100) } },
            }),
        }), { height: "11rem" }));
    }
    made.append(table("Where the time of an epoch goes",
      [["part", "text"], ["time of a " + found.unit], ["share"], ["live"], ["difference"]],
      found.shares.map((share, at) => {
        const place = below(path, "shares", at);
        return [(PART_NAMES[share.part] || ["", share.part])[1], measure(below(place, "nanos"), "nanos"),
          measure(below(place, "share"), "share"), show(below(place, "live"), "percent"),
          show(below(place, "difference"), "percent")];
      })));
    if (found.limit !== "unknown") {
      made.append(paragraph("Limit: the largest part is ", (PART_NAMES[found.limit] || ["", found.limit])[1], "."));
    } else if (found.missing.some(one => one.figure === "limit")) {
      made.append(element("p", { class: "warn" }, "Limit: unknown; rerun on an idle machine."));
    }
    if (found.timings.length > 0) {
      made.append(folded("The phases", table("Phases as measured",
        [["phase", "text"], ["workers"], ["warm-up"], ["steps"], ["time of a batch"], ["GC in it"], ["steady", "text"], ["note", "text"]],
        found.timings.map((timing, at) => {
          const place = below(path, "timings", at);
          return [show(below(place, "phase"), "text"), show(below(place, "workers"), "count"),
            show(below(place, "warmupSteps"), "count"), show(below(place, "steps"), "count"),
            measure(below(place, "batchNanos"), "nanos"), measure(below(place, "gcNanos"), "nanos"),
            timing.steady ? "yes" : "no", show(below(place, "note"), "text")];
        }))));
    }
    const rates = [["ingestion rate G", "ingestionRate"], ["prep rate P", "prepRate"], ["fetch rate F", "fetchRate"]]
      .filter(([, field]) => found[field]);
    if (rates.length > 0) {
      made.append(table("Rates of each stage alone", [["rate", "text"], [found.unit + "s a second"]],
        rates.map(([title, field]) => [title, measure(below(path, field), found.unit + "s/s")])));
    }
    found.remarks.forEach((unused, at) => made.append(element("p", { class: "warn" }, show(below(path, "remarks", at), "text"))));
    found.missing.forEach((unused, at) => made.append(soft(show(below(path, "missing", at, "figure"), "text"), ": ",
      show(below(path, "missing", at, "reason"), "text"))));
  }

  const axisTitle = axis => axis.name + (axis.unit === "share" ? ", %" : axis.unit === axis.name ? "" : ", " + axis.unit);
  const scaled = (value, unit) => unit === "share" ? 100 * value : value;
  const axisTick = unit => value => unit === "share" ? String(value)
    : unit.startsWith("bytes") ? writer(unit)(value) : value.toLocaleString("en-US");

  function plotChart(answer) {
    const plot = answer.plot;
    const x = plot.x.unit;
    const y = plot.y.unit;
    return chart(answer.title,
      "Lines of " + plot.y.name + " over " + plot.x.name + (plot.today ? ", with today\u2019s point marked" : "") +
        ". The folded table has the same figures.",
      () => ({
        type: "line",
        data: {
          datasets: [
            ...(plot.today ? [{
              label: "today",
              data: [{ x: scaled(plot.today.x, x), y: scaled(plot.today.y.value, y), error: scaled(plot.today.y.error, y) }],
              showLine: false, pointStyle: "rectRot", pointRadius: 8, pointHoverRadius: 9,
              borderColor: style("text"), backgroundColor: style("gc"), borderWidth: 2,
            }] : []),
            ...plot.series.flatMap((series, index) => {
              const colour = style("line" + (1 + index % 7));
              const points = series.points.map(point => ({
                x: scaled(point.x, x), y: scaled(point.y.value, y), error: scaled(point.y.error, y),
              }));
              const edge = (sign, fill) => ({
                label: "", data: points.map(point => ({ x: point.x, y: point.y + sign * point.error })), fill,
                pointRadius: 0, pointHitRadius: 0, borderWidth: 0, backgroundColor: colour + "26", edge: true,
              });
              const line = {
                label: series.name, data: points, borderColor: colour, backgroundColor: colour, borderWidth: 2,
                borderDash: DASHES[index % DASHES.length], pointStyle: POINTS[index % POINTS.length], pointRadius: 2.5,
              };
              return points.some(point => point.error > 0) ? [line, edge(-1, false), edge(1, "-1")] : [line];
            }),
          ],
        },
        options: options([axisTitle(plot.x), { type: "linear", ticks: { callback: axisTick(x) } }],
          [axisTitle(plot.y), { beginAtZero: true, ticks: { callback: axisTick(y) } }], {
            interaction: { mode: "nearest", axis: "x", intersect: false },
            labels: { usePointStyle: true, pointStyleWidth: 14, filter: item => item.text !== "" },
            tooltip: {
              filter: item => !item.dataset.edge,
              callbacks: {
                title: items => items.length === 0 ? ""
                  : plot.x.name + " " + writer(x)(x === "share" ? items[0].parsed.x / 100 : items[0].parsed.x),
                label: item => {
                  const write = value => writer(y)(y === "share" ? value / 100 : value);
                  return item.dataset.label + ": " + write(item.raw.y) + (item.raw.error > 0 ? " \u00b1 " + write(item.raw.error) : "");
                },
              },
            },
          }),
      }), { height: "15rem" });
  }

  function plotTable(answer, path) {
    const plot = below(path, "plot");
    const { x, y, series, today } = answer.plot;
    const rows = series.flatMap((each, index) => each.points.map((unused, point) => {
      const place = below(plot, "series", index, "points", point);
      return [show(below(plot, "series", index, "name"), "text"), show(below(place, "x"), "in " + x.unit),
        measure(below(place, "y"), y.unit)];
    }));
    if (today) {
      rows.unshift({ sum: true, cells: ["today", show(below(plot, "today", "x"), "in " + x.unit),
        measure(below(plot, "today", "y"), y.unit)] });
    }
    return table("Points of the plot", [["line", "text"], [x.name], [y.name]], rows, { tall: true });
  }

  function whatIf() {
    const found = RECORDINGS[0].whatIf;
    if (SEVERAL || !found) return;
    const path = below(base(0), "whatIf");
    const made = section("what-if", "What if",
      soft("Predictions from ", found.pipeline.origin === "profile" ? "the profile in this recording"
        : "an ordinary run, with larger errors than those from a profile", ". Shaded: the error of the prediction."));
    const answered = element("div", { class: "pair" });
    const withheld = [];
    found.answers.forEach((answer, index) => {
      const place = below(path, "answers", index);
      if (!answer.figure) {
        withheld.push(element("li", {}, element("b", {}, show(below(place, "title"), "text")), ": ",
          show(below(place, "sentence"), "text")));
        return;
      }
      answered.append(element("article", {},
        element("h3", {}, show(below(place, "title"), "text")),
        paragraph(show(below(place, "sentence"), "text")),
        element("p", { class: "figure" }, element("span", { class: "soft" }, show(below(place, "figure", "name"), "text")), " ",
          element("b", {}, measure(below(place, "figure", "measure"), answer.figure.unit))),
        answer.arguments.length === 0 ? null : paragraph("Arguments: ",
          code(["-javaagent:coordl-agent.jar=", ...answer.arguments.flatMap((unused, at) =>
            [at === 0 ? "" : ",", show(below(place, "arguments", at), "text")])])),
        answer.plot ? plotChart(answer) : null,
        answer.plot ? folded("Table of the plot", plotTable(answer, place)) : null,
        answer.assumptions.length === 0 ? null : folded("Assumptions",
          element("ul", {}, answer.assumptions.map((unused, at) =>
            element("li", {}, show(below(place, "assumptions", at), "text")))))));
    });
    if (answered.children.length > 0) made.append(answered);
    if (found.pipeline.assumptions.length > 0) {
      made.append(folded("Assumptions of every answer", element("ul", {}, found.pipeline.assumptions.map(
        (unused, at) => element("li", {}, show(below(path, "pipeline", "assumptions", at), "text"))))));
    }
    if (withheld.length > 0) {
      made.append(answered.children.length === 0 ? element("ul", { class: "soft" }, withheld)
        : folded("Questions without an answer", element("ul", {}, withheld)));
    }
  }

  // ---- the page

  function head() {
    const header = document.getElementById("head");
    const compared = DATA.compared.map((unused, index) => paragraph(show(pointer("compared", index), "text")));
    if (SEVERAL) {
      header.append(element("h1", {}, "CoorDL: ",
        ...RECORDINGS.flatMap((unused, index) => [index === 0 ? "" : " and ", nameOf(index)])));
      header.append(...compared);
      RECORDINGS.forEach((unused, index) => header.append(
        element("p", { class: "soft" }, element("b", {}, nameOf(index)), ": ", ...program(index)),
        element("p", { class: "soft" }, ...machine(index)), ...warnings(index)));
      header.append(advice(DATA.advised.recording, "h2"));
    } else {
      header.append(element("h1", {}, "CoorDL: ", nameOf(0)), ...compared, element("p", { class: "soft" }, ...program(0)),
        element("p", { class: "soft" }, ...machine(0)),
        ...warnings(0), keys(0), advice(0, "h2"));
    }
  }

  head();
  if (SEVERAL) comparison();
  differential();
  epochs();
  timeLine();
  latencies();
  cache();
  slowest();
  groups();
  whatIf();
  recordings();

  finish("All figures of this page are in its source as JSON, times in nanoseconds and sizes in bytes, as ",
      code("coordl summary --json"), " prints them. In a chart, the arrow keys move from point to point. Charts: Chart.js.");
