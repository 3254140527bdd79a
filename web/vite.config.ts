// Builds the one script and the one style of a page into the crate that puts them around its data.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const bundle = resolve(import.meta.dirname, process.env.BUNDLE ?? "../crates/report/src/page/bundle");

/** Beside the script its hash, as a policy of content names it: the page allows this script and no other. */
function hash(): Plugin {
  return {
    name: "hash",
    closeBundle() {
      const script = readFileSync(resolve(bundle, "page.js"), "utf8");
      if (/<\/script|<!--/i.test(script)) {
        throw new Error("the script would end the element in which it stands");
      }
      const digest = createHash("sha256").update(script).digest("base64");
      writeFileSync(resolve(bundle, "page.sha256"), `sha256-${digest}\n`);
    },
  };
}

export default defineConfig({
  plugins: [hash()],
  build: {
    outDir: bundle,
    emptyOutDir: false,
    target: "es2022",
    cssMinify: true,
    lib: {
      entry: "src/main.ts",
      formats: ["iife"],
      name: "page",
      fileName: () => "page.js",
      cssFileName: "page",
    },
  },
});
