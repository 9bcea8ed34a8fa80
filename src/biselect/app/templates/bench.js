"use strict";
const words = JSON.parse(document.getElementById("words").textContent);
const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
const at = (id) => document.getElementById(id);
const main = document.querySelector("main");

/* the token: this tab got it for a code, keeps it to itself, and sends it with everything that it asks for */
const token = sessionStorage.getItem("token") ?? "";
const ask = (address, {headers, ...more} = {}) => fetch(address, {...more, headers: {...headers, "X-Biselect-Token": token}});
const get = (address) => ask(address, {headers: {Accept: "application/json"}});
const post = (address, body, kind = "application/json") => ask(address, {method: "POST", body, headers: {Accept: kind}});

const show = (text) => {
  const page = new DOMParser().parseFromString(text, "text/html");
  document.title = page.title;
  main.replaceChildren(...page.body.childNodes);
};
const tell = (text) => {
  const told = at("trouble") ?? document.createElement("p");
  told.id = "trouble";
  told.setAttribute("role", "alert");
  told.className = "verdict warn";
  told.textContent = text;
  main.prepend(told);
  told.scrollIntoView();
};

/* a form: what it asks for begins by a POST with the token, and the page that it leads to is opened */
const send_form = async (form, open) => {
  const answer = await post(form.action, new URLSearchParams(new FormData(form)), "text/html").catch(() => null);
  if (!answer) tell(words.failed);
  else if (answer.ok) open(answer.url);
  else show(await answer.text());
};
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.id === "enter") return;
  event.preventDefault();
  send_form(event.target, (address) => location.assign(address));
});

const begin = () => {
if (at("at-once")) send_form(at("at-once"), (address) => location.replace(address));

/* a file that was written, by a link that works once */
for (const button of document.querySelectorAll("[data-file]")) button.addEventListener("click", async () => {
  const name = button.dataset.file;
  const told = await post("/link", new URLSearchParams({name})).then((answer) => answer.json()).catch(() => ({}));
  at("told").textContent = told.address ? "" : words.gone;
  if (told.address && name.endsWith(".html")) window.open(told.address, "_blank", "noopener");
  else if (told.address) location = told.address;
});

/* who and when: kept in this browser, as they were typed */
const today = () => { const now = new Date(); return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-"); };
for (const field of document.querySelectorAll("[data-kept]")) {
  const name = field.dataset.kept, store = name === "when" ? sessionStorage : localStorage;
  field.value = store.getItem(name) ?? (name === "when" ? today() : "");
  field.addEventListener("change", () => store.setItem(name, field.value));
}

/* a file that is dropped or picked */
if (at("drop")) {
  const bring = async (file) => {
    if (!file) return;
    at("told").textContent = say("bringing", {name: file.name});
    const answer = await post("/files?name=" + encodeURIComponent(file.name), file).catch(() => null);
    const told = answer ? await answer.json().catch(() => ({error: answer.statusText})) : {error: words.failed};
    if (told.name) location = at("drop").dataset.then + "?name=" + encodeURIComponent(told.name);
    else at("told").textContent = told.error;
  };
  at("file").addEventListener("change", () => bring(at("file").files[0]));
  for (const kind of ["dragenter", "dragover"]) at("drop").addEventListener(kind, (event) => { event.preventDefault(); at("drop").classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) at("drop").addEventListener(kind, (event) => { event.preventDefault(); at("drop").classList.remove("over"); });
  at("drop").addEventListener("drop", (event) => bring(event.dataTransfer.files[0]));
}

/* what to compare with: one list of files behind one choice */
if (at("which")) at("which").addEventListener("change", () => at("against-file").click());

/* the sliders say where they stand */
if (at("setup")) {
  const form = at("setup");
  for (const slider of [at("k"), at("m")]) slider.addEventListener("input", () => { form.querySelector(`output[for=${slider.id}]`).value = slider.value; });
  /* whoever comes back after a stop or a refusal finds what they chose */
  const key = "setup " + form.elements.table.value, ticked = (field) => ["radio", "checkbox"].includes(field.type);
  const fields = [...form.elements].filter((field) => field.name && !field.dataset.kept);
  const chosen = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  if (chosen.length === fields.length) fields.forEach((field, place) => { if (ticked(field)) field.checked = chosen[place]; else field.value = chosen[place]; });
  for (const slider of [at("k"), at("m")]) form.querySelector(`output[for=${slider.id}]`).value = slider.value;
  form.addEventListener("change", () => sessionStorage.setItem(key, JSON.stringify(fields.map((field) => ticked(field) ? field.checked : field.value))));
}

/* a job: where it is, then on to its page */
if (at("job")) {
  const began = Date.now();
  const look = async () => {
    const told = await get("/job").then((answer) => answer.json()).catch(() => null);
    if (told && told.finished) { location.replace(told.error === null ? told.then : "/working"); return; }
    if (told) {
      at("step").textContent = told.step || words.step;
      if (told.done === null) at("done").removeAttribute("value"); else at("done").value = told.done;
    }
    at("seconds").textContent = say("seconds", {n: Math.round((Date.now() - began) / 1000)});
    setTimeout(look, 300);
  };
  look();
}

/* ticks */
if (at("round")) {
  const home = at("round"), rows = [...home.querySelectorAll("li[data-row]")];
  let under_way = 0, all_kept = true, line = Promise.resolve();
  const signed = () => ({who: at("who").value, when: at("when").value, choice: home.dataset.choice});
  const show_ticks = (told) => {
    if (String(told.round) !== home.dataset.round || String(told.choice) !== home.dataset.choice) { at("newer").hidden = false; return; }
    for (const row of rows) {
      const [verdict, note] = told.answers[row.dataset.row] ?? ["", ""];
      row.className = verdict.replace(" ", "-");
      for (const choice of row.querySelectorAll("input[type=radio]")) choice.checked = choice.value === verdict;
      const field = row.querySelector(".note input");
      if (field !== document.activeElement && (verdict || !field.dataset.typed)) field.value = note;
    }
    const found = document.querySelector("#found ~ .line");
    if (found && told.line) found.textContent = told.line;
  };
  const count = (told) => { at("counts").textContent = say("counts", {n: Object.keys(told.answers).length, of: told.of, hits: told.hits}); };
  const send = (address, values) => {
    const body = new URLSearchParams({...signed(), ...values});
    under_way++;
    return line = line.then(async () => {  /* one after the other: the last tick of a row is the one that counts */
      const answer = await post(address, body).catch(() => null);
      const told = answer ? await answer.json().catch(() => ({error: answer.statusText})) : {error: words.failed};
      under_way--;
      all_kept = Boolean(answer && answer.ok);
      at("lost").hidden = all_kept;
      if (!all_kept) at("lost").textContent = say("lost", {why: told.error});
      else { count(told); if (!under_way) show_ticks(told); }
      return told;
    });
  };
  const undo = async () => {
    const told = await send("/undo", {});
    if (told.back !== undefined) at("said").textContent = !told.back ? words.no_undo : say(told.back.verdict ? "undone_as" : "undone", told.back);
  };
  const verdict = (row) => row.querySelector("input[type=radio]:checked")?.value ?? "";
  const tick = (row, value) => {
    row.className = value.replace(" ", "-");
    at("said").textContent = "";
    return send("/answer", {row: row.dataset.row, verdict: value, note: row.querySelector(".note input").value}).then((told) => {
      if (!told.error) return;
      row.className = "";  /* what was not kept does not look as if it were */
      for (const choice of row.querySelectorAll("input[type=radio]")) choice.checked = false;
    });
  };
  for (const row of rows) {
    for (const choice of row.querySelectorAll("input[type=radio]")) choice.addEventListener("change", () => tick(row, choice.value));
    const field = row.querySelector(".note input");
    field.addEventListener("input", () => { field.dataset.typed = "1"; });
    field.addEventListener("change", () => { if (verdict(row)) tick(row, verdict(row)); else if (field.value) at("said").textContent = words.note_alone; });
  }
  /* nobody leaves for the next round while a tick is on its way, or with a note that belongs to no answer */
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => {
    const alone = rows.find((row) => !verdict(row) && row.querySelector(".note input").value);
    if (!alone && !under_way) return;
    event.preventDefault();
    if (alone) { go(rows.indexOf(alone)); at("said").textContent = words.note_alone; }
    else line.then(() => { if (all_kept) form.requestSubmit(event.submitter); });
  });
  at("undo").addEventListener("click", undo);
  const current = () => rows.indexOf(document.activeElement?.closest("li[data-row]"));
  const go = (place) => { const row = rows[Math.max(0, Math.min(rows.length - 1, place))]; if (row) { row.focus(); row.scrollIntoView({block: "nearest"}); } };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=radio]), select, textarea")) { if (event.key === "Escape" || event.key === "Enter") { const row = event.target.closest("li[data-row]"); if (row) { event.target.blur(); row.focus(); event.preventDefault(); } } return; }
    const place = current(), key = event.key;
    if (key === "j") go(place + 1);
    else if (key === "k") go(place < 0 ? 0 : place - 1);
    else if (key === "u") undo();
    else if (key === "n" && place >= 0) rows[place].querySelector(".note input").focus();
    else if ("123".includes(key) && place >= 0) {
      const choice = rows[place].querySelectorAll("input[type=radio]")[Number(key) - 1];
      choice.checked = true;
      tick(rows[place], choice.value);
      go(place + 1);
    } else return;
    event.preventDefault();
  });
  const look = async () => {
    if (!document.hidden && !under_way) {
      const told = await get("/standing").then((answer) => answer.ok ? answer.json() : null).catch(() => null);
      if (told && !under_way) { count(told); show_ticks(told); }
    }
    setTimeout(look, 3000);
  };
  setTimeout(look, 3000);
}
};

/* what this address shows */
const enter = () => { sessionStorage.removeItem("token"); at("enter").hidden = false; };
const load = async () => {
  const answer = await ask(location.href, {headers: {Accept: "text/html"}}).catch(() => null);
  if (!answer) { tell(words.failed); return; }
  if (answer.status === 403) { enter(); return; }
  if (answer.redirected) history.replaceState(null, "", answer.url);
  show(await answer.text());
  begin();
};
if (at("token")) { sessionStorage.setItem("token", JSON.parse(at("token").textContent)); location.replace("/"); }
else if (!token) enter();
else if (at("enter").hidden) load();
