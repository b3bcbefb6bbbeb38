// The rules: searched, filtered, sorted, opened; drawn a slice at a time.
const FIRST = 12, SLICE = 100;

function rowsOf(rule) {
  return (IS_SET ? rule.covered : undefined) ?? rule.determined;
}

function agreeing(rule) {
  return IS_SET && rule.covered_agree !== undefined ? rule.covered_agree : rule.determined_agree;
}

function wrongOf(rule) {
  const agree = agreeing(rule);
  return agree === undefined ? undefined : rowsOf(rule) - agree;
}

const HAS_ROWS = RULES.some((rule) => rowsOf(rule) !== undefined);
const HAS_LABELS = RULES.some((rule) => agreeing(rule) !== undefined);
const HAS_INPUTS = RULES.some((rule) => rule.inputs !== undefined);
const WORDS = RULES.map((rule) => [rule.name, DATA.classes[rule.then],
  ...rule.if.map((place) => CONDITIONS[place].text)].join(" · ").toLowerCase());

const ORDERS = [
  ["given", IS_SET ? "as listed" : "in the order they are tried", null],
  HAS_ROWS && ["rows", "most rows first", (rule) => -(rowsOf(rule) ?? -1)],
  HAS_LABELS && ["agree", "lowest accuracy first",
    (rule) => rowsOf(rule) ? agreeing(rule) / rowsOf(rule) : 2],
  HAS_LABELS && ["errors", "most errors first", (rule) => -(wrongOf(rule) ?? -1)],
  HAS_INPUTS && ["inputs", "most inputs first", (rule) => -(rule.inputs ?? -1)],
  ["short", "fewest conditions first", (rule) => rule.if.length],
].filter(Boolean);

function chipsOf(rule, cells) {
  if (!rule.if.length) return make("span", {class: "remark"}, "always");
  return make("ul", {class: "chips", "aria-label": "conditions"}, rule.if.map((place) => {
    const isMissed = cells && !allows(CONDITIONS[place], cells);
    return make("li", {class: isMissed ? "chip missed" : "chip"},
      data(CONDITIONS[place].text));
  }));
}

function numbersOf(rule) {
  const rows = rowsOf(rule), agree = agreeing(rule), lines = [];
  if (rows !== undefined) {
    const verb = IS_SET && rule.covered !== undefined ? "covered" : "determined";
    lines.push(make("div", null, make("strong", null, amount(rows)),
      ` row${rows === 1 ? "" : "s"} ${verb}`));
  } else if (rule.inputs !== undefined) {
    lines.push(make("div", null, make("strong", null, amount(rule.inputs)),
      ` input${rule.inputs === 1 ? "" : "s"} determined`));
  }
  if (agree !== undefined && rows) {
    lines.push(make("div", null, make("strong", null, share(agree / rows, 0)),
      " labels agree"));
  }
  return lines;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sentenceOf(rule) {
  const parts = rule.if.map((place) => CONDITIONS[place].text);
  const premise = parts.length ? `if ${parts.join(" and ")} then` : "always";
  const unless = rule.unless ? ` ${rule.unless}` : "";
  return `${premise} ${DATA.classes[rule.then]}${unless}`;
}

function rowTable(title, places, rule) {
  const rows = DATA.rows, hasLabels = rows.labels.length > 0;
  const header = ["rows", ...FEATURES.map((feature) => feature.name),
    ...(hasLabels ? ["label"] : [])];
  const body = places.map((place) => {
    const cells = rows.cells[place].map((cell, index) => cellText(index, cell));
    const line = [amount(rows.times[place]), ...cells];
    if (hasLabels) {
      const label = rows.labels[place], kind = label === rule.then ? "" : "wrong";
      line.push(make("span", {class: kind}, data(DATA.classes[label])));
    }
    return line;
  });
  return tableOf(title, header, body);
}

function cellText(place, cell) {
  return valueText(place, inputCell(place, cell));
}

function detailOf(index) {
  const rule = RULES[index], parts = [];
  parts.push(make("p", {class: "sentence"}, make("bdi", null, sentenceOf(rule))));
  const facts = [];
  if (rule.determined !== undefined && IS_SET) {
    facts.push(`it is the first rule that covers ${counted(rule.determined, "row")}`);
  }
  if (rule.inputs !== undefined) {
    facts.push(`it is the first rule that covers ${counted(rule.inputs, "input")}`);
  }
  if (rule.probability) {
    const [low, high] = rule.probability;
    facts.push("there, the network's probability of this class is between " +
      `${(Math.floor(low * 100) / 100).toFixed(2)} and ` +
      `${(Math.ceil(high * 100) / 100).toFixed(2)}`);
  }
  const wrong = wrongOf(rule);
  if (wrong !== undefined) {
    facts.push(wrong === 0 ? "the model is wrong on none of its rows"
      : `the model is wrong on ${amount(wrong)} of its rows`);
  }
  if (facts.length) parts.push(make("p", null, `${sentence(facts.join("; "))}.`));
  const examples = DATA.rows.covered[index] || [], bad = DATA.rows.wrong[index] || [];
  if (examples.length) {
    parts.push(make("h4", null, "Rows it determines (most frequent first)"),
      rowTable(`Rows under rule ${rule.name}`, examples, rule));
  }
  if (bad.length) {
    parts.push(make("h4", null, "Rows where the model is wrong (most frequent first)"),
      rowTable(`Errors under rule ${rule.name}`, bad, rule));
  }
  return parts;
}

function itemOf(index) {
  const rule = RULES[index], id = `detail-${index}`;
  const detail = make("div", {class: "detail", id: id, hidden: true});
  const more = make("button", {type: "button", class: "more", "aria-expanded": "false",
    "aria-controls": id, "aria-label": `More about rule ${rule.name}`}, "More");
  more.addEventListener("click", () => {
    const isOpen = detail.hidden;
    if (isOpen && !detail.firstChild) detail.append(...detailOf(index));
    detail.hidden = !isOpen;
    more.setAttribute("aria-expanded", String(isOpen));
    more.textContent = isOpen ? "Less" : "More";
  });
  const then = `then c${rule.then}`;
  return make("li", {id: `rule-${index}`}, make("div", {class: "rule"},
    make("span", {class: "name"}, rule.name),
    make("span", {class: then}, data(DATA.classes[rule.then])),
    make("div", {class: "chips-cell"}, chipsOf(rule),
      rule.unless ? make("span", {class: "remark"}, ` ${rule.unless}`) : null),
    make("div", {class: "numbers"}, numbersOf(rule)), more), detail);
}

const VIEW = {first: null, shown: [], drawn: 0};

function buildRules() {
  const place = document.getElementById("rules-app");
  const search = make("input", {type: "search", spellcheck: "false"});
  const feature = choice([["", "any feature"],
    ...FEATURES.map(({name}, index) => [index, name])]);
  const then = choice([["", "any class"],
    ...DATA.classes.map((name, index) => [index, name])]);
  const order = choice(ORDERS.map(([value, text]) => [value, text]));
  const count = make("p", {class: "count", role: "status", id: "rules-count"});
  const list = make("ol", {class: "rules", id: "rules-list"});
  const again = make("button", {type: "button", class: "again", id: "rules-more"});
  place.append(make("div", {class: "controls", role: "search"},
    labelled("Search", "search", search), labelled("Feature", "by-feature", feature),
    labelled("Class", "by-class", then), labelled("Sort by", "order", order)),
    count, list, again);

  function choose() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = RULES.map((_, index) => index);
    if (VIEW.first !== null) shown = shown.slice(0, VIEW.first);
    shown = shown.filter((index) => {
      const rule = RULES[index];
      if (then.value !== "" && rule.then !== Number(then.value)) return false;
      if (feature.value !== "" && !rule.if.some(
        (one) => CONDITIONS[one].feature === Number(feature.value))) return false;
      return words.every((word) => WORDS[index].includes(word));
    });
    const key = ORDERS.find(([value]) => value === order.value)[2];
    if (key) {
      const keys = new Map(shown.map((index) => [index, key(RULES[index])]));
      shown.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
    }
    VIEW.shown = shown;
    VIEW.drawn = 0;
    list.replaceChildren();
    const of = shown.length === RULES.length ? "" : ` of ${amount(RULES.length)}`;
    const first = VIEW.first === null ? "" : `, of the first ${amount(VIEW.first)}`;
    count.textContent = shown.length ? `${counted(shown.length, "rule")}${of}${first}`
      : `No rule matches this search${first}`;
    more(FIRST);
  }

  function more(number) {
    const next = VIEW.shown.slice(VIEW.drawn, VIEW.drawn + number);
    list.append(...next.map(itemOf));
    VIEW.drawn += next.length;
    const left = VIEW.shown.length - VIEW.drawn;
    again.hidden = left === 0;
    again.textContent = left <= SLICE ? `Show ${counted(left, "more rule")}`
      : `Show ${SLICE} more of ${counted(left, "rule")}`;
  }

  again.addEventListener("click", () => {
    const last = list.lastElementChild;
    more(SLICE);
    if (last && last.nextElementSibling) {
      last.nextElementSibling.querySelector("button").focus();
    }
  });
  window.addEventListener("beforeprint", () => more(VIEW.shown.length));
  for (const control of [feature, then, order]) control.addEventListener("change", choose);
  search.addEventListener("input", choose);
  VIEW.showFirst = (number) => { VIEW.first = number; choose(); };
  choose();
  place.hidden = false;
}
