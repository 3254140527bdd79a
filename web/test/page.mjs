// Opens pages in headless Chromium and uses them as a reader would. `node test/page.mjs RUN.html COMPARE.html WHY.html BIG.html [SHOTS]`
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [run, compare, why, big, shots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
let checks = 0;

async function open(file, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on(
    "request",
    (request) => !/^(file|data|blob):/.test(request.url()) && trouble.push(`asks for ${request.url()}`),
  );
  await page.goto(`file://${resolve(file)}${hash}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
  return { page, trouble, close: () => context.close() };
}

async function check(what, test) {
  await test();
  checks += 1;
  console.log(`page: ${what}`);
}

const view = (page) => page.evaluate(() => ({ ...window.schedlab.view.view }));
const selected = (page) => page.evaluate(() => window.schedlab.view.selected);
const settle = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
const span = ({ from, to }) => to - from;
const shot = async (page, name, options = {}) => {
  if (shots) {
    await page.screenshot({ path: `${shots}/${name}.png`, ...options });
  }
};

const { page, trouble, close } = await open(run);
const canvas = page.locator(".rows canvas");
const box = await canvas.boundingBox();
const middle = { x: box.x + box.width / 2, y: box.y + 60 };

await check("a plain page: headings, real tables, labels", async () => {
  for (const id of ["timeline", "worst", "latency", "usage", "tables"]) {
    assert.equal(await page.locator(`section#${id} > h2`).count(), 1, id);
  }
  assert.ok((await page.locator("table caption").count()) >= 4);
  assert.ok((await page.locator("th[scope=row]").count()) > 5);
  assert.match(await canvas.getAttribute("aria-label"), /Timeline/);
});
await shot(page, "light");
await shot(page, "light-full", { fullPage: true });

await check("the wheel with Ctrl zooms where the pointer is", async () => {
  const before = await view(page);
  await page.mouse.move(middle.x, middle.y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -800);
  await page.keyboard.up("Control");
  await settle(page);
  const after = await view(page);
  assert.ok(span(after) < span(before) / 3, `${span(before)} to ${span(after)}`);
  const at = ({ from, to }) => from + ((to - from) * (box.width / 2 - 148)) / (box.width - 148);
  assert.ok(Math.abs(at(before) - at(after)) < span(after) / 50);
});
await check("dragging pans, and keeps how much is shown", async () => {
  const before = await view(page);
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x - 200, middle.y, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  const after = await view(page);
  assert.ok(after.from > before.from);
  assert.ok(Math.abs(span(after) - span(before)) < 1);
});
await check("keys pan and zoom", async () => {
  await canvas.focus();
  const before = await view(page);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.ok((await view(page)).from > before.from);
  await page.keyboard.press("+");
  await settle(page);
  assert.ok(span(await view(page)) < span(before));
  await page.keyboard.press("0");
  await settle(page);
  const length = await page.evaluate(() => window.schedlab.view.timeline.length);
  assert.deepEqual(await view(page), { from: 0, to: length });
});
let link = "";
await check("a task that is searched for is selected, shown and linked to", async () => {
  await page.keyboard.press("/");
  const name = await page.evaluate(() => window.schedlab.timelines[0].head.tasks[1].names[0]);
  await page.keyboard.type(name);
  await page.waitForSelector(".found button");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal((await selected(page)).kind, "task");
  assert.ok((await page.locator(".details h3").textContent()).startsWith(name));
  for (let i = 0; i < 6; i += 1) {
    await page.keyboard.press("w");
  }
  await settle(page);
  link = new URL(page.url()).hash;
  assert.match(link, /^#t=.*&w=.*&task=\d+&at=/);
});
await shot(page, "selected");
await check("the address leads back to the same place", async () => {
  const there = await view(page);
  const again = await open(run, { hash: link });
  const back = await view(again.page);
  assert.ok(
    Math.abs(back.from - there.from) <= 2 && Math.abs(back.to - there.to) <= 2,
    JSON.stringify([there, back]),
  );
  assert.deepEqual((await selected(again.page)).number, (await selected(page)).number);
  assert.deepEqual(again.trouble, []);
  await again.close();
});
await check("a click selects what lies there, comma and full stop go on", async () => {
  await page.mouse.click(middle.x, middle.y);
  await settle(page);
  const first = await selected(page);
  assert.ok(first);
  await canvas.focus();
  await page.keyboard.press(".");
  await settle(page);
  assert.ok((await selected(page)).time > first.time);
  await page.keyboard.press("Escape");
  assert.equal(await selected(page), null);
});
await check("the longest wait leads to its place", async () => {
  await page.locator("#worst tbody a").first().click();
  await settle(page);
  const [at, ran] = await page.evaluate(() => {
    const { wakeups } = window.schedlab.timelines[0];
    const lasts = (i) => wakeups.ran[i] - wakeups.at[i];
    let worst = 0;
    wakeups.at.forEach((_, i) => {
      worst = lasts(i) > lasts(worst) ? i : worst;
    });
    return [wakeups.at[worst], wakeups.ran[worst]];
  });
  const shown = await view(page);
  assert.ok(shown.from <= at && shown.to >= ran, JSON.stringify([shown, at, ran]));
});
await page.evaluate(() => window.schedlab.view.root.scrollIntoView());
await settle(page);
await shot(page, "worst");
await check("tables are sorted by their heads", async () => {
  const table = page.locator("#tables table").first();
  const head = table.locator("thead button", { hasText: "CPU time" });
  await head.click();
  assert.equal(await table.locator("th[aria-sort=descending]").count(), 1);
});
await check("dark, by the system and by the button", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await page.locator(".theme").click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.locator(".theme").click();
});
await page.evaluate(() => scrollTo(0, 0));
await settle(page);
await shot(page, "dark");
await shot(page, "dark-full", { fullPage: true });
await check("nothing was complained of, and no network asked for", () => assert.deepEqual(trouble, []));
if (shots) {
  await page.pdf({ path: `${shots}/print.pdf`, format: "A4", printBackground: true });
}
await close();

await check("two fingers zoom", async () => {
  const touch = await open(run, { hasTouch: true, viewport: { width: 390, height: 800 } });
  const before = await view(touch.page);
  const client = await touch.page.context().newCDPSession(touch.page);
  await touch.page.locator(".rows canvas").scrollIntoViewIfNeeded();
  const at = await touch.page.locator(".rows canvas").boundingBox();
  const fingers = (apart) => [-1, 1].map((side, id) => ({ x: at.x + 260 + side * apart, y: at.y + 60, id }));
  const send = (type, touchPoints) => client.send("Input.dispatchTouchEvent", { type, touchPoints });
  await send("touchStart", fingers(20));
  for (const apart of [30, 45, 60, 80]) {
    await send("touchMove", fingers(apart));
  }
  await send("touchEnd", []);
  await settle(touch.page);
  const after = await view(touch.page);
  assert.ok(span(after) < span(before) / 2, `${span(before)} to ${span(after)}`);
  assert.deepEqual(touch.trouble, []);
  const wider = await touch.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${wider} pixels stick out`);
  await touch.page.evaluate(() => scrollTo(0, 0));
  await shot(touch.page, "narrow", { fullPage: true });
  await touch.close();
});

await check("a comparison: its table with intervals, a timeline of each configuration", async () => {
  const of = await open(compare);
  assert.ok((await of.page.locator("#comparison tbody tr").count()) > 3);
  assert.ok((await of.page.locator("#comparison svg.interval rect").count()) > 1);
  const runs = await of.page.locator("#timeline .toolbar select option").count();
  assert.ok(runs >= 2);
  await of.page.locator("#timeline .toolbar select").selectOption("1");
  await settle(of.page);
  assert.match(of.page.url(), /timeline=1/);
  assert.ok((await of.page.locator("#latency tbody tr").count()) >= 2);
  await shot(of.page, "compare");
  await shot(of.page, "compare-full", { fullPage: true });
  assert.deepEqual(of.trouble, []);
  await of.close();
});

await check("an explanation leads to its place in the timeline, by keys alone", async () => {
  const of = await open(why);
  const article = of.page.locator("#why article").first();
  const { due_ns, first_ns, pid } = await of.page.evaluate(() => window.schedlab.content.why.explanations[0]);
  await article.locator("a", { hasText: "Show it in the timeline" }).focus();
  await of.page.keyboard.press("Enter");
  await settle(of.page);
  const shown = await view(of.page);
  assert.ok(shown.from <= due_ns && shown.to >= first_ns, JSON.stringify([shown, due_ns, first_ns]));
  assert.ok(span(shown) < 4 * (first_ns - due_ns));
  const at = await selected(of.page);
  const tasks = await of.page.evaluate(() => window.schedlab.timelines[0].head.tasks.map((task) => task.pid));
  assert.deepEqual([at.kind, tasks[at.number]], ["task", pid]);
  assert.ok(at.time >= due_ns && at.time <= first_ns);
  // It may scroll smoothly.
  await of.page.waitForFunction(() => {
    const { top } = document.querySelector("#timeline").getBoundingClientRect();
    return top > -50 && top < 200;
  });
  await of.page.keyboard.press("ArrowRight");
  await settle(of.page);
  assert.ok((await view(of.page)).from > shown.from, "keys move through it at once");
  await shot(of.page, "why-followed");
  assert.deepEqual(of.trouble, []);
  await of.close();
});
await check("stretches add up, lead to their places, also a second time, and name decisions", async () => {
  const of = await open(why);
  const { stretches, due_ns, first_ns } = await of.page.evaluate(
    () => window.schedlab.content.why.explanations[0],
  );
  assert.equal(
    stretches.reduce((sum, { from_ns, to_ns }) => sum + to_ns - from_ns, 0),
    first_ns - due_ns,
  );
  const links = of.page.locator("#why article").first().locator(".stretches tbody td a");
  assert.equal(await links.count(), stretches.length);
  for (const _ of [1, 2]) {
    await of.page.evaluate(() => scrollTo(0, 0));
    await links.nth(stretches.length - 1).click();
    await settle(of.page);
    const shown = await view(of.page);
    const { from_ns, to_ns } = stretches[stretches.length - 1];
    assert.ok(shown.from <= from_ns && shown.to >= to_ns);
    assert.ok(await of.page.evaluate(() => scrollY > 0), "the timeline is in view");
  }
  const named = await of.page.locator("#why .stretches a.quiet").first().getAttribute("href");
  assert.equal(await of.page.locator(`#why dt${named}`).count(), 1);
  assert.match(await of.page.locator("#blame .flames").getAttribute("aria-label"), /late in all/);
  assert.ok((await of.page.locator("#blame table tbody tr").count()) > 3);
  await of.page.evaluate(() => scrollTo(0, 0));
  await shot(of.page, "why");
  assert.deepEqual(of.trouble, []);
  await of.close();
});

// Figures, not bounds: the machine may be busy otherwise.
const of = await open(big);
const figures = await of.page.evaluate(async () => {
  const { view, timelines } = window.schedlab;
  const events = timelines.reduce((sum, { size }) => sum + size, 0);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const measure = async (width) => {
    const { length } = view.timeline;
    view.show({ from: 0, to: Math.min(width, length) });
    await frame();
    view.frames.length = 0;
    const began = performance.now();
    const frames = 120;
    for (let i = 0; i < frames; i += 1) {
      const from = ((length - Math.min(width, length)) * i) / frames;
      // All of it cannot be panned: it is zoomed by next to nothing.
      view.show(width < length ? { from, to: from + width } : { from: i * 1e-6 * length, to: length });
      await frame();
    }
    const times = [...view.frames].sort((a, b) => a - b);
    const took = performance.now() - began;
    const at = (share) => Math.round(times[Math.floor(share * (times.length - 1))] * 10) / 10;
    return {
      shown: `${width / 1e6} ms`,
      fps: Math.round((frames * 1000) / took),
      median_ms: at(0.5),
      p95_ms: at(0.95),
      max_ms: at(1),
    };
  };
  const { length } = view.timeline;
  const all = [];
  for (const width of [length, length / 2, length / 10, length / 100, length / 1000, length / 10000]) {
    all.push(await measure(Math.round(width)));
  }
  return { events, ready_ms: Number(document.documentElement.dataset.ready), all };
});
console.log(
  `page: ${(statSync(big).size / 1e6).toFixed(2)} MB, ${figures.events} events, ready after ${figures.ready_ms} ms`,
);
for (const one of figures.all) {
  console.log(
    `page: panning with ${one.shown} in view: ${one.fps} frames a second; drawing takes ${one.median_ms} ms (median), ${one.p95_ms} (p95), ${one.max_ms} (max)`,
  );
}
assert.deepEqual(of.trouble, []);
assert.ok(statSync(big).size < 5e6, "a page is smaller than 5 MB");
await of.close();
await browser.close();
console.log(`page: ${checks} checks`);
