// Coverage by number of rules: lines, and a slider for the first k rules.
const LINES = [
  ["covered", "covered by these rules"],
  ["fidelity", "predicted as by all rules, if the rest gets one class"],
  ["accuracy", "predicted as labelled, if the rest gets one class"],
  ["accuracy_on_covered", "of these, predicted as labelled"],
].filter(([name]) => DATA.curve && DATA.curve[name]);

// The picture at some width, and what moves its mark.
function drawCurve(wide) {
  const curve = DATA.curve, n = curve.covered.length - 1;
  const high = wide < 500 ? 240 : 320, left = 52, right = 14, top = 12, bottom = 44;
  const isLog = n > 30;  // else the first rules, which cover most, would share a pixel
  const scale = isLog ? Math.log1p : (k) => k;
  const x = (k) => left + (wide - left - right) * (n ? scale(k) / scale(n) : 0);
  const y = (part) => high - bottom - (high - top - bottom) * part;
  const picture = draw("svg", {class: "curve", viewBox: `0 0 ${wide} ${high}`,
    role: "img", "aria-label": `The share of ${curve.noun} that the first rules ` +
    "cover, for each number of rules. The slider below states it in words."});
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(draw("line", {class: "axis", x1: left, x2: wide - right, y1: y(part),
      y2: y(part)}), draw("text", {x: left - 8, y: y(part) + 4, "text-anchor": "end"},
      `${100 * part}%`));
  }
  const even = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * n));
  const steps = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000];
  const marks = new Set(isLog ? [...steps.filter((k) => 2.5 * k < n), n] : even);
  for (const k of marks) {
    picture.append(draw("text", {x: x(k), y: high - bottom + 20,
      "text-anchor": k === n && n ? "end" : "middle"}, amount(k)));
  }
  picture.append(draw("text", {x: (left + wide) / 2, y: high - 5,
    "text-anchor": "middle"}, isLog ? "first rules (logarithmic scale)" : "first rules"));
  for (const [name] of LINES) {
    const points = curve[name].map(
      (part, k) => part === null ? "" : `${x(k).toFixed(1)},${y(part).toFixed(1)}`);
    picture.append(draw("polyline", {class: `line ${name}`, points: points.join(" ")}));
  }
  const mark = draw("line", {class: "mark", y1: top, y2: high - bottom});
  const dot = draw("circle", {class: "dot", r: 5});
  picture.append(mark, dot);
  return {picture: picture, move: (k) => {
    mark.setAttribute("x1", x(k));
    mark.setAttribute("x2", x(k));
    dot.setAttribute("cx", x(k));
    dot.setAttribute("cy", y(curve.covered[k]));
  }};
}

function curveText(k) {
  const curve = DATA.curve;
  const covered = `${share(curve.covered[k], 1)} of ${curve.noun}`;
  const parts = [k === 0 ? "Without rules, nothing is covered"
    : k === 1 ? `The first rule covers ${covered}`
      : `The first ${amount(k)} rules cover ${covered}`];
  if (curve.fidelity) {
    parts.push("with one class for the rest, " +
      `${share(curve.fidelity[k], 1)} get the prediction of all rules`);
  }
  if (curve.accuracy) {
    parts.push(`${share(curve.accuracy[k], 1)} are predicted as labelled`);
  }
  if (curve.accuracy_on_covered && curve.accuracy_on_covered[k] !== null) {
    parts.push(`${share(curve.accuracy_on_covered[k], 1)} of these as labelled`);
  }
  return `${parts.join("; ")}.`;
}

function legend() {
  return make("ul", {class: "legend"}, LINES.map(([name, text]) => make("li", null,
    draw("svg", {viewBox: "0 0 40 10", class: "curve-key", "aria-hidden": "true"},
      draw("polyline", {class: `line ${name}`, points: "0,5 40,5"})), text)));
}

function buildCurve() {
  const place = document.getElementById("curve-app"), curve = DATA.curve;
  if (!place || !curve) return;
  const n = curve.covered.length - 1, start = Math.min(n, firstEnough(curve.covered));
  const slider = make("input", {type: "range", min: 0, max: n, step: 1, value: start,
    id: "first"});
  const exact = make("input", {type: "number", min: 0, max: n, step: 1, value: start,
    "aria-label": "Number of first rules, exactly", id: "first-exactly"});
  const readout = make("p", {class: "readout", role: "status", id: "first-readout"});
  const only = make("button", {type: "button", id: "only-first"});
  const all = make("button", {type: "button", id: "all-rules", hidden: true},
    "Show all rules again");
  const frame = make("div", {class: "frame"});
  let drawn = null;

  function update() {
    const k = Number(slider.value);
    drawn.move(k);
    readout.textContent = curveText(k);
    slider.setAttribute("aria-valuetext", `${counted(k, "rule")}: ${readout.textContent}`);
    only.textContent = k === 1 ? "Show this rule alone" : `Show these ${amount(k)} rules`;
    only.disabled = k === 0;
  }

  function redraw() {
    const room = document.documentElement.clientWidth - 34;
    drawn = drawCurve(Math.max(300, Math.min(960, room)));
    frame.replaceChildren(drawn.picture);
    update();
  }

  slider.addEventListener("input", () => { exact.value = slider.value; update(); });
  exact.addEventListener("input", () => {
    const k = Number(exact.value);
    if (exact.value === "" || !Number.isInteger(k) || k < 0 || k > n) return;
    slider.value = exact.value;
    update();
  });
  only.addEventListener("click", () => {
    VIEW.showFirst(Number(slider.value));
    all.hidden = false;
    document.getElementById("rules").scrollIntoView();
    document.getElementById("search").focus({preventScroll: true});
  });
  all.addEventListener("click", () => {
    VIEW.showFirst(null);
    all.hidden = true;
    slider.focus();
  });
  window.addEventListener("resize", redraw);
  place.append(frame, legend(), make("div", {class: "slider"},
    make("label", {for: "first"}, "Number of first rules"), slider, exact), readout,
    make("div", {class: "buttons"}, only, all));
  redraw();
  place.hidden = false;
}

// The fewest first rules that cover nine tenths of what all rules cover.
function firstEnough(covered) {
  const enough = 0.9 * covered[covered.length - 1];
  return covered.findIndex((part) => part >= enough);
}
