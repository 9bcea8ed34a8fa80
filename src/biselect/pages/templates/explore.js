"use strict";
// Moves the page between budgets that were solved ahead. Names are only ever set as text.
(() => {
  const view = JSON.parse(document.getElementById("view").textContent);
  const at = (id) => document.getElementById(id);
  const words = JSON.parse(at("words").textContent);
  const say = (key, values = {}) => words.explore[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const answer = view.budgets[view.answer];
  const state = { budget: answer, sort: "adds", descending: true };
  const heaviest = Math.max(...view.adds.flat().map(Math.abs)) || 1;

  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const draw = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const number = (value) =>
    value === null ? say("missing")
    : typeof value === "string" ? value
    : Math.abs(value) >= 1e4 && Math.abs(value) < 1e12
      ? Math.round(value).toLocaleString("en")
      : String(Number((value + 0).toPrecision(4)));

  // The rows of a budget

  const chosen = (row) => state.budget.rows.includes(row);
  const adds = (row) => state.budget.columns.reduce((sum, column) => sum + view.adds[row][column], view.rows[row].own);
  const status = (row) => {
    const before = answer.rows.includes(row);
    if (chosen(row)) return say(before ? "chosen" : "comes_in");
    return say(before ? "drops_out" : "left_out");
  };
  const sortValue = (row) => {
    if (state.sort === "name") return view.rows[row].name;
    if (state.sort === "status") return status(row);
    if (state.sort === "adds") return adds(row);
    if (state.sort === "own") return view.rows[row].own;
    return (view.values || view.adds)[row][state.sort];
  };
  const searched = (row) => [view.rows[row].name, ...view.rows[row].shown.map(([, text]) => text)];
  const filled = (row, column) => Boolean(view.filled && view.filled[row][column]);
  const visibleRows = () => {
    const wanted = at("filter").value.trim().toLowerCase();
    const all = at("show").value === "all";
    const rows = view.rows.map((_, row) => row).filter(
      (row) => (all || chosen(row)) && searched(row).some((text) => text.toLowerCase().includes(wanted))
    );
    const sign = state.descending ? -1 : 1;
    const compare = (a, b) =>
      a === null || b === null ? (a === null) - (b === null)
      : typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true })
      : a - b;
    return rows.sort((a, b) => sign * compare(sortValue(a), sortValue(b)) || a - b);
  };
  const tableColumns = () => [
    { key: "name", title: say("row") },
    { key: "adds", title: say("adds"), kind: "n" },
    ...state.budget.columns.map((column) => ({ key: column, title: view.columns[column].name, kind: "n of-cell" })),
    ...(view.rows.some((row) => row.own) ? [{ key: "own", title: say("whole"), kind: "n" }] : []),
    { key: "status", title: say("status") },
  ];

  // Budgets

  const budgetOf = (k, m) => view.budgets.find((budget) => budget.k === k && budget.m === m);
  const choose = (budget) => {
    if (!budget) return;
    state.budget = budget;
    if (typeof state.sort === "number" && !budget.columns.includes(state.sort)) state.sort = "adds";
    show();
  };
  const oneMore = (what, more) =>
    more ? say(`one_more_${what}`, { adds: (more.kind === "exactly" ? "" : more.kind + " ") + number(more.adds) }) : "";
  const names = (list, positions) => positions.map((position) => list[position].name).join(", ");
  const moved = (list, from, to) => {
    const enters = to.filter((position) => !from.includes(position));
    const leaves = from.filter((position) => !to.includes(position));
    return [enters.length ? say("in", { names: names(list, enters) }) : "", leaves.length ? say("out", { names: names(list, leaves) }) : ""]
      .filter(Boolean)
      .join("; ");
  };

  const showState = () => {
    const { k, m, score, proven, gap } = state.budget;
    const verdict = proven
      ? say("proven")
      : gap === null ? say("open") : say("gap", { gap: number(100 * gap) });
    const lines = [
      say("budget", { rows: k, columns: m, score: number(score), verdict }),
      [oneMore("row", state.budget.one_more_row), oneMore("column", state.budget.one_more_column)]
        .filter(Boolean)
        .join(" "),
    ];
    if (state.budget !== answer) {
      const rows = moved(view.rows, answer.rows, state.budget.rows);
      const columns = moved(view.columns, answer.columns, state.budget.columns);
      lines.push(say("against_rows", { change: rows || say("unchanged") }));
      lines.push(say("against_columns", { change: columns || say("unchanged") }));
    }
    at("state").replaceChildren(...lines.filter(Boolean).map((line) => make("p", line)));
    for (const button of document.querySelectorAll("[data-budget] button")) {
      const here = view.budgets[button.parentElement.dataset.budget] === state.budget;
      button.setAttribute("aria-pressed", here);
      button.tabIndex = here ? 0 : -1;
    }
    for (const button of document.querySelectorAll("[data-step]")) button.disabled = !stepTo(button.dataset);
    at("k-now").textContent = k;
    at("m-now").textContent = m;
  };
  const stepTo = ({ step, by }) => {
    const { k, m } = state.budget;
    return step === "k" ? budgetOf(k + Number(by), m) : budgetOf(k, m + Number(by));
  };

  // The table

  const showTable = () => {
    const columns = tableColumns();
    const head = make("tr");
    for (const { key, title, kind = "" } of columns) {
      const sorted = state.sort === key;
      const cell = make("th", undefined, { scope: "col", class: kind });
      if (sorted) cell.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      const button = make("button", title, { type: "button", title: say("sort", { title }), "data-sort": key });
      button.append(make("span", sorted ? (state.descending ? " ▼" : " ▲") : "", { "aria-hidden": "true" }));
      button.onclick = () => {
        state.descending = sorted ? !state.descending : key !== "name" && key !== "status";
        state.sort = key;
        showTable();
        document.querySelector(`[data-sort="${key}"]`).focus();
      };
      cell.append(button);
      head.append(cell);
    }
    const rows = visibleRows();
    at("rows").tHead.replaceChildren(head);
    at("rows").tBodies[0].replaceChildren(...rows.map((row) => tableRow(row, columns)));
    const hidden = state.budget.k - state.budget.rows.length;
    at("count").textContent =
      say(rows.length === 1 ? "row_shown" : "rows_shown", { n: rows.length }) + (hidden ? say("hidden", { n: hidden }) : "");
  };
  const tableRow = (row, columns) => {
    const line = make("tr", undefined, chosen(row) ? {} : { class: "left-out" });
    for (const { key } of columns) {
      if (key === "name") {
        const name = make("th", view.rows[row].name, { scope: "row" });
        if (view.rows[row].label) name.append(" ", make("span", say("known"), { class: "tag" }));
        const beside = view.rows[row].shown.map(([what, text]) => `${what}: ${text || "–"}`).join(" · ");
        if (beside) name.append(make("span", beside, { class: "small soft beside" }));
        line.append(name);
      } else if (key === "status") line.append(make("td", status(row)));
      else if (key === "adds") line.append(make("td", number(adds(row)), { class: "n" }));
      else if (key === "own") line.append(make("td", number(view.rows[row].own), { class: "n" }));
      else line.append(cellOf(row, key));
    }
    return line;
  };
  const SIDES = { h: "high", l: "low", r: "rare", m: "missing", "-": "" };
  const cellOf = (row, column) => {
    const cell = make("td", undefined, { class: "n cell" });
    cell.style.setProperty("--v", Math.max(0, Math.round((100 * view.adds[row][column]) / heaviest)));
    const plain = number((view.values || view.adds)[row][column]);
    const text = filled(row, column) ? `(${plain})` : plain;
    if (filled(row, column)) cell.classList.add("filled");
    const side = view.sides ? SIDES[view.sides[row][column]] : "";
    if (side) cell.classList.add(side);
    if (!view.columns[column].histogram) {
      cell.textContent = text;
      cell.classList.add("plain");
      return cell;
    }
    const note = filled(row, column) ? say("filled") : "";
    const label = say("open_cell", { row: view.rows[row].name, column: view.columns[column].name, value: text, note });
    const button = make("button", text, { type: "button", "aria-label": label, "aria-haspopup": "dialog" });
    if (side && view.adds[row][column] > 0.3 * heaviest)
      button.prepend(make("i", words.mark[side], { class: `mark ${side}`, "aria-hidden": "true" }), " ");
    button.onclick = () => showHistogram(row, column);
    cell.append(button);
    return cell;
  };

  // The reference behind a cell

  const WIDTH = 400, HEIGHT = 200, TAIL = 56, BASE = 160, TOP = 24;
  const across = (histogram, row, column) => {
    const value = view.values[row][column];
    const { first, last, below, above } = histogram;
    const within = (share) => TAIL * Math.min(1, Math.max(0, share));
    // Beyond the bins a value stands where its rank puts it: the farther out, the fewer rows lie beyond it.
    if (value < first) return within(below ? view.below[row][column] / below : 0);
    if (value > last) return WIDTH - within(above ? view.above[row][column] / above : 0);
    return TAIL + ((WIDTH - 2 * TAIL) * (value - first)) / (last - first);
  };
  const showHistogram = (row, column) => {
    const { name, histogram } = view.columns[column];
    if (histogram.labels) return showLabels(row, column);
    const { counts, first, last, low, high, below, above } = histogram;
    const most = Math.max(...counts, 1);
    const width = (WIDTH - 2 * TAIL) / counts.length;
    const text = number(view.values[row][column]);
    const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    picture.setAttribute("aria-label", say("picture", { name, value: text }));
    counts.forEach((count, bin) => {
      const tall = ((BASE - TOP) * count) / most;
      const bar = draw("rect", { class: "bin", x: TAIL + bin * width, y: BASE - tall, width: width - 1, height: tall });
      picture.append(bar);
    });
    picture.append(
      draw("rect", { class: "tail", x: 0, y: BASE - 8, width: TAIL, height: 8 }),
      draw("rect", { class: "tail", x: WIDTH - TAIL, y: BASE - 8, width: TAIL, height: 8 }),
      draw("text", { x: TAIL, y: BASE + 16, "text-anchor": "middle" }, number(first)),
      draw("text", { x: WIDTH - TAIL, y: BASE + 16, "text-anchor": "middle" }, number(last)),
      draw("text", { x: 0, y: BASE + 32, "text-anchor": "start" }, number(low)),
      draw("text", { x: WIDTH, y: BASE + 32, "text-anchor": "end" }, number(high))
    );
    picture.append(draw("line", { class: "axis", x1: 0, x2: WIDTH, y1: BASE, y2: BASE }));
    if (view.values[row][column] !== null) {
      const x = Math.min(WIDTH - 2, Math.max(2, across(histogram, row, column)));
      const anchor = x < 60 ? "start" : x > WIDTH - 60 ? "end" : "middle";
      picture.append(
        draw("line", { class: "mark", x1: x, x2: x, y1: TOP - 6, y2: BASE }),
        draw("text", { class: "mark", x, y: TOP - 10, "text-anchor": anchor }, text)
      );
    }
    const [lowest, highest] = [below, above].map((count) => count.toLocaleString("en"));
    showCell(row, column, picture, say("key", { below: lowest, above: highest }));
  };
  const showLabels = (row, column) => {
    const { name, histogram: { labels, counts, others } } = view.columns[column];
    const value = number(view.values[row][column]);
    const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${20 * labels.length}`, role: "img" });
    picture.setAttribute("aria-label", say("labels", { name }));
    labels.forEach((label, at) => {
      const own = label === value ? " mark" : "";
      const wide = ((WIDTH - 180) * counts[at]) / Math.max(...counts);
      const told = label.length > 20 ? label.slice(0, 19) + "…" : label;
      picture.append(
        draw("text", { class: "name" + own, x: 120, y: 20 * at + 14, "text-anchor": "end" }, told),
        draw("rect", { class: "bin", x: 126, y: 20 * at + 4, width: wide, height: 12 }),
        draw("text", { x: 130 + wide, y: 20 * at + 14 }, counts[at].toLocaleString("en"))
      );
    });
    showCell(row, column, picture, others
      ? say("key_common", { n: others.toLocaleString("en") })
      : say("key_all"));
  };
  const showCell = (row, column, picture, key) => {
    const named = { row: view.rows[row].name, column: view.columns[column].name, value: number(view.values[row][column]) };
    at("cell-title").textContent = say(filled(row, column) ? "cell_filled" : "cell", named);
    at("cell-words").textContent = say("cell_words", { words: view.texts[view.words[row][column]], adds: number(view.adds[row][column]) });
    at("cell-picture").replaceChildren(picture);
    at("cell-key").textContent = key;
    at("cell").showModal();
  };

  // Export

  const quoted = (field) => {
    let text = String(field);
    // A spreadsheet would run what looks like a formula, also after a sign that separates cells somewhere.
    if (typeof field === "string")
      text = text.replace(/([;\t\r\n])(?=['"]*[=+\-@＝＋－＠])/g, "$1'").replace(/^(?=[=+\-@＝＋－＠\t\r])/, "'");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = () => {
    const columns = state.budget.columns;
    const beside = view.rows[0].shown.map(([what]) => what);
    const head = [say("row"), ...beside, say("status"), say("adds"), say("whole")];
    for (const column of columns) {
      const { name } = view.columns[column];
      head.push(...(view.values ? [name, `${name} ${say("adds")}`] : [`${name} ${say("adds")}`]));
    }
    const lines = visibleRows().map((row) => [
      ...searched(row),
      status(row),
      adds(row),
      view.rows[row].own,
      ...columns.flatMap((column) =>
        view.values
          ? [filled(row, column) ? "" : view.values[row][column] ?? "", view.adds[row][column]]
          : [view.adds[row][column]]
      ),
    ]);
    return [head, ...lines].map((line) => line.map(quoted).join(",") + "\r\n").join("");
  };
  const exportCsv = () => {
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    make("a", "", { href: address, download: `selection-k${state.budget.k}-m${state.budget.m}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  const show = () => {
    showState();
    showTable();
  };
  for (const cell of document.querySelectorAll("[data-budget]")) {
    const budget = view.budgets[cell.dataset.budget];
    const button = make("button", undefined, { type: "button" });
    button.append(...cell.childNodes);
    button.onclick = () => choose(budget);
    button.onkeydown = (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const next = step && budgetOf(budget.k + step[0], budget.m + step[1]);
      if (!next) return;
      event.preventDefault();
      choose(next);
      document.querySelector(`[data-budget="${view.budgets.indexOf(next)}"] button`).focus();
    };
    cell.append(button);
  }
  for (const button of document.querySelectorAll("[data-step]")) button.onclick = () => choose(stepTo(button.dataset));
  const search = at("find");
  if (search) search.oninput = () => {
    const wanted = search.value.trim().toLowerCase();
    let found = 0;
    for (const line of document.querySelectorAll("table.chosen tr.row")) {
      line.hidden = !line.querySelector("th").textContent.toLowerCase().includes(wanted);
      found += !line.hidden;
    }
    const rest = document.querySelector("details.more table.chosen");
    if (rest) rest.parentElement.open = Boolean(wanted) && Boolean(rest.querySelector("tr.row:not([hidden])"));
    at("found").textContent = wanted ? words.found[found === 1 ? "one" : "other"].replace("{n}", found) : "";
  };
  at("filter").oninput = showTable;
  at("show").onchange = showTable;
  at("export").onclick = exportCsv;
  show();
  for (const part of document.querySelectorAll(".live")) part.hidden = false;
})();
