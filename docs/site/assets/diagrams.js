// Mermaid is loaded only if a page has a diagram, from the folder of this script.
if (document.querySelector(".diagram")) {
  const script = document.createElement("script");
  script.src = new URL("mermaid.tiny.js", document.currentScript.src);
  script.onload = () => {
    const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "default";
    mermaid.initialize({ startOnLoad: false, theme });
    mermaid.run({ querySelector: ".diagram" });
  };
  document.head.append(script);
}
