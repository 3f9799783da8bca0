/*
 * Draws a page from the JSON in it; the script that follows this one builds the sections. A value that
 * show() writes names its source: data-json is the JSON pointer of the value, data-of that of its divisor,
 * data-minus that of the value subtracted from it, and data-unit its format. Texts become text nodes,
 * never markup.
 */
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const sections = [];
  const charts = [];

  // ---- values and how they are written

  const escapeKey = key => String(key).replace(/~/g, "~0").replace(/\//g, "~1");
  const pointer = (...keys) => keys.map(key => "/" + escapeKey(key)).join("");
  const below = (base, ...keys) => base + pointer(...keys);

  function at(path) {
    let value = DATA;
    for (const key of path.split("/").slice(1)) {
      if (value === undefined || value === null) return undefined;
      value = value[key.replace(/~1/g, "/").replace(/~0/g, "~")];
    }
    return value;
  }

  const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const fixed = (value, digits) =>
    (value < 0 ? "\u2212" : "") +
    Math.abs(value).toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");

  const UNITS = {
    text: value => String(value),
    count: value => fixed(value, 0),
    seconds: value => fixed(value / 1e9, 2),
    hours: value => fixed(value / 3600, 2),
    nanos: value => {
      const size = Math.abs(value);
      if (size < 1e3) return fixed(value, 0) + " ns";
      if (size < 1e6) return fixed(value / 1e3, 1) + " \u00b5s";
      if (size < 1e9) return fixed(value / 1e6, 1) + " ms";
      return fixed(value / 1e9, 2) + " s";
    },
    bytes: value => {
      let unit = 0;
      let size = value;
      while (Math.abs(size) >= 1024 && unit < SIZES.length - 1) {
        size /= 1024;
        unit++;
      }
      return (unit === 0 ? fixed(value, 0) : fixed(size, 1)) + " " + SIZES[unit];
    },
    percent: value => fixed(100 * value, 1) + " %",
    times: value => fixed(value, 2) + " \u00d7",
    number: value => fixed(value, 2),
    percentile: value => String(value),
  };

  const quantity = value =>
    fixed(value, Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

  const KNOWN_UNITS = { share: "percent", times: "times", bytes: "bytes", nanos: "nanos" };

  /** How a number of a prediction is written: "bytes/s" and "bytes" in powers of 1024. */
  function writer(unit) {
    if (KNOWN_UNITS[unit]) return UNITS[KNOWN_UNITS[unit]];
    if (unit === "bytes/s") return value => UNITS.bytes(value) + "/s";
    return value => quantity(value) + " " + unit;
  }

  function valueOf(path, more = {}) {
    let value = at(path);
    if (more.minus !== undefined) value -= at(more.minus);
    if (more.of !== undefined) {
      const whole = at(more.of);
      if (!(whole > 0)) return undefined;
      value /= whole;
    }
    return value;
  }

  /** An element that shows a value of the JSON; a dash where there is none. */
  function show(path, unit, more = {}) {
    const value = valueOf(path, more);
    if (value === undefined || value === null) return document.createTextNode("\u2013");
    const span = document.createElement("span");
    span.dataset.json = path;
    span.dataset.unit = unit;
    if (more.of !== undefined) span.dataset.of = more.of;
    if (more.minus !== undefined) span.dataset.minus = more.minus;
    const write = UNITS[unit] || writer(unit.replace(/^in /, ""));
    span.textContent = (more.minus !== undefined && value > 0 ? "+" : "") + write(value);
    return span;
  }

  // ---- elements

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children.flat().filter(child => child !== null && child !== undefined));
    return made;
  }

  const paragraph = (...children) => element("p", {}, ...children);
  const soft = (...children) => element("p", { class: "soft" }, ...children);
  const code = child => element("code", {}, child);

  function section(id, title, ...children) {
    const made = element("section", { id, "aria-labelledby": id + "-title" },
      element("h2", { id: id + "-title" }, title), ...children);
    main.append(made);
    sections.push([id, title]);
    return made;
  }

  let tables = 0;

  /** A table; a column is [title] or [title, "text"]. The first cell of a row is its heading. */
  function table(caption, columns, rows, more = {}) {
    const id = "table-" + ++tables;
    const kind = index => (columns[index][1] === "text" ? { class: "text" } : {});
    const body = rows.map(row => element("tr", row.sum ? { class: "sum" } : {},
      (row.cells || row).map((cell, index) => index === 0
        ? element("th", { scope: "row", ...kind(0) }, cell)
        : element("td", kind(index), cell))));
    return element("div",
      { class: more.tall ? "scroll tall" : "scroll", tabindex: "0", role: "group", "aria-labelledby": id },
      element("table", {},
        element("caption", { id }, caption),
        element("thead", {}, element("tr", {},
          columns.map(([title], index) => element("th", { scope: "col", ...kind(index) }, title)))),
        element("tbody", {}, body)));
  }

  const folded = (title, ...children) =>
    element("details", {}, element("summary", {}, title), ...children);

  // ---- charts

  const style = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  /** Hatching, so that parts can be told apart without their colours. */
  function pattern(colour, hatch) {
    if (hatch === "plain") return colour;
    const tile = document.createElement("canvas");
    tile.width = 8;
    tile.height = 8;
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = style("ink");
    pen.fillStyle = style("ink");
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1.2;
    const line = (...points) => {
      pen.beginPath();
      pen.moveTo(points[0], points[1]);
      pen.lineTo(points[2], points[3]);
      pen.stroke();
    };
    if (hatch === "rising" || hatch === "crossed") {
      line(-1, 9, 9, -1);
      line(-1, 1, 1, -1);
      line(7, 9, 9, 7);
    }
    if (hatch === "falling" || hatch === "crossed") {
      line(-1, -1, 9, 9);
      line(-1, 7, 1, 9);
      line(7, -1, 9, 1);
    }
    if (hatch === "level") line(0, 4, 8, 4);
    if (hatch === "upright") line(4, 0, 4, 8);
    if (hatch === "dotted") pen.fillRect(3, 3, 2, 2);
    return pen.createPattern(tile, "repeat");
  }

  const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 4], [1, 2]];
  const POINTS = ["circle", "triangle", "rect", "rectRot", "star", "cross", "crossRot"];

  /** The style of the index-th line. */
  const line = index => ({
    borderColor: style("line" + (1 + index % 7)),
    backgroundColor: style("line" + (1 + index % 7)),
    borderDash: DASHES[index % DASHES.length],
    pointStyle: POINTS[index % POINTS.length],
    borderWidth: 2,
  });

  const look = ([, label, colour, hatch]) => ({
    label,
    backgroundColor: pattern(style(colour), hatch),
    borderColor: style(colour),
  });

  /** The options that all charts share. */
  function options(x, y, more = {}) {
    const axis = (title, own = {}) => ({
      ...own,
      title: { display: Boolean(title), text: title, color: style("soft") },
      ticks: { color: style("soft"), maxRotation: 0, autoSkipPadding: 12, ...(own.ticks || {}) },
      grid: { color: style("line"), ...(own.grid || {}) },
      border: { color: style("line") },
    });
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: more.indexAxis || "x",
      interaction: { mode: "index", axis: more.indexAxis || "x", intersect: false, ...(more.interaction || {}) },
      plugins: {
        legend: {
          display: more.legend !== false,
          align: "start",
          labels: { color: style("text"), boxWidth: 22, boxHeight: 11, ...(more.labels || {}) },
        },
        tooltip: {
          backgroundColor: style("raised"),
          titleColor: style("text"),
          bodyColor: style("text"),
          borderColor: style("line"),
          borderWidth: 1,
          ...(more.tooltip || {}),
        },
      },
      scales: { x: axis(x[0], x[1]), y: axis(y[0], y[1]) },
    };
  }

  let figures = 0;

  /** A figure whose chart is redrawn when the colours change. */
  function chart(name, description, configure, more = {}) {
    const canvas = element("canvas", {
      id: "chart-" + ++figures, role: "img", tabindex: "0",
      "aria-label": name + ". " + description,
      "aria-roledescription": "chart",
    });
    const drawing = element("div", { class: "drawing" }, canvas);
    if (more.height) drawing.style.height = more.height;
    charts.push({ canvas, configure, drawn: null });
    canvas.addEventListener("keydown", event => walk(canvas, event));
    canvas.addEventListener("blur", () => point(canvas, -1));
    return element("figure", {}, drawing);
  }

  function draw() {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    for (const each of charts) {
      if (each.drawn) each.drawn.destroy();
      each.drawn = new Chart(each.canvas, each.configure());
    }
  }

  /** The arrow keys move from point to point; screen readers announce the tooltip's text. */
  function walk(canvas, event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const drawn = Chart.getChart(canvas);
    if (event.key === "Escape") {
      point(canvas, -1);
    } else if (steps[event.key] && drawn) {
      event.preventDefault();
      const longest = Math.max(...drawn.data.datasets.map(set => set.data.length));
      const known = Number(canvas.dataset.at ?? -1);
      point(canvas, Math.min(longest - 1, Math.max(0, known + steps[event.key])));
    }
  }

  function point(canvas, index) {
    const drawn = Chart.getChart(canvas);
    if (!drawn) return;
    canvas.dataset.at = index;
    const active = index < 0 ? [] : drawn.data.datasets
      .map((set, datasetIndex) => ({ datasetIndex, index }))
      .filter(each => drawn.isDatasetVisible(each.datasetIndex) &&
        each.index < drawn.data.datasets[each.datasetIndex].data.length);
    drawn.setActiveElements(active);
    drawn.tooltip.setActiveElements(active, { x: 0, y: 0 });
    drawn.update();
    document.getElementById("said").textContent = index < 0 ? "" :
      [...drawn.tooltip.title, ...drawn.tooltip.body.flatMap(each => each.lines)].join(", ");
  }

  // ---- the end of a page

  /** Called after the last section: adds the contents, the footer and the charts. */
  function finish(...footer) {
    document.getElementById("contents").append(element("ul", {},
      sections.map(([id, title]) => element("li", {}, element("a", { href: "#" + id }, title)))));
    document.getElementById("foot").append(paragraph(...footer));
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    const printing = now => {
      document.documentElement.classList.toggle("printing", now);
      draw();
    };
    addEventListener("beforeprint", () => {
      document.querySelectorAll("details").forEach(each => {
        each.dataset.wasOpen = each.open;
        each.open = !each.matches(".screen");
      });
      printing(true);
    });
    addEventListener("afterprint", () => {
      document.querySelectorAll("details").forEach(each => { each.open = each.dataset.wasOpen === "true"; });
      printing(false);
    });
  }

