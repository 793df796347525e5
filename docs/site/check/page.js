// The checker's page: files go to a worker of this browser, and its verdict comes back.
const part = (id) => document.getElementById(id);
const here = document.currentScript.src;
const drop = document.querySelector(".drop");
let worker = null;

function say(text) {
  part("status").textContent = text;
}

function stop(text) {
  worker?.terminate();
  worker = null;
  part("cancel").disabled = true;
  say(text);
}

function show(rows) {
  part("verdict").replaceChildren(...rows.flatMap(([name, text]) => {
    const [term, entry] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    entry.textContent = text;
    return [term, entry];
  }));
}

function finished({ status, claim, message, dims, digest, seconds }) {
  stop(`${status}: ${message}`);
  const sizes = Object.entries(dims).map(([name, size]) => `${name} ${size}`).join(", ");
  show([
    ["verdict", status],
    ["claim", claim ?? "none that could be read"],
    ["why", message],
    ["dimensions", sizes || "none that could be read"],
    ["digest", digest || "not confirmed"],
    ["time", `${seconds.toFixed(2)} s`],
  ]);
}

// files: objects { path, file }: the certificate, and the files beside it, such as its data.
function check(files) {
  stop("Ready.");
  show([]);
  const tables = files.filter(({ path }) => /\.(json|npz)$/i.test(path));
  const named = tables.filter(({ path }) => /(^|\/)certificate\.json$/.test(path));
  const [certificate, ...others] = named.length ? named : tables.length === 1 ? tables : [];
  if (!certificate || others.length) {
    say("Drop one certificate: a .json file, or a folder with one certificate.json.");
    return;
  }
  const folder = (path) => path.slice(0, path.lastIndexOf("/") + 1);
  const beside = tables.filter(({ path }) => folder(path) === folder(certificate.path));
  say("Loading Python …");
  part("cancel").disabled = false;
  worker = new Worker(new URL("worker.js", here), { type: "module" });
  worker.onmessage = ({ data }) => (data.said ? say(data.said) : finished(data));
  worker.onerror = (event) => stop(`No verdict: the checker stopped. ${event.message ?? ""}`);
  worker.postMessage({ certificate: certificate.file, beside: beside.map(({ file }) => file) });
}

const picked = (list) => [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function inside(entry, path = "") {
  if (entry.isFile) {
    const file = await new Promise((good, bad) => entry.file(good, bad));
    return [{ path: path + entry.name, file }];
  }
  const reader = entry.createReader();
  const all = [];
  for (let some; (some = await new Promise((good, bad) => reader.readEntries(good, bad))).length;) {
    for (const each of some) all.push(...await inside(each, `${path}${entry.name}/`));
  }
  return all;
}

for (const id of ["file", "folder"]) {
  part(id).addEventListener("change", ({ target }) => {
    check(picked(target.files));
    target.value = "";
  });
}
part("cancel").addEventListener("click", () => stop("Cancelled: no verdict."));
for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
  });
}
drop.addEventListener("drop", async ({ dataTransfer }) => {
  const entries = [...dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  check((await Promise.all(entries.map((entry) => inside(entry)))).flat());
});
