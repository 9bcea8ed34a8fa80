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

/* whoever comes back after a stop or a refusal finds what they chose */
if (at("setup")) {
  const form = at("setup");
  const key = "setup " + form.elements.table.value, ticked = (field) => ["radio", "checkbox"].includes(field.type);
  const fields = [...form.elements].filter((field) => field.name && !field.dataset.kept);
  const chosen = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  if (chosen.length === fields.length) fields.forEach((field, place) => { if (ticked(field)) field.checked = chosen[place]; else field.value = chosen[place]; });
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

/* one row after the other */
if (at("review")) {
  const home = at("review"), buttons = [...document.querySelectorAll("[data-verdict]")];
  const id = sessionStorage.getItem("window") ?? crypto.randomUUID();
  sessionStorage.setItem("window", id);
  let row = null, last = 0, busy = 0, waiting = null;  /* the row that is shown, the last answer known, requests under way, an answer that was refused */
  const signed = () => ({who: at("who").value, when: at("when").value, choice: home.dataset.choice});
  const ready = (on) => { for (const button of [...buttons, at("unlike")]) button.disabled = !on; };
  const put = (text) => {  /* what stands beside the row; what was searched for stays */
    const searched = at("search")?.value ?? "", focused = document.activeElement === at("search");
    at("beside").innerHTML = text;
    if (at("search")) { at("search").value = searched; search(); if (focused) at("search").focus(); }
  };
  const search = () => {
    const wanted = at("search").value.toLowerCase();
    for (const one of document.querySelectorAll(".answered li")) one.hidden = !one.textContent.toLowerCase().includes(wanted);
  };
  const json = async (answer) => answer ? answer.json().catch(() => ({error: answer.statusText})) : {error: words.failed};
  const ask_for = (address, values) => post(address, new URLSearchParams({...signed(), window: id, ...values})).catch(() => null);
  const draw = (told) => {
    at("row").innerHTML = told.html;
    at("row").classList.remove("going");
    row = told.row;
    last = told.last;
    at("note").value = "";
    for (const button of buttons) button.setAttribute("aria-pressed", "false");
    ready(row !== null);
    if (document.activeElement !== at("note") && document.activeElement?.id !== "search") at("name").focus({preventScroll: true});
    window.scrollTo(0, 0);
  };
  const next = async (values = {}) => {
    ready(false);
    at("row").classList.add("going");
    const began = Date.now();
    let there = false;
    const watch = async () => {  /* tables that are opened first take a while */
      if (there) return;
      const told = await get("/job").then((answer) => answer.json()).catch(() => null);
      if (!there && told && at("step")) at("step").textContent = `${told.step || words.step} ${say("seconds", {n: Math.round((Date.now() - began) / 1000)})}`;
      setTimeout(watch, 500);
    };
    setTimeout(watch, 400);
    for (;;) {
      const answer = await ask_for("/next", values), told = await json(answer);
      if (answer && answer.ok) {
        there = true;
        if (String(told.choice) !== home.dataset.choice) { at("newer").hidden = false; return; }
        draw(told);
        if (values.answered && told.moved) at("said").textContent += " " + say("moved", {n: told.moved});
        return;
      }
      (at("step") ?? at("said")).textContent = told.error;
      if (answer && answer.status !== 409) { there = true; if (values.row) { values = {}; continue; } return; }
      await new Promise((done) => setTimeout(done, 1000));  /* another job is under way, or the server is away */
    }
  };
  const send = async (given) => {
    busy++;
    at("saved").textContent = words.saving;
    const answer = await ask_for("/answer", given), told = await json(answer);
    busy--;
    if (answer && answer.ok) {
      last = Math.max(last, told.last);
      put(told.beside);
      at("lost").hidden = true;
      waiting = null;
      at("saved").textContent = words.saved;
      at("said").textContent = say("was_saved", {name: given.name, verdict: given.verdict});
      return true;
    }
    waiting = {...given, after: told.after ?? given.after};  /* never lost: it can be sent again */
    at("saved").textContent = "";
    at("lost").hidden = false;
    at("why-lost").textContent = say("lost", {why: told.error});
    if (told.beside) put(told.beside);
    return false;
  };
  const tick = async (verdict) => {
    if (row === null || waiting || buttons[0].disabled) return;
    ready(false);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
    const note = at("note").value;
    const given = {row, verdict, after: last, name: at("name").textContent, ...(note ? {note} : {})};
    if (await send(given)) await next({answered: "yes"});
  };
  const undo = async () => {
    if (busy) return;
    const told = await json(await ask_for("/undo", {}));
    if (told.error) { at("said").textContent = told.error; return; }
    put(told.beside);
    at("said").textContent = !told.back ? words.no_undo : say(told.back.verdict ? "undone_as" : "undone", told.back);
    if (told.back && !told.back.verdict) await next({row: told.back.row});
    else last = told.last;
  };
  const open = async (number) => {
    const told = await json(await ask_for("/open", {row: number}));
    if (told.error) at("said").textContent = told.error; else draw(told);
  };
  for (const button of buttons) button.addEventListener("click", () => tick(button.dataset.verdict));
  at("unlike").addEventListener("click", () => next({unlike: "yes"}));
  at("undo").addEventListener("click", undo);
  at("again").addEventListener("click", async () => { if (waiting && await send(waiting)) await next(); });
  at("leave").addEventListener("click", () => { waiting = null; at("lost").hidden = true; next(); });
  at("beside").addEventListener("input", (event) => { if (event.target.id === "search") search(); });
  at("beside").addEventListener("click", (event) => { const button = event.target.closest("[data-row]"); if (button) open(button.dataset.row); });
  const keys = {f: "fine", 1: "fine", n: "not fine", 2: "not fine", u: "unsure", 3: "unsure"};
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { at("name")?.focus(); return; }
    if (!at("keys").checked || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    const key = event.key.toLowerCase();
    if (keys[key]) tick(keys[key]);
    else if (key === "e" && !at("unlike").disabled) next({unlike: "yes"});
    else if (key === "z") undo();
    else if (key === "t") at("note").focus();
    else if (key === "/") at("search")?.focus();
    else return;
    event.preventDefault();
  });
  /* on a phone: to the right fine, to the left not fine */
  let start = null;
  at("row").addEventListener("touchstart", (event) => { start = event.target.closest(".scroll") ? null : [event.touches[0].clientX, event.touches[0].clientY]; }, {passive: true});
  at("row").addEventListener("touchend", (event) => {
    if (!start) return;
    const across = event.changedTouches[0].clientX - start[0], down = event.changedTouches[0].clientY - start[1];
    start = null;
    if (Math.abs(across) > 90 && Math.abs(across) > 3 * Math.abs(down)) tick(across > 0 ? "fine" : "not fine");
  }, {passive: true});
  const look = async () => {
    if (!document.hidden && !busy) {
      const told = await get(`/beside?choice=${home.dataset.choice}&last=${look.last ?? 0}`).then((answer) => answer.ok ? answer.json() : null).catch(() => null);
      if (told && String(told.choice) !== home.dataset.choice) at("newer").hidden = false;
      else if (told?.beside && !busy) put(told.beside);
      if (told) look.last = told.last;
    }
    setTimeout(look, 3000);
  };
  setTimeout(look, 3000);
  next();
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
