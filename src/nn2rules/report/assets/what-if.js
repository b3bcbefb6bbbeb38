// Choose values, and see what follows.
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
      if (control) control.addEventListener("input", answerInput);
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
  answerInput();
}

// What is chosen, or null where a number is none of its feature.
function chosen() {
  let isRight = true;
  const input = FIELDS.map(({kind, number}, place) => {
    const code = Number(kind.value), feature = FEATURES[place];
    if (!number) return {code: code, number: null};
    number.disabled = code !== 0;
    if (code !== 0) {
      number.setAttribute("aria-invalid", "false");
      return {code: code, number: null};
    }
    const found = Number(number.value);
    const isFine = number.value !== "" && found >= feature.low && found <= feature.high
      && (!feature.whole || Number.isInteger(found));
    number.setAttribute("aria-invalid", String(!isFine));
    isRight = isRight && isFine;
    return {code: 0, number: found};
  });
  return isRight ? input : null;
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
      make("span", {class: "remark"}, "gives ", data(DATA.classes[change.answer]))),
      attempt);
  }));
}

const HOW = {
  table: "Looked up: the network's exact answer to every input is in this page.",
  rule: "Proved, by the rule below.",
  otherwise: "Proved: whatever fits no rule gets this class.",
  network: "No rule decides this input: it is open. The network itself was worked out " +
    "here, and its score is further from a tie than all roundings together.",
};

function answerInput() {
  const out = document.getElementById("answer"), input = chosen();
  if (!input) {
    out.dataset.answer = "";
    out.replaceChildren(make("p", {class: "warning"},
      "A number is missing, or outside of its range; the range stands above its field."));
    return;
  }
  const rule = ruleOf(input), known = knownClass(input), parts = [];
  const byRules = rulesClass(rule), isOut = isImpossible(input);
  let answer = known.answer;
  if (answer === null && !DATA.is_right) answer = byRules;
  out.dataset.answer = answer === null ? "" : String(answer);
  out.dataset.rule = rule >= 0 ? RULES[rule].name : "";
  out.dataset.how = known.how;
  if (isOut) {
    parts.push(make("p", {class: "warning"}, "This input was declared impossible: " +
      "nothing is claimed of it."));
  }
  parts.push(make("p", {class: "kicker"}, "The answer is"), make("p", {class: "class"},
    answer === null ? "not known here" : data(DATA.classes[answer])));
  parts.push(make("p", {class: "note"}, told(known, answer, isOut)));
  if (known.answer !== null && byRules !== null && byRules !== known.answer && !isOut) {
    parts.push(make("p", {class: "warning"}, DATA.is_right
      ? "A rule says otherwise. That must not be: please report it."
      : `The rules say ${DATA.classes[byRules]} here, which is not the network's answer.`));
  }
  parts.push(...ruleParts(rule, input, isOut));
  if (known.answer !== null && !isOut) parts.push(...whyParts(input, known.answer, rule));
  out.replaceChildren(...parts);
}

// What a rule says is proved of inputs that can occur.
const DECLARED = DATA.what_if.impossible;
const EXCEPT = DECLARED && !DECLARED.boxes.length ? " Nothing is claimed of inputs " +
  "declared impossible, and this page cannot tell which they are." : "";

function told(known, answer, isOut) {
  if (HOW[known.how]) return HOW[known.how] + EXCEPT;
  if (answer !== null) return "So say the rules, of which nothing is proved.";
  if (known.how === "tie") {
    return "No rule decides this input, and the network's score is too near to a tie " +
      "to be told here; nn2rules explain settles it in exact arithmetic.";
  }
  return `No rule decides this input${isOut ? "" : ": it is open"}. ${DATA.what_if.why}`;
}

function ruleParts(rule, input, isOut) {
  if (rule < 0) {
    if (DATA.is_whole) return [];
    return [make("h3", null, "Rule"), make("p", null, "None holds.")];
  }
  const found = RULES[rule], cells = cellsOf(input), parts = [];
  parts.push(make("h3", null, `Rule ${found.name}`), chipsOf(found),
    make("p", {class: "remark"}, found.unless || ""));
  const also = RULES.map((_, index) => index)
    .filter((index) => index > rule && IS_SET && holds(RULES[index], cells));
  if (also.length) {
    const names = also.slice(0, 8).map((index) => RULES[index].name).join(", ");
    parts.push(make("p", {class: "note"}, `These hold, too: ${names}` +
      `${also.length > 8 ? ` and ${also.length - 8} more` : ""}.`));
  }
  return parts;
}

function whyParts(input, answer, rule) {
  if (TABLE) return tableParts(input, byTable(input, answer));
  const parts = [make("h3", null, "Reason")];
  if (rule >= 0 && DATA.is_right && (DATA.is_alone || !RULES[rule].unless)
    && (IS_SET || DATA.is_alone)) {
    parts.push(make("p", null, "The conditions of the rule above are a proved reason: " +
      "they alone force this class, whatever the other features are" +
      `${DECLARED ? ", of all inputs that can occur" : ""}.`));
  } else if (rule >= 0 && DATA.is_right) {
    parts.push(make("p", null, "The rule above decides, as none before it holds: both " +
      "together are a proved reason."));
  } else {
    parts.push(make("p", null, "No reason is proved here; nn2rules explain finds one."));
  }
  return [...parts, ...searchParts(input, bySearch(input, answer))];
}

function tableParts(input, found) {
  const parts = [make("h3", null, "Reason")];
  if (found.fewest === Infinity) {
    return [...parts, make("p", null, "Every input gets this class: nothing turns it.")];
  }
  const chips = found.reason.map((place) => make("li", {class: "chip",
    "data-feature": place}, data(FEATURES[place].name), " = ",
    data(valueText(place, input[place]))));
  parts.push(make("ul", {class: "chips", id: "reason", "aria-label": "reason"}, chips),
    make("p", {class: "note"}, "Whatever the other features are, this class follows. " +
      "No reason has fewer features: every input was looked at."));
  const noun = found.fewest === 1 ? "one feature" : `${found.fewest} features`;
  parts.push(make("h3", null, "Smallest change"), make("p", {class: "note",
    id: "changes-said", "data-fewest": found.fewest, "data-count": found.count},
    `${counted(found.count, "change")} of ${noun} ` +
    `${found.count === 1 ? "turns" : "turn"} it, and none of fewer: every input was ` +
    `looked at.${found.count > found.changes.length ? " Some of them:" : ""}`),
    listChanges(input, found.changes));
  return parts;
}

function searchParts(input, found) {
  const parts = [make("h3", null, "Smallest change")];
  const numbers = found.isAll ? "" : " Of ranges, only the ends, the numbers at " +
    "which rules are cut, and some between were tried.";
  const unknown = found.unknown ? ` ${counted(found.unknown, "change")} could not be ` +
    "told here." : "";
  const none = found.isAll && !found.unknown ? "No change of one feature turns it."
    : `No change of one feature that was tried turns it.${numbers}${unknown}`;
  let said;
  if (found.size === 1) {
    said = "A change of one feature turns it." + (found.isAll ? "" : " Numbers that " +
      "are nearer may turn it, too.");
  } else if (found.size === 2) {
    said = `${none} A change of two does:`;
  } else if (found.changes.length) {
    said = `${none} No change of two that was tried does, either. These do, by rules:`;
  } else {
    said = `${none} No change of two that was tried does, either, nor one that a rule ` +
      "names; nn2rules explain looks at all of them.";
  }
  parts.push(make("p", {class: "note", id: "changes-said", "data-fewest": found.size},
    said), listChanges(input, found.changes));
  return parts;
}

function buildWhatIf() {
  const place = document.getElementById("what-if-app");
  const rows = DATA.rows.cells;
  const take = make("button", {type: "button", id: "take-row"}, "Take a row of the data");
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
    make("div", {class: "answer", id: "answer", role: "status", "aria-live": "polite"})));
  if (DECLARED) place.append(make("p", {class: "note"}, data(DECLARED.text)));
  put(rows.length ? inputOf(rows[0]) : beginning());
  next = 1;
  place.hidden = false;
}
