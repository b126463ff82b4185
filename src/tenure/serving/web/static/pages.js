// What pages do with script, and do without it too: parts of a page are renewed in place, and times are told in the
// reader's own zone. A server answers with whole pages; this takes the part that is wanted out of them.
"use strict";
(() => {
  const EVERY = 2000;     // ms between two looks whether something changed
  const TYPING = 250;     // ms after the last key before a search is made
  const root = document.documentElement;
  root.classList.add("scripted");
  let turn = 0;           // of the newest request, so that a late reply does not undo a later one
  let mark = document.body.dataset.mark || "";

  const localTimes = (within) => {
    const said = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
    for (const one of within.querySelectorAll("time[datetime]")) {
      const at = new Date(one.dateTime);
      if (!one.title && !Number.isNaN(at.getTime())) {
        one.title = `${one.textContent} UTC`;
        one.textContent = said.format(at);
      }
    }
  };

  const get = async (address, options = {}) => {
    const mine = ++turn;
    const reply = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" }, ...options });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    return mine === turn ? { reply, page } : null;
  };

  // Puts parts of a page in the place of those with the same id. What is open, ticked or focused by its name stays so.
  const renew = (page, ids) => {
    for (const id of ids) {
      const old = document.getElementById(id);
      const made = page.getElementById(id);
      if (!old || !made) continue;
      const open = new Set([...old.querySelectorAll("details[open] > summary")].map((one) => one.parentElement.closest("figure,section,li")?.querySelector("[id]")?.id));
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      old.replaceWith(document.adoptNode(made));
      for (const one of made.querySelectorAll("details")) {
        const name = one.closest("figure,section,li")?.querySelector("[id]")?.id;
        if (name && open.has(name)) one.open = true;
      }
      if (focused) document.getElementById(focused)?.focus();
      localTimes(made);
    }
    mark = page.body.dataset.mark || mark;
    document.getElementById("stale").hidden = true;
  };

  const tell = (sentence) => {
    const line = document.createElement("p");
    line.className = "said careful";
    line.textContent = sentence;
    document.getElementById("said").replaceChildren(line);
  };

  // Forms with data-swap change a part of the page; links and forms without it lead to another page, as ever.
  const send = async (form, button) => {
    const data = new FormData(form, button);
    const part = form.dataset.swap;
    if (form.method === "get") {
      const address = `${form.getAttribute("action")}?${new URLSearchParams([...data].filter(([, value]) => value))}`;
      const got = await get(address);
      if (!got) return;
      if (!got.reply.ok || !got.page.getElementById(part)) return void location.assign(address);
      renew(got.page, [part]);
      history.replaceState(null, "", address);
      return;
    }
    const got = await get(form.action, { method: "POST", body: new URLSearchParams(data) });
    if (!got) return;
    if (!got.page.getElementById(part)) return void document.open("text/html").write(new XMLSerializer().serializeToString(got.page));
    renew(got.page, ["said", "waiting", part]);
    document.title = got.page.title;
    document.getElementById("main").focus();
    window.scrollTo(0, 0);
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.ask && !window.confirm(form.dataset.ask)) return event.preventDefault();
    if ("nothing" in (event.submitter?.dataset ?? {})) return event.preventDefault();
    if (!form.dataset.swap) return;
    event.preventDefault();
    send(form, event.submitter).catch(() => tell("The server gave no answer. Look again whether anything was changed."));
  });

  let typed = 0;
  document.addEventListener("input", (event) => {
    if (!("search" in event.target.dataset) || !event.target.form.dataset.swap) return;
    clearTimeout(typed);
    typed = setTimeout(() => send(event.target.form).catch(() => {}), TYPING);
  });

  document.addEventListener("change", (event) => {
    const one = event.target;
    if ("submit" in one.dataset) one.form.requestSubmit();
    if ("all" in one.dataset) for (const box of one.form.querySelectorAll('input[name="ids"]')) box.checked = one.checked;
  });

  document.addEventListener("focusin", (event) => { if ("copy" in event.target.dataset) event.target.select(); });

  // Single keys: / goes to the search from anywhere but a field; j and k work only while the queue has the focus.
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && at.type !== "checkbox") return;
    if (event.key === "/") {
      const search = document.querySelector("[data-search], [data-search-slow]");
      if (search) { event.preventDefault(); search.focus(); }
      return;
    }
    const queue = at.closest(".queue");
    if (!queue || (event.key !== "j" && event.key !== "k")) return;
    const screens = [...queue.querySelectorAll(".screen")];
    const here = screens.findIndex((one) => one.contains(at));
    const next = screens[Math.min(screens.length - 1, Math.max(0, here + (event.key === "j" ? 1 : -1)))];
    next.querySelector("input, a").focus();
    next.scrollIntoView({ block: "nearest" });
  });

  // Live: while the page is in sight, ask whether something changed; then renew it, unless the reader is in the middle of something.
  const busy = () => {
    const part = document.getElementById("fresh");
    const at = document.activeElement;
    const chosen = window.getSelection();
    return part.querySelector("input:checked") || (chosen && !chosen.isCollapsed && part.contains(chosen.anchorNode))
      || (part.contains(at) && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
  };
  const look = async () => {
    if (document.hidden) return;
    const reply = await fetch(document.body.dataset.live, { credentials: "same-origin" });
    if (reply.status === 401) return void location.reload();
    if (!reply.ok || (await reply.json()).mark === mark) return;
    if (busy()) { document.getElementById("stale").hidden = false; return; }
    const got = await get(location.href);
    if (got && got.reply.ok) renew(got.page, [...document.querySelectorAll("[data-fresh]")].map((one) => one.id));
  };
  if (document.body.dataset.live && document.getElementById("fresh")) {
    const again = () => look().catch(() => {}).finally(() => setTimeout(again, EVERY));
    setTimeout(again, EVERY);
  }
  localTimes(document);
})();
