// Elements are made of names and texts, never of markup: text stays text.
const DATA = JSON.parse(document.getElementById("data").textContent);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  const space = "http://www.w3.org/2000/svg";
  return fill(document.createElementNS(space, tag), attributes, children);
}

const LONG = 600;  // characters; html.py says the same

// Text of the data, whatever the direction of its writing; of a very long one the
// beginning.
function data(text) {
  const left = text.length - LONG;
  return make("bdi", null, left > 0
    ? `${text.slice(0, LONG)}… (${left.toLocaleString("en-US")} more characters)` : text);
}

function labelled(title, id, control) {
  control.id = id;
  return make("div", null, make("label", {for: id}, data(title)), control);
}

function choice(options) {
  return make("select", null,
    options.map(([value, text]) => make("option", {value: value}, shortened(text, 200))));
}

function shortened(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// Rows in a table with a header; cells are texts of the data.
function tableOf(title, header, rows) {
  const head = header.map((text) => make("th", {scope: "col"}, data(text)));
  const body = rows.map((cells) => make("tr", null,
    cells.map((cell) => make("td", null, cell instanceof Node ? cell : data(cell)))));
  const table = make("table", null, make("caption", {class: "unseen"}, title),
    make("thead", null, make("tr", null, head)), make("tbody", null, body));
  return make("div", {class: "scroll", tabindex: "0", role: "group",
    "aria-label": title}, table);
}
