// Python in a worker; the checker and the files are put where Python sees them.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const PROGRAM = `
import json, time, checker

confirmed = []

def judge(certificate, limits):
    confirmed.append(certificate["digest"])
    return checker.claims.judge(certificate, limits)

start = time.perf_counter()
verdict = checker.check_file(path, limit_mib=1024, by=judge)  # of 4 GiB that a page can have
json.dumps({
    "status": verdict.status,
    "claim": verdict.claim,
    "message": verdict.message,
    "dims": verdict.numbers,
    "digest": "".join(confirmed),
    "seconds": time.perf_counter() - start,
})
`;

onmessage = async ({ data: { certificate, beside } }) => {
  const python = await loadPyodide();
  const archive = await fetch(new URL("checker.zip", import.meta.url));
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: "/lib/own" });
  python.runPython("import sys; sys.path.insert(0, '/lib/own')");
  python.FS.mkdir("/files");
  for (const file of beside) {
    python.FS.writeFile(`/files/${file.name}`, new Uint8Array(await file.arrayBuffer()));
  }
  python.globals.set("path", `/files/${certificate.name}`);
  postMessage({ said: "Checking …" });
  postMessage(JSON.parse(python.runPython(PROGRAM)));
};
addEventListener("unhandledrejection", ({ reason }) => { throw reason; });
