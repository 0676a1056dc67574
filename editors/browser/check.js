// Checks a spec while it is written in a page: the compiler's front end, as a
// WebAssembly module (frontends/browser/Checker.cpp). Nothing leaves the page.

/** Starts the module. Returns a function from a request to an answer; throws if the module ends. */
async function startChecker(bytes) {
  const module = await WebAssembly.compile(bytes);
  const imports = {};
  // The C library could write to a terminal, and a page has none.
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  const start = async () => {
    const { exports } = await WebAssembly.instantiate(module, imports);
    exports._initialize();
    return exports;
  };
  let started = null;
  return async (request) => {
    const { memory, fovea_check_room, fovea_check } = (started ??= await start());
    try {
      const text = new TextEncoder().encode(JSON.stringify(request));
      const room = fovea_check_room(text.length); // which may replace memory.buffer
      new Uint8Array(memory.buffer, room, text.length).set(text);
      const answer = fovea_check();
      const all = new Uint8Array(memory.buffer);
      return JSON.parse(new TextDecoder().decode(all.subarray(answer, all.indexOf(0, answer))));
    } catch (error) {
      started = null; // its memory may be inconsistent
      throw error;
    }
  };
}

/** Fills the elements of the page: a field for the spec, messages and names. */
function openEditor(check, specs) {
  const [choice, field, lines, state, messages, names] = ["spec", "text", "lines", "state", "messages", "names"].map(
    (id) => document.getElementById(`check-${id}`));
  const element = (tag, text, attributes = {}) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(text);
    return made;
  };
  const goTo = (line, column) => {
    const at = field.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
    field.focus();
    field.setSelectionRange(at, at + (/^\w+/.exec(field.value.slice(at)) ?? [" "])[0].length);
  };
  const place = (what) => (what.file === `${choice.value}.fov` ? what : null);

  const show = (answer) => {
    const wrong = new Map();
    messages.replaceChildren();
    for (const message of answer.messages) {
      const own = place(message);
      const line = own ? `line ${own.line}: ` : message.file ? `${message.file}, line ${message.line}: ` : "";
      const text = `${line}${message.kind}: ${message.text}${message.code ? ` [${message.code}]` : ""}`;
      const item = element("li", own ? element("button", text, { type: "button" }) : text, { className: message.kind });
      if (own) {
        item.firstChild.addEventListener("click", () => goTo(own.line, own.column));
        if (wrong.get(own.line) !== "error") wrong.set(own.line, message.kind);
      }
      messages.append(item);
    }
    const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
    state.textContent = `${count(answer.errors, "error")}, ${count(answer.warnings, "warning")}`;
    lines.replaceChildren(...field.value.split("\n").map(
      (_, row) => element("span", `${row + 1}\n`, { className: wrong.get(row + 1) ?? "" })));
    names.replaceChildren(...answer.arrays.filter(place).map((array) => {
      const row = document.createElement("tr");
      row.append(element("th", array.name, { scope: "row" }), element("td", array.shape), element("td", array.kind));
      return row;
    }));
  };

  let newest = 0;
  const run = async () => {
    const mine = ++newest;
    const files = Object.fromEntries(Object.entries(specs).map(([name, text]) => [`${name}.fov`, text]));
    try {
      const answer = await check({ name: `${choice.value}.fov`, text: field.value, files });
      if (mine === newest) show(answer);
    } catch {
      state.textContent = "this spec is too large for the page; run fovea check";
    }
  };
  const load = () => {
    field.value = specs[choice.value];
    return run();
  };
  choice.replaceChildren(...Object.keys(specs).map((name) => element("option", name)));
  const wanted = new URLSearchParams(location.hash.slice(1)).get("spec");
  choice.value = Object.hasOwn(specs, wanted ?? "") ? wanted : Object.keys(specs)[0];
  choice.addEventListener("change", load);
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(run, 200);
  });
  field.addEventListener("scroll", () => { lines.scrollTop = field.scrollTop; });
  return load();
}
