
"use strict";

// Tables: a click on a column's name sorts by it, numbers by size, before what is no number.
function key(row, column) {
  const cell = row.cells[column];
  const [sign, size] = (cell.dataset.sort || "").split(" ").map(Number);
  return cell.dataset.sort ? { number: true, sign, size } : { number: false, text: cell.textContent };
}
function compare(a, b) {
  if (a.number !== b.number) return a.number ? -1 : 1;
  if (!a.number) return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
  return a.sign - b.sign || a.sign * (a.size - b.size);
}
function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [key(row, column), row]);
  rows.sort(([a], [b]) => (down && a.number === b.number ? compare(b, a) : compare(a, b)));
  body.append(...rows.map(([, row]) => row));
}
for (const table of document.querySelectorAll("table")) {
  if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    if (head.abbr) button.setAttribute("aria-label", head.abbr); // mathematics has no name
    button.addEventListener("click", () => sort(table, column));
    head.append(button);
  });
}

// The graph: a click on a box shows what it comes from, a second one goes to its step.
for (const graph of document.querySelectorAll(".proof-graph")) {
  const boxes = new Map([...graph.querySelectorAll(".box")].map((box) => [box.dataset.box, box]));
  const edges = [...graph.querySelectorAll(".edge[data-from]")];
  const told = document.createElement("p");
  const hint = "Choose a box to see what it comes from; choose it again to go to its step.";
  told.className = "told";
  told.setAttribute("role", "status");
  told.textContent = hint;
  graph.parentElement.after(told);
  let chosen = null;
  function name(box) {
    return box.getAttribute("aria-label").split(":").slice(0, -1).join(":");
  }
  function clear() {
    chosen = null;
    graph.classList.remove("picked");
    graph.querySelectorAll(".on").forEach((part) => part.classList.remove("on"));
    boxes.forEach((box) => box.removeAttribute("aria-current"));
    told.textContent = hint;
  }
  function choose(box) {
    clear();
    chosen = box;
    const before = new Set([box.dataset.box]);
    for (const place of before) {
      for (const edge of edges) if (edge.dataset.to === place) before.add(edge.dataset.from);
    }
    graph.classList.add("picked");
    box.setAttribute("aria-current", "true");
    before.forEach((place) => boxes.get(place).classList.add("on"));
    edges.forEach((edge) => edge.classList.toggle("on", before.has(edge.dataset.to)));
    before.delete(box.dataset.box);
    const names = [...boxes].filter(([place]) => before.has(place)).map(([, other]) => name(other));
    const text = names.length ? "comes from " + names.join("; ") : "comes from nothing else here";
    const link = document.createElement("a");
    link.href = box.getAttribute("href");
    link.textContent = "Go to its step.";
    told.replaceChildren(name(box) + " " + text + ". ", link);
  }
  boxes.forEach((box) => {
    box.addEventListener("click", (event) => {
      if (chosen === box || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(box);
    });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
}

// Paper has nothing to unfold.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((part) => { part.open = true; });
});
window.addEventListener("afterprint", () => {
  folded.forEach((part) => { part.open = false; });
});
