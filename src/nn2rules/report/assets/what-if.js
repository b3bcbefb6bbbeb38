// Choose values, and see the prediction.
const FIELDS = [];

function buildFields() {
  return FEATURES.map((feature, place) => {
    const number = isRange(feature) ? make("input", {type: "number", id: `n${place}`,
      step: feature.whole ? 1 : "any", min: feature.low, max: feature.high,
      inputmode: feature.whole ? "numeric" : "decimal"}) : null;
    const listed = feature.values.map((text, code) => [code + (number ? 1 : 0), text]);
    const kind = choice(number ? [[0, "a number"], ...listed] : listed);
    kind.id = `f${place}`;
    FIELDS.push({kind: kind, number: number});
    for (const control of [kind, number]) {
      if (control) control.addEventListener("input", showPrediction);
    }
    if (!number) {
      return make("div", null, make("label", {for: `f${place}`}, data(feature.name)), kind);
    }
    const span = `${feature.low} to ${feature.high}${feature.whole ? ", whole" : ""}`;
    number.setAttribute("aria-label", `${feature.name}, number from ${span}`);
    kind.setAttribute("aria-label", `${feature.name}, number or another value`);
    const isSingle = listed.length === 0;
    kind.hidden = isSingle;
    return make("div", {role: "group", "aria-labelledby": `l${place}`},
      make("span", {class: "field-name", id: `l${place}`}, data(feature.name),
        ` (${span})`),
      make("div", {class: isSingle ? "pair single" : "pair"}, kind, number));
  });
}

function put(input) {
  input.forEach(({code, number}, place) => {
    FIELDS[place].kind.value = String(code);
    if (FIELDS[place].number && code === 0) FIELDS[place].number.value = String(number);
  });
  showPrediction();
}

// The chosen input, or null where a number is not valid for its feature.
function chosen() {
  let isValid = true;
  const input = FIELDS.map(({kind, number}, place) => {
    const code = Number(kind.value), feature = FEATURES[place];
    if (!number) return {code: code, number: null};
    number.disabled = code !== 0;
    if (code !== 0) {
      number.setAttribute("aria-invalid", "false");
      return {code: code, number: null};
    }
    const value = Number(number.value);
    const isFine = number.value !== "" && value >= feature.low && value <= feature.high
      && (!feature.whole || Number.isInteger(value));
    number.setAttribute("aria-invalid", String(!isFine));
    isValid = isValid && isFine;
    return {code: 0, number: value};
  });
  return isValid ? input : null;
}

function beginning() {
  return FEATURES.map((feature) => isRange(feature)
    ? {code: 0, number: feature.whole ? Math.round((feature.low + feature.high) / 2)
      : (feature.low + feature.high) / 2}
    : {code: 0, number: null});
}

function changeText(input, {to}) {
  return make("ul", {class: "chips", "aria-label": "change"}, to.map(({place, value}) =>
    make("li", {class: "chip"}, data(FEATURES[place].name), " → ",
      data(valueText(place, value)))));
}

function listChanges(input, changes) {
  return make("ul", {class: "changes"}, changes.map((change) => {
    const attempt = make("button", {type: "button"}, "Try it");
    attempt.addEventListener("click", () => put(changed(input, change.to)));
    return make("li", null, make("div", null, changeText(input, change),
      make("span", {class: "remark"}, "gives ", data(DATA.classes[change.prediction]))),
      attempt);
  }));
}

const HOW = {
  table: "Looked up: this page contains the network's exact prediction for every input.",
  rule: "Proved by the rule below.",
  otherwise: "Proved: inputs that no rule covers have this class.",
  network: "The network itself was evaluated here, and its score is further from a tie " +
    "than the bound on all rounding errors.",
};

function showPrediction() {
  const out = document.getElementById("prediction"), input = chosen();
  if (!input) {
    out.dataset.prediction = "";
    out.replaceChildren(make("p", {class: "warning"},
      "A number is missing or outside its range, which is shown above its field."));
    return;
  }
  const rule = ruleOf(input), known = knownClass(input), parts = [];
  const byRules = rulesClass(rule), isOut = isImpossible(input);
  let prediction = known.prediction;
  if (prediction === null && !DATA.is_exact) prediction = byRules;
  out.dataset.prediction = prediction === null ? "" : String(prediction);
  out.dataset.rule = rule >= 0 ? RULES[rule].name : "";
  out.dataset.how = known.how;
  if (isOut) {
    parts.push(make("p", {class: "warning"}, "This input was declared impossible: " +
      "nothing is claimed about it."));
  }
  parts.push(make("p", {class: "kicker"}, "Predicted class"), make("p", {class: "class"},
    prediction === null ? "unknown here" : data(DATA.classes[prediction])));
  parts.push(make("p", {class: "note"}, howText(known, prediction, isOut)));
  if (known.prediction !== null && byRules !== null && byRules !== known.prediction
    && !isOut) {
    parts.push(make("p", {class: "warning"}, DATA.is_exact
      ? "A rule contradicts this. This is a bug: please report it."
      : `The rules predict ${DATA.classes[byRules]} here; the network does not.`));
  }
  parts.push(...ruleParts(rule, input, isOut));
  if (known.prediction !== null && !isOut) {
    parts.push(...whyParts(input, known.prediction, rule));
  }
  out.replaceChildren(...parts);
}

// Rules are proved for inputs that can occur.
const DECLARED = DATA.what_if.impossible;
const EXCEPT = DECLARED && !DECLARED.boxes.length ? " Nothing is claimed about " +
  "inputs declared impossible, and this page cannot tell which they are." : "";

function howText(known, prediction, isOut) {
  const uncovered = isOut || IS_CARD ? "" : "No rule covers this input. ";
  if (known.how === "network") return uncovered + HOW.network + EXCEPT;
  if (HOW[known.how]) return HOW[known.how] + EXCEPT;
  if (prediction !== null) {
    return "Predicted by the rules, about which nothing is proved.";
  }
  if (known.how === "tie") {
    return uncovered + "The network's score is too close to a tie to be decided here; " +
      "nn2rules explain settles it in exact arithmetic.";
  }
  return `${uncovered}${isOut || IS_CARD ? "" : "Nothing is claimed about it. "}` +
    DATA.what_if.why;
}

function ruleParts(rule, input, isOut) {
  if (IS_CARD) return pointsParts(input);
  if (rule < 0) {
    if (DATA.is_whole) return [];
    return [make("h3", null, "Rule"), make("p", null, "No rule covers this input.")];
  }
  const found = RULES[rule], cells = cellsOf(input), parts = [];
  parts.push(make("h3", null, `Rule ${found.name}`), chipsOf(found),
    make("p", {class: "remark"}, found.unless || ""));
  const also = RULES.map((_, index) => index)
    .filter((index) => index > rule && IS_SET && covers(RULES[index], cells));
  if (also.length) {
    const names = also.slice(0, 8).map((index) => RULES[index].name).join(", ");
    parts.push(make("p", {class: "note"}, `Also covered by: ${names}` +
      `${also.length > 8 ? ` and ${also.length - 8} more` : ""}.`));
  }
  return parts;
}

function whyParts(input, prediction, rule) {
  if (TABLE) return tableParts(input, byTable(input, prediction));
  if (IS_CARD) return searchParts(input, bySearch(input, prediction));
  const parts = [make("h3", null, "Reason")];
  if (rule >= 0 && DATA.is_exact && (DATA.is_alone || !RULES[rule].unless)
    && (IS_SET || DATA.is_alone)) {
    parts.push(make("p", null, "The conditions of the rule above are a proved reason: " +
      "they force this class, regardless of the other features" +
      `${DECLARED ? ", for all inputs that can occur" : ""}.`));
  } else if (rule >= 0 && DATA.is_exact) {
    parts.push(make("p", null, "The rule above determines the prediction, because " +
      "no earlier rule covers this input. Together, these are a proved reason."));
  } else {
    parts.push(make("p", null, "No reason is proved here; nn2rules explain finds one."));
  }
  return [...parts, ...searchParts(input, bySearch(input, prediction))];
}

function tableParts(input, found) {
  const parts = [make("h3", null, "Reason")];
  if (found.fewest === Infinity) {
    return [...parts, make("p", null, "Every input has this class: nothing flips it.")];
  }
  const chips = found.reason.map((place) => make("li", {class: "chip",
    "data-feature": place}, data(FEATURES[place].name), " = ",
    data(valueText(place, input[place]))));
  parts.push(make("ul", {class: "chips", id: "reason", "aria-label": "reason"}, chips),
    make("p", {class: "note"}, "This class follows regardless of the other features. " +
      "No reason has fewer features (every input was checked)."));
  const noun = found.fewest === 1 ? "one feature" : `${found.fewest} features`;
  parts.push(make("h3", null, "Counterfactual (smallest change)"), make("p", {class: "note",
    id: "changes-summary", "data-fewest": found.fewest, "data-count": found.count},
    `${counted(found.count, "change")} of ${noun} ` +
    `${found.count === 1 ? "flips" : "flip"} the prediction, and no smaller change ` +
    "does (every input was checked)." +
    `${found.count > found.changes.length ? " Some of them:" : ""}`),
    listChanges(input, found.changes));
  return parts;
}

function searchParts(input, found) {
  const parts = [make("h3", null, "Counterfactual (smallest change)")];
  const thresholds = IS_CARD ? "" : ", the thresholds of the rules";
  const numbers = found.isAll ? "" : ` For ranges, only the ends${thresholds} and ` +
    "some numbers between them were tried.";
  const unknown = found.unknown ? ` ${counted(found.unknown, "change")} could not be ` +
    "decided here." : "";
  const none = found.isAll && !found.unknown ? "No change of one feature flips the prediction."
    : "No change of one feature that was tried flips the prediction." + numbers + unknown;
  let text;
  if (found.size === 1) {
    text = "Changing one feature flips the prediction." + (found.isAll ? ""
      : " Closer numbers may flip it, too.");
  } else if (found.size === 2) {
    text = `${none} Changing two features does:`;
  } else if (found.changes.length) {
    text = `${none} No change of two that was tried does either. According to the rules, ` +
      "these do:";
  } else {
    text = `${none} No change of two that was tried does either` +
      `${IS_CARD ? "" : ", nor one that a rule names"}; nn2rules explain considers ` +
      "all of them.";
  }
  parts.push(make("p", {class: "note", id: "changes-summary", "data-fewest": found.size},
    text), listChanges(input, found.changes));
  return parts;
}

function buildWhatIf() {
  const place = document.getElementById("what-if-app");
  const rows = DATA.rows.cells;
  const take = make("button", {type: "button", id: "take-row"}, "Use a row of the data");
  let next = 0;
  const inputOf = (cells) => cells.map((cell, index) => inputCell(index, cell));
  take.addEventListener("click", () => {
    put(inputOf(rows[next % rows.length]));
    next += 1;
  });
  take.hidden = !rows.length;
  place.append(make("div", {class: "what-if"}, make("div", null,
    make("fieldset", {class: "fields"}, make("legend", {class: "unseen"}, "Values"),
      buildFields()), make("div", {class: "buttons"}, take)),
    make("div", {class: "prediction", id: "prediction", role: "status", "aria-live": "polite"})));
  if (DECLARED) place.append(make("p", {class: "note"}, data(DECLARED.text)));
  put(rows.length ? inputOf(rows[0]) : beginning());
  next = 1;
  place.hidden = false;
}
