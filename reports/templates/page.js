
"use strict";

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
