import UncurlLoad

extension SavedReport {
    /// The script that draws the page's plots, without libraries or other resources. It inserts text as text, never as
    /// markup.
    static let script = #"""
        "use strict";
        (() => {
          const data = JSON.parse(document.getElementById("data").textContent);
          const host = document.getElementById("plots");
          const space = "http://www.w3.org/2000/svg";
          const width = 560, height = 290, left = 62, right = 12, top = 10, bottom = 32;
          const colour = (index) => `var(--s${index % 4})`;

          const element = (parent, name, attributes, text) => {
            const made = parent.namespaceURI === space || name === "svg"
              ? document.createElementNS(space, name) : document.createElement(name);
            for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
            if (text !== undefined) made.textContent = text;
            parent.append(made);
            return made;
          };
          const digits = (value) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
          const time = (ms) => ms === 0 ? "0" : ms < 0.001 ? digits(ms * 1e6) + " ns" : ms < 1 ? digits(ms * 1e3) + " µs"
            : ms < 1000 ? digits(ms) + " ms" : digits(ms / 1e3) + " s";
          const trim = (text) => text.replace(/\.0+(?= |$|k|M)/, "").replace(/(\.\d*?)0+(?= |$|k|M)/, "$1");
          const count = (value) => value >= 1e6 ? digits(value / 1e6) + "M" : value >= 1e4 ? digits(value / 1e3) + "k"
            : value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : digits(value);
          const clock = (seconds) => seconds < 120 ? `${+seconds.toFixed(1)} s` : seconds < 7200
            ? `${+(seconds / 60).toFixed(1)} min` : `${+(seconds / 3600).toFixed(2)} h`;

          const steps = (low, high, wanted) => {
            const raw = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(raw));
            const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= raw);
            const found = [];
            for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(+v.toPrecision(12));
            return found;
          };
          const linear = (high, whole) => {
            const marks = steps(0, high || 1, 4).filter((v) => !whole || Number.isInteger(v)), end = Math.max(high || 1, marks[marks.length - 1]);
            return { marks, at: (v) => 1 - v / end };
          };
          const logarithmic = (low, high) => {
            const from = Math.floor(Math.log10(low)), to = Math.max(Math.ceil(Math.log10(high)), from + 1), marks = [];
            for (let e = from; e <= to; e += 1) marks.push(10 ** e);
            if (marks.length < 4) for (let e = from; e < to; e += 1) marks.push(2 * 10 ** e, 5 * 10 ** e);
            return { marks, at: (v) => 1 - (Math.log10(v) - from) / (to - from) };
          };

          // One frame: heading, legend, axes, and a cursor that reads the values at the nearest x.
          const plot = (title, names, axis, x, xMarks, format, draw, readout) => {
            const card = element(host, "div", { class: "plot" });
            element(card, "h2", {}, title);
            const legend = element(card, "p", { class: "legend" });
            names.forEach((name, index) => {
              const entry = element(legend, "span");
              element(entry, "i", { style: `background:${colour(name.colour ?? index)}` });
              entry.append(name.text ?? name);
            });
            const svg = element(card, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
            const plotted = { w: width - left - right, h: height - top - bottom };
            const px = (v) => left + x(v) * plotted.w, py = (v) => top + axis.at(v) * plotted.h;
            for (const mark of axis.marks) {
              const y = py(mark);
              if (y < top - 0.5 || y > height - bottom + 0.5) continue;
              element(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y });
              element(svg, "text", { x: left - 8, y: y + 4, "text-anchor": "end" }, trim(format(mark)));
            }
            element(svg, "line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom });
            for (const [value, text] of xMarks) {
              const at = px(value);
              element(svg, "line", { class: "axis", x1: at, x2: at, y1: height - bottom, y2: height - bottom + 4 });
              const anchor = at > width - right - 20 ? "end" : at < left + 12 ? "start" : "middle";
              element(svg, "text", { x: at, y: height - 10, "text-anchor": anchor }, text);
            }
            draw(svg, px, py);
            const cursor = element(svg, "line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
            const tip = element(card, "div", { class: "tip" });
            svg.addEventListener("pointermove", (event) => {
              const box = svg.getBoundingClientRect(), scale = box.width / width;
              const found = readout((event.clientX - box.left) / scale, px);
              if (!found) return;
              cursor.setAttribute("x1", found.x);
              cursor.setAttribute("x2", found.x);
              cursor.setAttribute("visibility", "visible");
              tip.replaceChildren(...found.lines.flatMap((line, i) => i ? [document.createElement("br"), line] : [line]));
              const place = found.x * scale + 20;
              tip.style.left = `${Math.min(Math.max(8, place + 12), card.clientWidth - tip.offsetWidth - 8)}px`;
              tip.style.top = `${card.querySelector("svg").getBoundingClientRect().top - card.getBoundingClientRect().top + 12}px`;
              tip.style.opacity = 1;
            });
            svg.addEventListener("pointerleave", () => {
              cursor.setAttribute("visibility", "hidden");
              tip.style.opacity = 0;
            });
          };
          const line = (svg, points, index) => {
            let path = "", pen = false;
            for (const point of points) {
              if (!point) { pen = false; continue; }
              path += `${pen ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
              pen = true;
            }
            element(svg, "path", { class: "curve", d: path, stroke: colour(index) });
            if (points.filter(Boolean).length === 1) {
              const only = points.find(Boolean);
              element(svg, "circle", { cx: only[0], cy: only[1], r: 3, fill: colour(index) });
            }
          };
          const nearest = (values, wanted) => values.reduce((best, v, i) =>
            Math.abs(v - wanted) < Math.abs(values[best] - wanted) ? i : best, 0);

          // Latency by percentile: equal steps for 90, 99, 99.9 … as each leaves a tenth.
          const curves = data.curves.filter((curve) => curve.points.length > 1);
          if (curves.length) {
            const all = curves.flatMap((curve) => curve.points.map((point) => point[1])).filter((v) => v > 0);
            const nines = Math.min(6, Math.max(2, ...curves.map((curve) =>
              Math.max(...curve.points.filter((p) => p[0] < 1).map((p) => Math.log10(1 / (1 - p[0])))))));
            const place = (share) => Math.min(1, Math.log10(1 / Math.max(1 - share, 10 ** -nines)) / nines);
            const marks = [[0.5, "50"], [0.9, "90"], [0.99, "99"], [0.999, "99.9"], [0.9999, "99.99"],
              [0.99999, "99.999"]].filter(([share]) => place(share) < 0.99 && share <= 1 - 10 ** -nines).map(([s, t]) => [s, t + " %"]);
            const axis = logarithmic(Math.min(...all), Math.max(...all));
            plot("Latency by percentile", curves.map((curve) => curve.name), axis, place, marks, time, (svg, px, py) => {
              curves.forEach((curve, index) => line(svg, curve.points.filter((p) => p[1] > 0).map((p) => [px(p[0]), py(p[1])]), index));
            }, (x, px) => {
              const points = curves[0].points, index = nearest(points.map((p) => px(p[0])), x), share = points[index][0];
              const at = (curve) => (curve.points.find((p) => p[0] >= share) || curve.points[curve.points.length - 1])[1];
              return { x: px(share), lines: [`${+(share * 100).toFixed(4)} %`, ...curves.map((c) => `${c.name}: ${time(at(c))}`)] };
            });
          }

          const bars = data.bars;
          if (bars.length) {
            const low = Math.floor(Math.log10(bars[0][0])), high = Math.max(Math.ceil(Math.log10(bars[bars.length - 1][1]) - 1e-9), low + 1);
            const at = (v) => (Math.log10(v) - low) / (high - low), scale = logarithmic(10 ** low, 10 ** high);
            const all = bars.reduce((sum, b) => sum + b[2], 0), most = Math.max(...bars.map((b) => b[2]));
            plot("Latency histogram", [`${data.unit} by how long they took`], linear(most), at, scale.marks.map((v) => [v, trim(time(v))]), count,
              (svg, px, py) => {
                for (const [from, to, n] of bars) {
                  const y = py(n);
                  element(svg, "rect", { class: "bar", x: px(from) + 0.5, y, width: Math.max(px(to) - px(from) - 1, 1),
                    height: Math.max(height - bottom - y, 1), fill: colour(0) });
                }
              }, (cursor, px) => {
                const index = nearest(bars.map((b) => (px(b[0]) + px(b[1])) / 2), cursor), b = bars[index];
                return { x: (px(b[0]) + px(b[1])) / 2, lines: [`${time(b[0])} – ${time(b[1])}`, `${count(b[2])}: ${+(b[2] / all * 100).toFixed(3)} %`] };
              });
          }

          const course = data.course;
          if (course.length) {
            const end = course[course.length - 1][1], middle = course.map((p) => (p[0] + p[1]) / 2);
            const x = (t) => end ? t / end : 0;
            const marks = steps(0, end, 6).filter((t) => t <= end).map((t) => [t, clock(t)]);
            const read = (lines) => (at, px) => {
              const index = nearest(middle.map(px), at), p = course[index];
              return { x: px(middle[index]), lines: [`${clock(p[0])} – ${clock(p[1])}`, ...lines(p)] };
            };
            const usual = course.length > 2 ? course.slice(0, -1) : course;
            const wanted = course.some((p) => p[9] !== null);
            const rates = linear(Math.max(...usual.map((p) => Math.max(p[2], p[9] ?? 0))));
            const paces = [`${data.unit} a second`].concat(wanted ? [{ text: "wanted", colour: 2 }] : []);
            plot(`Throughput over time`, paces, rates, x, marks, count, (svg, px, py) => {
              const points = course.map((p, i) => [px(middle[i]), Math.max(py(p[2]), top)]), floor = height - bottom;
              element(svg, "path", { fill: colour(0), opacity: 0.13, d: `M${points[0][0]} ${floor}` +
                points.map((p) => `L${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("") + `L${points[points.length - 1][0]} ${floor}Z` });
              line(svg, points, 0);
              if (wanted) line(svg, course.map((p, i) => p[9] === null ? null : [px(middle[i]), Math.max(py(p[9]), top)]), 2);
            }, read((p) => [`${count(p[2])} ${data.unit}/s`].concat(p[9] === null ? [] : [`wanted: ${count(p[9])}/s`])));

            const names = ["p50", "p90", "p99", "slowest"];
            const times = course.flatMap((p) => p.slice(3, 7)).filter((v) => v > 0);
            if (times.length) {
              plot("Latency over time", names, logarithmic(Math.min(...times), Math.max(...times)), x, marks, time, (svg, px, py) => {
                for (const k of [3, 2, 1, 0]) {
                  line(svg, course.map((p, i) => p[3 + k] > 0 ? [px(middle[i]), py(p[3 + k])] : null), k);
                }
              }, read((p) => names.map((name, k) => `${name}: ${p[3 + k] === null ? "–" : time(p[3 + k])}`)));
            }

            const errors = course.map((p) => p[7] + p[8]), most = Math.max(...errors);
            const kinds = [{ text: "failed", colour: 3 }, { text: "HTTP errors", colour: 2 }];
            plot("Errors over time", kinds, linear(Math.max(most, 1), true), x, marks, count, (svg, px, py) => {
              if (!most) element(svg, "text", { x: (left + width - right) / 2, y: height / 2 - 10, "text-anchor": "middle" }, "none");
              course.forEach((p) => {
                let from = 0;
                for (const [value, index] of [[p[7], 3], [p[8], 2]]) {
                  if (!value) continue;
                  const y = py(from + value), wide = Math.max(px(p[1]) - px(p[0]) - 1, 1.5);
                  element(svg, "rect", { x: px(p[0]), y, width: wide, height: Math.max(py(from) - y, 1), fill: colour(index), rx: 1 });
                  from += value;
                }
              });
            }, read((p) => [`${count(p[7])} failed`, `${count(p[8])} HTTP errors`]));

            if (data.statuses.length) {
              const tint = (i) => i < 4 ? colour(i) : `color-mix(in srgb, var(--s${i % 4}) ${Math.max(25, 80 - 20 * Math.floor(i / 4))}%, var(--card))`;
              const sums = course.map((p) => data.statuses.reduce((sum, code) => sum + (p[10][code] || 0), 0) / (p[1] - p[0] || 1));
              const codes = data.statuses.map((code, i) => ({ text: code, colour: i }));
              plot("Statuses over time", codes, linear(Math.max(...sums)), x, marks, count, (svg, px, py) => {
                course.forEach((p) => {
                  let from = 0;
                  data.statuses.forEach((code, i) => {
                    const rate = (p[10][code] || 0) / (p[1] - p[0] || 1);
                    if (!rate) return;
                    const y = py(from + rate), wide = Math.max(px(p[1]) - px(p[0]) - 1, 1.5);
                    element(svg, "rect", { class: "status", x: px(p[0]), y, width: wide, height: Math.max(py(from) - y, 0.5), fill: tint(i) });
                    from += rate;
                  });
                });
              }, read((p) => data.statuses.filter((code) => p[10][code]).map((code) => `${code}: ${count(p[10][code])}`)));
            }
          }
        })();
        """#
}

extension SavedReport {
    static let style = """
        :root {
          --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5b6776; --line: #dfe4ea; --grid: #e9edf1;
          --s0: #2563eb; --s1: #0d9488; --s2: #d97706; --s3: #dc2626; --good: #15803d; --warn: #b45309; --bad: #b91c1c;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #10151c; --card: #18202a; --ink: #e8edf3; --soft: #98a5b5; --line: #2a3542; --grid: #232d39;
            --s0: #60a5fa; --s1: #2dd4bf; --s2: #fbbf24; --s3: #f87171; --good: #4ade80; --warn: #fbbf24; --bad: #f87171;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
          font-variant-numeric: tabular-nums; }
        header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 32px; }
        .kind { margin: 0; color: var(--soft); font-size: 13px; letter-spacing: .02em; }
        h1 { margin: 4px 0; font-size: 26px; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
        h1 span { font-weight: 450; }
        h2 { margin: 0 0 10px; font-size: 16px; font-weight: 650; }
        .meta { margin: 0 0 12px; color: var(--soft); }
        .verdict { display: inline-block; margin: 0 0 20px; padding: 3px 12px; border-radius: 14px; font-weight: 600;
          font-size: 14px; border: 1px solid currentColor; }
        .verdict.good { color: var(--good); } .verdict.warn { color: var(--warn); } .verdict.bad { color: var(--bad); }
        section { margin: 0 0 20px; }
        main > section:not(.tiles):not(.plots):not(.columns), .columns > div, .plot {
          background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 14px; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 18px; }
        .tile b { display: block; font-size: 25px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
        .tile span { color: var(--soft); font-size: 13px; }
        .tile.bad b { color: var(--bad); }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 14px; }
        .plot { min-width: 0; position: relative; }
        .plot h2 { margin-bottom: 2px; }
        .plot svg { display: block; width: 100%; height: auto; overflow: visible; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 6px; color: var(--soft); font-size: 13px; min-height: 20px; }
        .legend i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
        .tip { position: absolute; pointer-events: none; background: var(--ink); color: var(--page); border-radius: 8px;
          padding: 6px 10px; font-size: 12.5px; line-height: 1.45; white-space: nowrap; opacity: 0; transition: opacity .1s; z-index: 1; }
        svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
        svg .grid { stroke: var(--grid); stroke-width: 1; }
        svg .axis { stroke: var(--line); stroke-width: 1; }
        svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
        svg .cursor { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 14px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th, td { padding: 6px 14px 6px 0; border-top: 1px solid var(--grid); text-align: left; vertical-align: top;
          overflow-wrap: anywhere; }
        tr:first-child > * { border-top: 0; }
        th { color: var(--soft); font-weight: 500; white-space: nowrap; }
        .numbers td, .numbers th:not(:first-child) { text-align: right; white-space: nowrap; }
        .numbers td:last-child, .numbers th:last-child { padding-right: 0; }
        .example { color: var(--soft); }
        .note { color: var(--soft); margin: 0; }
        ul { margin: 0; padding-left: 20px; }
        footer { padding-top: 4px; padding-bottom: 32px; color: var(--soft); font-size: 13px; }
        @media print { body { background: #fff; } }
        """
}
